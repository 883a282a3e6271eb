"""A command finds the service of its folder and lets it check the claim."""

from __future__ import annotations

import json
import os
import socket
import time
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
from worker.jobs import Job
from worker.worker_store import WorkerStore

pytestmark = pytest.mark.server

CLAIM = "The Lighthouse of Varn was built by Ida Holm."


def of_home(home: Path) -> Settings:
    return Settings.from_environment({"ESOTERIC_HOME": str(home)})


def service(web: WebProcess) -> Service:
    return Service("127.0.0.1", web.port, web.settings.home_id)


def asked(web: WebProcess, answer: Callable[[Job], None]) -> tuple[dict[str, Any], list[str]]:
    """Ask the service, whose worker does ``answer``; return the document and the stages."""

    def work() -> None:
        while not (jobs := web.store.recent(1)):
            time.sleep(0.01)
        answer(web.store.get(jobs[0].id))

    stages: list[str] = []

    def on_progress(progress: Progress) -> None:
        if progress.stage != "queued":  # it comes only if the worker has not begun yet
            stages.append(progress.stage)

    worker = Thread(target=work, daemon=True)
    worker.start()
    try:
        document = service(web).checked(CLAIM, DEFAULT_RECIPE, on_progress)["result"]
    finally:
        worker.join(10)
    return document, stages


def test_the_service_answers_with_the_claim_document_and_every_stage(web: WebProcess) -> None:
    wanted = claim_document(CLAIM)
    document, stages = asked(web, lambda job: WorkerByHand(web.store).finish(job, wanted))
    assert document == wanted
    assert stages == [stage for stage, _ in (*FIRST_HOP, *SECOND_HOP)]


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (
            lambda web, job: WorkerByHand(web.store).fail(
                job, EsotericError("index_damaged", "The index is damaged.", "Run: build")
            ),
            r"The index is damaged\. Run: build",
        ),
        (lambda web, job: web.store.cancel(job.id), "was cancelled"),
        (lambda web, _: web.process.kill(), "does not answer .*Run the command again"),
    ],
)
def test_a_check_that_ends_otherwise_is_reported_in_words(
    own_web: WebProcess, end: Callable[[WebProcess, Job], Any], said: str
) -> None:
    with pytest.raises(ServiceFailed, match=said):
        asked(own_web, lambda job: end(own_web, job))


def test_an_interrupted_wait_does_not_cancel_the_claim(web: WebProcess) -> None:
    seen: list[Progress] = []

    def interrupted(progress: Progress) -> None:
        seen.append(progress)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        service(web).checked(CLAIM, DEFAULT_RECIPE, interrupted)
    assert seen[0].message == "Waiting for the service's other claims"
    assert web.store.recent(1)[0].state == "queued"


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


@pytest.mark.parametrize("content", ["", "4711", "{}", '{"host": 1}', "not JSON"])
def test_a_lock_file_of_another_version_is_no_service(tmp_path: Path, content: str) -> None:
    with running(tmp_path, os.getpid(), "127.0.0.1", 1):
        (tmp_path / "up.lock").write_text(content)
        assert ready_service(of_home(tmp_path)) is None


def test_one_home_is_locked_by_one_service(tmp_path: Path) -> None:
    with (
        running(tmp_path, 4711, "127.0.0.1", 8000),
        pytest.raises(CannotStart, match=r"already running with the home .* \(process 4711\)"),
        running(tmp_path, 4712, "127.0.0.1", 8001),
    ):
        pass
    with running(tmp_path, 4712, "127.0.0.1", 8001):
        assert json.loads((tmp_path / "up.lock").read_text())["process"] == 4712
