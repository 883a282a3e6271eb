"""``esoteric up``: one command starts everything and keeps it up, one Ctrl-C ends it."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from cli import supervisor
from cli.home_lock import running
from cli.supervisor import SECONDS_TO_END, GivenUp, LogFile, Program, end_all, run
from cli.up import address
from settings import Settings
from tests.app.web_process import WebProcess
from tests.ops.up_process import Up, alive, environment, esoteric, family, free_port, programs
from tests.support import command
from tests.support.cases import cases
from tests.support.waiting import wait_until
from tests.worker.conftest import House, RedisServer, redis_house, redis_server

pytestmark = pytest.mark.server


PAGES = [
    {"id": "kettle", "title": "Kettle", "text": "A kettle is a pot. Kettles boil water."},
    {"id": "samovar", "title": "Samovar", "text": "A samovar is a heated urn from Russia."},
]
STARTING = "Starting the web server and the worker, which loads the models.\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, unpacked: Path) -> Path:
    """A home with an index of two pages."""
    home = tmp_path_factory.mktemp("home")
    (home / "models").symlink_to(unpacked)
    pages = home / "pages.jsonl"
    pages.write_text("".join(json.dumps(page) + "\n" for page in PAGES))
    built = esoteric("index", "build", "--source", f"jsonl:{pages}", home=home)
    assert built.returncode == 0, built.stderr
    return home


@pytest.fixture
def up(home: Path) -> Iterator[Up]:
    up = Up(home)
    yield up
    up.close()


@pytest.mark.models
def test_everything_starts_answers_comes_back_and_ends(up: Up) -> None:
    up.wait_until_ready()
    assert up.output() == f"ESOTERIC is ready at {up.address}\n"
    assert up.problems().startswith(STARTING)
    assert "Not ready" not in up.problems()

    submitted = up.ask("/api/v1/claims", {"claim": "A kettle is a pot."})
    address = f"/api/v1/claims/{submitted['id']}"
    wait_until(lambda: up.ask(address)["state"] == "done", "the result")

    checked = esoteric("check", "A samovar is an urn.", "--json", home=up.home)
    with urllib.request.urlopen(f"{up.address}/claims", timeout=5) as history:
        assert b"A samovar is an urn." in history.read()  # the service has checked it
    assert json.loads(checked.stdout)["claim"] == "A samovar is an urn."

    other = esoteric("up", "--port", str(free_port()), home=up.home)
    assert other.returncode == 1
    assert re.fullmatch(
        rf"esoteric: ESOTERIC is already running with the home {up.home}"
        rf" \(process {up.process.pid}\)\..*\n",
        other.stderr,
    )

    everyone = family(up.process.pid)
    assert len(everyone) == 4
    for pid in everyone[1:]:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not up.ready(), "the web server's end")
    wait_until(up.ready, "the second start")
    assert up.problems().count("was ended by SIGKILL and is restarted") == 2
    assert up.ask(address)["state"] == "done"

    everyone = family(up.process.pid)
    assert len(everyone) == 4
    asked = time.monotonic()
    up.process.send_signal(signal.SIGINT)
    assert up.process.wait(10) == 0
    assert time.monotonic() - asked < SECONDS_TO_END  # nothing had to be killed
    assert alive(everyone) == []
    assert up.output() == f"ESOTERIC is ready at {up.address}\n"
    logs = up.home / "logs"
    assert {log.name for log in logs.iterdir()} == {"web.log", "worker.log"}
    assert "Traceback" not in (logs / "worker.log").read_text()


@pytest.mark.models
@pytest.mark.rare
def test_a_worker_that_keeps_ending_leaves_the_pages_which_say_why_and_comes_back(up: Up) -> None:
    def problem() -> dict[str, str]:
        try:
            up.ask("/readyz")
        except urllib.error.HTTPError as answer:
            found: dict[str, str] = json.load(answer)["error"]
            return found
        except OSError:
            pass
        return {"code": ""}

    def told() -> bool:
        for pid in programs("worker", up.process.pid):
            os.kill(pid, signal.SIGKILL)
        return problem()["code"] == "worker_dies"

    wait_until(told, "the reason")
    said = problem()
    assert said["message"].startswith("No worker is running, so claims wait. The worker was ended")
    assert "right after its start" in said["message"]
    assert str(up.home) not in said["message"]
    assert "It is started again in 8 seconds." in up.problems()
    with urllib.request.urlopen(f"{up.address}/claims", timeout=5) as history:
        assert history.status == 200
    up.wait_until_ready()
    # The last heartbeat of a worker that was killed may have said that it was ready.
    wait_until(lambda: len(family(up.process.pid)) == 4, "the next worker")
    everyone = family(up.process.pid)
    up.process.kill()
    up.process.wait()
    wait_until(lambda: alive(everyone) == [], "the end of all")  # nothing is left


def outdated(index: Path, source: str) -> None:
    """Make the index's ``meta.json`` that of a version which knew another format."""
    meta = index / "current" / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"format": 2, "source": source}))


def plans(home: Path) -> list[Path]:
    """What builds that are not finished write down."""
    return list((home / "index").glob("building-*/plan.json"))


def test_an_index_of_another_version_is_built_anew_or_named(home: Path, tmp_path: Path) -> None:
    ups = {}
    for name, source in (("default", "vital"), ("other", "jsonl:mine.jsonl")):
        shutil.copytree(home / "index", tmp_path / name / "index", symlinks=True)
        outdated(tmp_path / name / "index", source)
        ups[name] = Up(tmp_path / name)
    default, other = ups.values()
    try:
        wait_until(lambda: plans(default.home), "the new index's beginning")
        everyone = family(default.process.pid)
        default.process.terminate()  # before it is ready
        assert default.process.wait(10) == 0
        assert (alive(everyone), default.output()) == ([], "")
        wait_until(lambda: "Not ready" in other.problems(), "the reason")
    finally:
        default.close()
        other.close()
    assert default.problems().startswith(
        "Another version of ESOTERIC built the index, so it is built again.\n"
    )
    (plan,) = plans(default.home)
    assert json.loads(plan.read_text())["source"] == "vital"
    said = other.problems()
    assert said.startswith(STARTING)
    assert "Not ready: The index was built by another version of ESOTERIC. Run: " in said
    assert "esoteric index build --source jsonl:mine.jsonl" in said
    assert plans(other.home) == []


def test_what_cannot_be_used_is_named_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = command.esoteric(tmp_path, "up", "--port", port, HOST="127.0.0.1")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert re.fullmatch(
        rf"esoteric: Cannot listen on 127\.0\.0\.1 port {port}: Address already in use\..*\n",
        refused.stderr,
    )
    (tmp_path / "file").write_text("in the way")
    refused = command.esoteric(tmp_path / "file" / "home", "up")
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"esoteric: ESOTERIC_HOME {tmp_path}/file/home cannot be used")
    assert refused.stderr.count("\n") == 1
    for wrong in ("0", "web"):
        assert command.esoteric(tmp_path, "up", "--port", wrong).returncode == 2


@pytest.mark.parametrize("program", ["cli up", "app", "worker"])
def test_an_address_of_no_database_is_refused_first(program: str, tmp_path: Path) -> None:
    refused = subprocess.run(
        [sys.executable, "-m", *program.split()],
        env={**environment(tmp_path / "home"), "ESOTERIC_DATABASE_URL": "nonsense"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert "ESOTERIC_DATABASE_URL cannot be used" in refused.stderr
    assert list(tmp_path.iterdir()) == []


@cases("shown_addresses", "host", "shown")
def test_the_address_shown_can_be_opened(host: str, shown: str, tmp_path: Path) -> None:
    settings = Settings.from_environment({"HOST": host, "ESOTERIC_HOME": str(tmp_path)})
    assert address(settings) == shown


def kettle_program(
    folder: Path, behaviour: str, essential: bool = True, needs: Path | None = None
) -> Program:
    return Program(
        "kettle",
        "tests.ops.programs",
        folder / "kettle.log",
        {**os.environ, "STARTS": str(folder / "starts"), "BEHAVIOUR": behaviour},
        essential,
        needs,
    )


def started(folder: Path) -> list[int]:
    try:
        return [int(pid) for pid in (folder / "starts").read_text().split()]
    except FileNotFoundError:
        return []


def test_only_this_user_can_read_the_logs_also_those_that_are_full(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with running(tmp_path / "home", 1, "127.0.0.1", 8000):
            log = LogFile(tmp_path / "home" / "logs" / "kettle.log")
        log.maxBytes = 1000
        for _ in range(50):
            log.handle(logging.makeLogRecord({"msg": "The kettle boils. " * 5}))
        log.close()
    finally:
        os.umask(before)
    logs = tmp_path / "home" / "logs"
    assert len(list(logs.iterdir())) == 4
    assert {stat.S_IMODE(file.stat().st_mode) for file in logs.iterdir()} == {0o600}
    for folder in (logs, logs.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_program_whose_database_is_gone_starts_again_when_it_is_back(tmp_path: Path) -> None:
    file, away = tmp_path / "esoteric.db", tmp_path / "away.db"
    file.touch()
    kettle, said = kettle_program(tmp_path, "die once", needs=file), []
    run([kettle], lambda: len(said) == 1, said.append)
    assert said == [
        f"The kettle stopped with status 3 and is restarted. The log: {tmp_path}/kettle.log"
    ]
    file.rename(away)
    run([kettle], lambda: len(said) == 2, said.append)
    end = time.monotonic() + 1
    run([kettle], lambda: time.monotonic() > end, said.append)
    assert len(started(tmp_path)) == 1
    assert len(said) == 2
    assert said[1].startswith(f"{file} is gone, so the kettle is not started again. Put the same")
    away.rename(file)
    run([kettle], lambda: len(started(tmp_path)) == 2, said.append)
    end_all([kettle])


def test_a_program_that_is_killed_is_started_again(tmp_path: Path) -> None:
    kettle, said = kettle_program(tmp_path, "talk"), []
    log = tmp_path / "kettle.log"
    run([kettle], lambda: log.exists() and "at work" in log.read_text("utf-8"), said.append)
    assert log.read_text("utf-8") == "100% of caf\u00e9 and \ufffd\nat work\n"
    os.kill(started(tmp_path)[0], signal.SIGKILL)
    run([kettle], lambda: len(started(tmp_path)) == 2, said.append)
    end_all([kettle])
    assert len(said) == 1
    assert "was ended by SIGKILL and is restarted" in said[0]
    assert alive(started(tmp_path)) == []


def test_a_program_that_keeps_ending_is_given_up_or_started_again_after_growing_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "FIRST_PAUSE_SECONDS", 0.05)
    (tmp_path / "other").mkdir()
    kettle, said, starts = kettle_program(tmp_path, "die", essential=False), [], []

    def six() -> bool:
        if len(started(tmp_path)) > len(starts):
            starts.append(time.monotonic())
        return len(starts) == 6

    run([kettle], six, said.append)
    pauses = [later - earlier for earlier, later in pairwise(starts)]
    assert all(pause >= 0.05 * 2 ** (n + 1) for n, pause in enumerate(pauses))
    assert kettle.trouble.startswith("The kettle stopped with status 1 5 times right after its")
    assert "no luck today" in kettle.trouble
    assert said[-1] == f"{kettle.trouble}. It is started again in 2 seconds."
    needed = kettle_program(tmp_path / "other", "die")
    with pytest.raises(GivenUp, match="status 1 5 times") as caught:
        run([needed], lambda: False, lambda _text: None)
    end_all([kettle, needed])
    assert "no luck today" in str(caught.value)
    assert str(tmp_path / "other" / "kettle.log") in str(caught.value)
    assert len(started(tmp_path / "other")) == 5


def test_programs_that_do_not_end_are_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "SECONDS_TO_END", 1.0)
    kettle = kettle_program(tmp_path, "ignore SIGTERM")
    log = tmp_path / "kettle.log"
    run([kettle], lambda: log.exists() and "at work" in log.read_text(), print)
    asked = time.monotonic()
    end_all([kettle])
    assert time.monotonic() - asked >= 1
    (pid,) = started(tmp_path)
    assert alive([pid]) == []


__all__ = ["redis_house", "redis_server"]
WITHIN = 10.0  # seconds


@pytest.fixture
def web(redis_house: House) -> Iterator[WebProcess]:
    model = {"ESOTERIC_LLM": "openai:small", "ESOTERIC_LLM_URL": "http://127.0.0.1:9/v1"}
    redis_house.environment |= model
    redis_house.start_worker()
    web = WebProcess(redis_house.home, ESOTERIC_BROKER_URL=redis_house.settings.broker_url, **model)
    wait_for(web, 200, set(), seconds=60)
    yield web
    web.close()


def said(web: WebProcess) -> tuple[int, set[str]]:
    """Return the status of the service, and what is missing or degraded by its codes."""
    status, body = web.get("/readyz")
    found = json.loads(body)
    return status, {one["code"] for key in ("problems", "degraded") for one in found.get(key, ())}


def wait_for(web: WebProcess, status: int, codes: set[str], seconds: float = WITHIN) -> None:
    deadline = time.monotonic() + seconds
    while (now := said(web)) != (status, codes):
        assert time.monotonic() < deadline, now
        time.sleep(0.2)


@pytest.mark.redis
def test_each_part_that_is_down_is_said_within_ten_seconds(
    web: WebProcess, redis_house: House, redis_server: RedisServer
) -> None:
    redis_server.freeze()
    wait_for(web, 503, {"broker_unavailable"})
    redis_server.thaw()
    wait_for(web, 200, set())

    with closing(sqlite3.connect(redis_house.home / "esoteric.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        wait_for(web, 503, {"store_unavailable"})
    wait_for(web, 200, set(), seconds=30)

    redis_house.cut_off()
    wait_for(web, 503, {"index_unreachable"})
    redis_house.reconnect()
    wait_for(web, 200, set())

    no_model = redis_house.home / "no-model"
    no_model.touch()
    wait_for(web, 200, {"language_model_unavailable"})  # the verifier's verdict stays
    no_model.unlink()
    wait_for(web, 200, set())

    redis_house.workers[0].kill()
    wait_for(web, 503, {"no_worker"})
    redis_house.start_worker()
    wait_for(web, 200, set(), seconds=30)
