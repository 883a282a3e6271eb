"""A command finds the service of its folder and lets it check the claim."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from cli.home_lock import CannotStart, running
from cli.service_client import Service, ServiceFailed, ready_service
from retrieval.errors import EsotericError
from retrieval.recipes.recipes import DEFAULT_RECIPE
from retrieval.types import Progress
from settings import Settings
from tests.app.claim_documents import claim_document
from tests.app.web_process import WebProcess
from tests.app.worker_by_hand import FIRST_HOP, SECOND_HOP, WorkerByHand
from tests.support.waiting import wait_until
from worker.jobs import Job
from worker.worker_store import WorkerStore

pytestmark = pytest.mark.server

CLAIM = "The Lighthouse of Varn was built by Ida Holm."


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
