"""Health checks and metrics."""

from __future__ import annotations

import re
import socket
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from flask.testing import FlaskClient

from app import create_app
from app.services import services_of
from retrieval.errors import IndexUnavailable, ModelUnavailable
from settings import Settings
from tests.app.claim_documents import claim_document
from tests.app.index import description_file
from tests.app.worker_by_hand import WorkerByHand
from worker.database import Database
from worker.job_store import JobStore
from worker.worker_store import WorkerStore


def test_a_live_process_says_so(client: FlaskClient) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json) == (200, {"status": "ok"})


def test_it_is_ready_with_an_index_and_a_ready_worker(
    client: FlaskClient, store: JobStore, settings: Settings
) -> None:
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "ready")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json) == (
        200,
        {"status": "ready", "home": settings.home_id},
    )


def test_it_is_not_ready_without_a_worker(client: FlaskClient) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json is not None
    assert answer.json["error"]["code"] == "no_worker"
    assert "esoteric up" in answer.json["error"]["hint"]


def test_it_is_not_ready_while_the_worker_loads(client: FlaskClient, store: JobStore) -> None:
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "loading")
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json["error"]["code"] == "worker_loading"  # type: ignore[index]


def test_it_lists_all_that_is_missing_with_what_to_fix_first(
    client: FlaskClient, store: JobStore, settings: Settings
) -> None:
    description_file(settings.home).unlink()
    problem = ModelUnavailable("model_missing", "A model is missing.", "Install it.")
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "broken", problem)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json is not None
    assert [found["code"] for found in answer.json["problems"]] == [
        "index_missing",
        "model_missing",
    ]
    assert answer.json["error"] == answer.json["problems"][0]
    assert answer.json["error"]["hint"].endswith("esoteric index build --source vital")


def readiness(settings: Settings) -> tuple[int, list[str], float]:
    """Return the answer of an application with a ready worker: status, problems, seconds."""
    app = create_app(settings)
    WorkerStore(services_of(app).store.database).beat("by-hand", datetime.now(UTC), "ready")
    began = time.monotonic()
    answer = app.test_client().get("/readyz")
    services_of(app).close()
    assert answer.json is not None
    codes = [found["code"] for found in answer.json.get("problems", [])]
    return answer.status_code, codes, time.monotonic() - began


def test_it_is_not_ready_while_the_queue_cannot_be_written(settings: Settings) -> None:
    (settings.home / "queue").write_text("in the way")
    assert readiness(settings)[:2] == (503, ["broker_unavailable"])


def test_it_is_not_ready_while_redis_refuses_or_hangs(settings: Settings) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"redis://127.0.0.1:{listener.getsockname()[1]}/0"
        for listens in (False, True):
            if listens:
                listener.listen(16)  # it accepts and never answers
            status, codes, seconds = readiness(replace(settings, broker_url=address))
            assert (status, codes) == (503, ["broker_unavailable"])
            assert seconds < 8


def test_it_is_not_ready_while_the_disk_of_the_queue_has_no_space(settings: Settings) -> None:
    (settings.home / "queue").symlink_to("/proc")  # which has no free blocks, whoever asks
    status, codes, _ = readiness(settings)
    assert (status, codes[0]) == (503, "disk_full")


def test_it_is_not_ready_while_the_database_is_read_only(settings: Settings) -> None:
    store = JobStore(Database(settings.database_url))
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "ready")
    store.database.close()
    url = f"sqlite:///file:{settings.home}/esoteric.db?mode=ro&uri=true"
    app = create_app(replace(settings, database_url=url))
    answer = app.test_client().get("/readyz")
    services_of(app).close()
    assert answer.status_code == 503
    assert answer.json is not None
    assert answer.json["error"]["code"] == "store_unavailable"
    assert "readonly" in answer.json["error"]["message"]


def test_it_says_soon_that_the_database_is_locked_by_another_program(
    client: FlaskClient, store: JobStore, settings: Settings
) -> None:
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "ready")
    with closing(sqlite3.connect(settings.home / "esoteric.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        answer = client.get("/readyz")
        assert time.monotonic() - began < 8
    assert answer.status_code == 503
    assert "locked" in answer.text


def test_metrics_count_jobs_by_state_and_requests_by_route(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = store.submit("Varnby has a harbour.", "esoteric")[0]
    worker.finish(job, claim_document(job.claim))
    store.submit("Varnby has a theatre.", "esoteric")
    client.get(f"/claims/{job.id}")
    client.get("/made/up/by/a/visitor")
    client.open("/", method="BREW")
    answer = client.get("/metrics")
    assert answer.mimetype == "text/plain"
    assert 'esoteric_jobs{state="done"} 1.0' in answer.text
    assert 'esoteric_jobs{state="queued"} 1.0' in answer.text
    assert 'esoteric_jobs{state="running"} 0.0' in answer.text
    assert "esoteric_database_up 1.0" in answer.text
    counted = re.findall(r"esoteric_http_request_duration_seconds_count\{(.*?)\} 1.0", answer.text)
    assert 'method="GET",route="/claims/<job_id>",status="200"' in counted
    assert 'method="GET",route="unknown",status="404"' in counted
    assert "visitor" not in answer.text
    assert "BREW" not in answer.text


def test_the_worker_reports_what_is_wrong_with_an_index_on_a_server(tmp_path: Path) -> None:
    environment = {
        "ESOTERIC_HOME": str(tmp_path),
        "ESOTERIC_STORE": "elasticsearch://127.0.0.1:9/notes",
    }
    app = create_app(Settings.from_environment(environment))
    store, client = services_of(app).store, app.test_client()
    problem = IndexUnavailable("index_missing", "There is no index yet.", "Build it.")
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "broken", problem)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert [found["code"] for found in answer.json["problems"]] == ["index_missing"]  # type: ignore[index]
    assert answer.json["error"]["hint"] == "Build it."  # type: ignore[index]
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "ready")
    assert client.get("/readyz").status_code == 200
    services_of(app).close()
