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
from worker.job_store import JobStore
from worker.reports import AskedModel
from worker.run_store import RunStore
from worker.worker_store import WorkerStore

CLAIM = "The Lighthouse of Varn was built by Ida Holm."


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("The database /srv/home/esoteric.db is locked.", "The database ESOTERIC_HOME/esoteric.db"),
        (f"Run: {CHECKOUT}/.venv/bin/esoteric index build", "Run: .venv/bin/esoteric index build"),
        ("Run: '/srv/my models/x/python' -m pip", "Run: 'python' -m pip"),
        ("[Errno 13] Permission denied: '/var/lib/claims/db'", "Permission denied: 'db'"),
        ("index build --source folder:/srv/texts/2024", "--source folder:2024"),
        (
            "/opt/python3/bin/python3 -m pip install -r /opt/a/b.txt",
            "python3 -m pip install -r b.txt",
        ),
        ("Could not open sqlite:////var/lib/claims.db.", "sqlite:///claims.db."),
        ("The model in /srv/judge (config.json)", "The model in ESOTERIC_VERIFIER (config.json)"),
        (
            "http://localhost:11434/v1/chat/completions",
            "http://localhost:11434/v1/chat/completions",
        ),
        ("folder:file:///opt/texts/2024", "folder:file://2024"),
        ("http://host/srv/home/x", "http://host/srv/home/x"),
        ("elasticsearch://[::1]:9200/a/b", "elasticsearch://[::1]:9200/a/b"),
        ("redis://127.0.0.1:6379/0 and/or 3 km/h", "redis://127.0.0.1:6379/0 and/or 3 km/h"),
    ],
)
def test_a_path_is_shown_by_its_setting_or_its_last_name(
    settings: Settings, written: str, shown: str
) -> None:
    of_srv = replace(settings, home=Path("/srv/home"), verifier=Path("/srv/judge"))
    hidden = ServerPaths(of_srv).hidden_in(written)
    assert shown in hidden
    assert "/srv" not in hidden.replace("http://host/srv/home/x", "")
    assert "/var" not in hidden
    assert "/opt" not in hidden


def test_a_folder_whose_name_begins_like_that_of_a_setting_is_another_one(
    settings: Settings,
) -> None:
    paths = ServerPaths(replace(settings, home=Path("/srv/eso")))
    assert paths.hidden_in("/srv/eso is full, /srv/esoteric-old/queue is not") == (
        "ESOTERIC_HOME is full, queue is not"
    )


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


def a_language_model_that_fails(client: FlaskClient, store: JobStore, home: Path) -> list[str]:
    asked = AskedModel("judge", "", True, problem_in(home))
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "ready", language_model=asked)
    return [client.get("/readyz").text]


def a_notice(client: FlaskClient, store: JobStore, home: Path) -> list[str]:
    problem = problem_in(home)
    document = claim_document(CLAIM) | {"notices": [f"{problem.message} {problem.hint}"]}
    job = store.submit(CLAIM, "esoteric")[0]
    run = WorkerByHand(store).start(job)
    assert RunStore(store.database).finish(run, ClaimResult.model_validate(document))
    export = f"/api/v1/claims/{job.id}/export"
    paths = (f"/claims/{job.id}", f"/api/v1/claims/{job.id}", export, f"{export}?format=md")
    return [client.get(path).text.replace("\\", "") for path in paths]


@pytest.mark.parametrize(
    "make", [a_failed_claim, a_broken_worker, a_language_model_that_fails, a_notice]
)
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
