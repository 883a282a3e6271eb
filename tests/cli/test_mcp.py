"""``esoteric mcp`` with the SDK's own client, and how a command finds the service of its folder."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import CallToolResult

from cli.home_lock import CannotStart, running
from cli.mcp_server import mcp_server
from cli.service_client import Service, ServiceFailed, ready_service
from retrieval.errors import EsotericError
from retrieval.recipes.recipes import DEFAULT_RECIPE
from retrieval.types import Progress
from settings import CHECKOUT, Settings
from tests.app.claim_documents import claim_document
from tests.app.web_process import WebProcess
from tests.app.worker_by_hand import FIRST_HOP, SECOND_HOP, WorkerByHand
from tests.support.command import esoteric
from tests.support.waiting import wait_until
from worker.corpora.corpus_store import CorpusStore
from worker.database import Database
from worker.job_store import JobStore
from worker.jobs import Job
from worker.user_store import UserStore, owner_of
from worker.worker_store import WorkerStore

pytestmark = pytest.mark.server

CLAIM = "The Lighthouse of Varn was built by Ida Holm."


def session(home: Path, talk: Callable[[Client], Awaitable[None]]) -> None:
    """Start the server as a client does, and talk to it."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "cli", "mcp"],
        cwd=CHECKOUT,
        env={"ESOTERIC_HOME": str(home)},
    )

    async def whole() -> None:
        async with Client(server) as client:
            await talk(client)

    asyncio.run(whole())


def text_of(answer: CallToolResult) -> str:
    (content,) = answer.content
    assert content.type == "text"
    return content.text


def test_a_session_checks_a_claim_finds_sentences_and_refuses_wrong_input(index: Path) -> None:
    steps: list[tuple[float, str]] = []

    async def on_progress(done: float, _of: float | None, message: str | None) -> None:
        steps.append((done, str(message).partition(":")[0]))

    async def talk(client: Client) -> None:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == [
            *("check_claim", "search_evidence", "list_corpora", "get_result")
        ]

        claim = {"claim": "Skerrow Light was designed by Ann Lee.", "recipe": "esoteric"}
        checked = await client.call_tool("check_claim", claim, progress_callback=on_progress)
        assert not checked.is_error
        found = checked.structured_content
        assert (found["id"], found["verdict"], found["recipe"]) == (None, "SUPPORTS", "esoteric")
        assert found["evidence"][0]["selected"]
        assert "It was designed by Ann Lee" in found["evidence"][0]["sentence"]
        assert found["evidence"][0]["title"] == "Skerrow Light"
        said = text_of(checked).splitlines()
        assert "upported" in said[0]
        assert said[0].endswith(": Skerrow Light was designed by Ann Lee.")

        near = await client.call_tool("search_evidence", {"query": "Who keeps sheep?", "limit": 2})
        assert near.structured_content is not None
        first, _second = near.structured_content["sentences"]
        assert (first["sentence"], first["title"]) == ("Most of them keep sheep.", "Skerrow")
        assert "verdict" not in first

        for name, wrong, message in (
            ("check_claim", {"claim": "?!"}, "The claim contains no words. Try something like"),
            ("check_claim", {**claim, "recipe": "x"}, "There is no recipe named 'x'. Use one of"),
            ("search_evidence", {"query": "sheep", "limit": 51}, "a whole number from 1 to 50"),
            ("search_evidence", {"query": "  "}, "The argument 'query' cannot be used. Give what"),
            ("check_claim", {}, "The argument 'claim' is missing. Give one statement"),
            ("check_claim", {**claim, "corpora": ["a"]}, "has no argument named 'corpora'. It"),
            ("list_corpora", {"all": True}, "has no argument named 'all'. It takes none."),
            ("look_up", {}, "There is no tool named 'look_up'. Use one of: check_claim, search"),
            ("get_result", {"id": "none"}, "Use the id that check_claim returned"),
        ):
            answer = await client.call_tool(name, wrong)
            assert answer.is_error
            assert message in text_of(answer)

    session(index.parent, talk)
    numbers, stages = [n for n, _ in steps], [stage for _, stage in steps]
    assert numbers == sorted(set(numbers))
    assert stages[:2] == ["start", "spans"]
    assert stages[-1] == "done"


def test_a_running_service_checks_a_claim_and_shows_its_result_again(tmp_path: Path) -> None:
    web = WebProcess(tmp_path)
    WorkerStore(web.store.database).beat("by-hand", datetime.now(UTC), "ready")

    def work() -> None:
        while not (jobs := web.store.recent(1)):
            time.sleep(0.01)
        WorkerByHand(web.store).finish(web.store.get(jobs[0].id), claim_document(CLAIM))

    async def talk(client: Client) -> None:
        checked = await client.call_tool("check_claim", {"claim": CLAIM})
        assert checked.structured_content is not None
        number = checked.structured_content["id"]
        assert number == web.store.recent(1)[0].id
        again = await client.call_tool("get_result", {"id": number})
        assert again.structured_content == checked.structured_content
        assert text_of(again) == text_of(checked)

        pending = web.store.submit("Varnby has a harbour.", "esoteric")[0]
        WorkerByHand(web.store).record(WorkerByHand(web.store).start(pending), FIRST_HOP)
        waiting = await client.call_tool("get_result", {"id": pending.id})
        assert waiting.is_error
        assert "This claim has no result: it is running." in text_of(waiting)

    worker = Thread(target=work, daemon=True)
    worker.start()
    try:
        with running(tmp_path, os.getpid(), "127.0.0.1", web.port):
            session(tmp_path, talk)
    finally:
        worker.join(10)
        web.close()


def test_a_line_that_is_no_message_gets_an_error_the_next_its_answer(tmp_path: Path) -> None:
    ping = '{"jsonrpc": "2.0", "id": 7, "method": "ping"}'
    with subprocess.Popen(
        [sys.executable, "-m", "cli", "mcp"],
        cwd=CHECKOUT,
        env={**os.environ, "ESOTERIC_HOME": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        server.stdin.write(f'{{"jsonrpc": \n[1, 2]\n\ufffd\n{ping}\n')
        server.stdin.flush()  # left open: at its end the server stops, with or without an answer
        answers = [json.loads(server.stdout.readline()) for _ in range(4)]
        server.stdin.close()
        # It ends with its input and prints nothing of its own.
        assert (server.stdout.read(), server.stderr.read(), server.wait(60)) == ("", "", 0)
    assert [(one["id"], one.get("error", {}).get("code")) for one in answers] == [
        *((None, -32700), (None, -32600), (None, -32700), (7, None))
    ]
    wrong = esoteric(tmp_path, "mcp", ESOTERIC_THREADS="many")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("esoteric: ESOTERIC_THREADS")


def test_an_assistant_sees_only_what_the_user_of_its_token_may_see(tmp_path: Path) -> None:
    home = {"ESOTERIC_HOME": str(tmp_path), "ESOTERIC_ACCESS": "tokens"}
    settings = Settings.from_environment(home)
    database = Database(settings.database_url)
    users, store = UserStore(database), JobStore(database)
    job = store.submit(CLAIM, "combined", owner=owner_of("anna"))[0]
    WorkerByHand(store).finish(job, claim_document(CLAIM))
    corpora = CorpusStore(settings.documents, {})
    rolls = corpora.make("Pay rolls", owner=owner_of("olga"))
    tokens = {name: users.add(name, "checker") for name in ("anna", "bert", "carl")}
    tokens |= {"olga": users.add("olga", "operator"), "nobody": "x" * 43}
    ended = users.make_token("anna", "Spare", timedelta(seconds=-1))

    async def asked(token: str) -> tuple[bool, bool]:
        """Return whether the claim is shown, and whether the corpus is named."""
        server = mcp_server(Settings.from_environment({**home, "ESOTERIC_TOKEN": token}))
        async with Client(server) as client:
            found = await client.call_tool("get_result", {"id": job.id})
            named = await client.call_tool("search_evidence", {"query": "tea", "corpus": ["x"]})
        return not found.is_error, "Pay rolls" in text_of(named)

    shown = {name: asyncio.run(asked(token)) for name, token in tokens.items()}
    assert shown == {
        "anna": (True, False),
        "bert": (False, False),
        "carl": (False, False),
        "olga": (True, True),
        "nobody": (False, False),
    }
    assert asyncio.run(asked(ended)) == (False, False)
    users.join("law", ["bert"])
    store.share(job.id, "group:law")
    corpora.share(rolls, "group:law")
    assert asyncio.run(asked(tokens["bert"])) == (True, True)
    assert asyncio.run(asked(tokens["carl"])) == (False, False)
    store.share(job.id, "everyone")
    assert asyncio.run(asked(tokens["carl"])) == (True, False)
    database.close()


def of_home(home: Path) -> Settings:
    return Settings.from_environment({"ESOTERIC_HOME": str(home)})


def service(web: WebProcess) -> Service:
    return Service("127.0.0.1", web.port, web.settings.home_id)


def asked(web: WebProcess, answer: Callable[[Job], Any]) -> tuple[dict[str, Any], list[str]]:
    """Ask the service, whose worker does ``answer``; return the document and the stages."""

    def work() -> None:
        wait_until(lambda: bool(web.store.recent(1)), "the claim")
        answer(web.store.get(web.store.recent(1)[0].id))

    stages: list[str] = []
    web.forget_all()
    worker = Thread(target=work, daemon=True)
    worker.start()
    try:
        checked = service(web).checked(
            CLAIM, DEFAULT_RECIPE, lambda seen: stages.append(seen.stage)
        )
    finally:
        worker.join(10)
    # It is queued only if the worker has not begun yet.
    return checked["result"], [stage for stage in stages if stage != "queued"]


def test_the_service_answers_with_the_claim_document_and_every_stage_or_says_why_not(
    web: WebProcess, own_web: WebProcess
) -> None:
    by_hand, wanted = WorkerByHand(web.store), claim_document(CLAIM)
    document, stages = asked(web, lambda job: by_hand.finish(job, wanted))
    assert document == wanted
    assert stages == [stage for stage, _ in (*FIRST_HOP, *SECOND_HOP)]
    damaged = EsotericError("index_damaged", "The index is damaged.", "Run: build")
    for asked_of, end, said in (
        (web, lambda job: by_hand.fail(job, damaged), r"The index is damaged\. Run: build"),
        (web, lambda job: web.store.cancel(job.id), "was cancelled"),
        (own_web, lambda _: own_web.process.kill(), "does not answer .*Run the command again"),
    ):
        with pytest.raises(ServiceFailed, match=said):
            asked(asked_of, end)

    def interrupted(progress: Progress) -> None:
        assert progress.message == "Waiting for the service's other claims"
        raise KeyboardInterrupt

    web.forget_all()
    with pytest.raises(KeyboardInterrupt):
        service(web).checked(CLAIM, DEFAULT_RECIPE, interrupted)
    assert web.store.recent(1)[0].state == "queued"  # it goes on


def test_a_service_is_found_while_it_runs_and_can_check(web: WebProcess, tmp_path: Path) -> None:
    other = of_home(tmp_path / "other")
    other.home.mkdir()
    assert ready_service(web.settings) is None
    with running(web.settings.home, os.getpid(), "127.0.0.1", web.port):
        assert ready_service(web.settings) is None  # no worker yet
        WorkerStore(web.store.database).beat("by-hand", datetime.now(UTC), "ready")
        assert ready_service(web.settings) is not None
    assert ready_service(web.settings) is None
    with running(other.home, os.getpid(), "127.0.0.1", web.port):
        assert ready_service(other) is None  # it is the service of another home
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        with running(other.home, os.getpid(), "127.0.0.1", silent.getsockname()[1]):
            assert ready_service(other) is None


def test_one_home_is_locked_by_one_service_and_other_lock_files_are_none(tmp_path: Path) -> None:
    lock = tmp_path / "up.lock"
    for content in ("", "4711", "{}", '{"host": 1}', "not JSON"):  # as of another version
        with running(tmp_path, os.getpid(), "127.0.0.1", 1):
            lock.write_text(content)
            assert ready_service(of_home(tmp_path)) is None
    with (
        running(tmp_path, 4711, "127.0.0.1", 8000),
        pytest.raises(CannotStart, match=r"already running with the home .* \(process 4711\)"),
        running(tmp_path, 4712, "127.0.0.1", 8001),
    ):
        pass
    with running(tmp_path, 4712, "127.0.0.1", 8001):
        assert json.loads(lock.read_text())["process"] == 4712
