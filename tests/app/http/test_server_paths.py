"""Errors on pages and in the API contain no path of the server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.http.server_paths import ServerPaths
from app.services import services_of
from retrieval.errors import ModelUnavailable, Problem
from retrieval.result import ClaimResult
from settings import CHECKOUT, Settings
from tests.app.claim_documents import claim_document
from tests.app.index import description_file
from tests.app.worker_by_hand import WorkerByHand
from tests.support.cases import cases
from worker.job_store import JobStore
from worker.run_store import RunStore
from worker.worker_store import WorkerStore

CLAIM = "The Lighthouse of Varn was built by Ida Holm."


@cases("server_paths", "written", "shown")
def test_a_path_is_shown_by_its_setting_or_its_last_name(
    settings: Settings, written: str, shown: str
) -> None:
    of_srv = replace(settings, home=Path("/srv/home"), verifier=Path("/srv/judge"))
    hidden = ServerPaths(of_srv).hidden_in(written.replace("CHECKOUT", str(CHECKOUT)))
    assert shown in hidden
    assert "/srv" not in hidden.replace("http://host/srv/home/x", "")
    assert "/var" not in hidden
    assert "/opt" not in hidden


def problem_in(home: Path) -> Problem:
    return Problem(
        "model_missing",
        f"The model file {home}/models/judge.bin is missing.",
        f"Run: {CHECKOUT}/.venv/bin/esoteric models fetch judge, or see /var/log/esoteric/a.log.",
    )


def a_failed_claim(client: FlaskClient, store: JobStore, home: Path) -> list[str]:
    job = store.submit(CLAIM, "esoteric")[0]
    problem = problem_in(home)
    error = ModelUnavailable(problem.code, problem.message, problem.hint)
    WorkerByHand(store).fail(job, error)
    paths = (f"/claims/{job.id}", f"/api/v1/claims/{job.id}")
    deleted = client.delete(f"/api/v1/claims/{job.id}").text
    return [*(client.get(path).text for path in paths), deleted]


def a_broken_worker(client: FlaskClient, store: JobStore, home: Path) -> list[str]:
    problem = problem_in(home)
    error = ModelUnavailable(problem.code, problem.message, problem.hint)
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "broken", error)
    job = store.submit(CLAIM, "esoteric")[0]
    return [client.get(path).text for path in ("/readyz", f"/claims/{job.id}")]


def a_notice(client: FlaskClient, store: JobStore, home: Path) -> list[str]:
    problem = problem_in(home)
    document = claim_document(CLAIM) | {"notices": [f"{problem.message} {problem.hint}"]}
    job = store.submit(CLAIM, "esoteric")[0]
    run = WorkerByHand(store).start(job)
    assert RunStore(store.database).finish(run, ClaimResult.model_validate(document))
    export = f"/api/v1/claims/{job.id}/export"
    paths = (f"/claims/{job.id}", f"/api/v1/claims/{job.id}", export, f"{export}?format=md")
    return [client.get(path).text.replace("\\", "") for path in paths]


@pytest.mark.parametrize("make", [a_failed_claim, a_broken_worker, a_notice])
def test_what_the_worker_reports_is_shown_without_paths(
    client: FlaskClient,
    store: JobStore,
    settings: Settings,
    make: Callable[[FlaskClient, JobStore, Path], list[str]],
) -> None:
    for shown in make(client, store, settings.home):
        assert "ESOTERIC_HOME/models/judge.bin" in shown
        assert ".venv/bin/esoteric models fetch judge" in shown
        for path in (str(settings.home), str(CHECKOUT), "/var/log"):
            assert path not in shown


def test_what_the_web_process_cannot_do_is_shown_without_paths(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    (settings.home / "queue").write_text("in the way")
    description_file(settings.home).write_text("not JSON")
    queueless = create_app(settings)
    blocked = replace(settings, database_url=f"sqlite:///{settings.home}/queue/esoteric.db")
    storeless = create_app(blocked)
    for app in (queueless, storeless):
        client = app.test_client()
        answers = [
            client.post("/claims", data={"claim": CLAIM}),
            client.post("/api/v1/claims", json={"claim": CLAIM}),
            *(client.get(path) for path in ("/", "/claims", "/readyz")),
        ]
        assert [answer.status_code for answer in answers[:2]] == [503, 503]
        for answer in answers:
            assert str(settings.home) not in answer.text
            assert str(CHECKOUT) not in answer.text
        services_of(app).close()
    assert f"{settings.home}/queue" in caplog.text
