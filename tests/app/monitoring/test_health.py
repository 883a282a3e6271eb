"""Health checks and metrics."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from datetime import UTC, datetime

from flask.testing import FlaskClient

from app import create_app
from app.services import services_of
from retrieval.errors import ModelUnavailable
from settings import Settings
from tests.app.claim_documents import claim_document
from tests.app.index import description_file
from tests.app.worker_by_hand import WorkerByHand
from worker.database import Database
from worker.job_store import JobStore
from worker.worker_store import WorkerStore


def test_it_is_ready_with_an_index_and_a_ready_worker(
    client: FlaskClient, store: JobStore, settings: Settings
) -> None:
    assert client.get("/healthz").get_json() == {"status": "ok"}
    answer = client.get("/readyz")
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (503, "no_worker")
    assert "esoteric up" in answer.get_json()["error"]["hint"]
    workers = WorkerStore(store.database)
    workers.beat("by-hand", datetime.now(UTC), "loading")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (503, "worker_loading")
    workers.beat("by-hand", datetime.now(UTC), "ready")
    answer = client.get("/readyz")
    ready = {"status": "ready", "home": settings.home_id}
    assert (answer.status_code, answer.get_json()) == (200, ready)


def test_it_lists_all_that_is_missing_with_what_to_fix_first(
    client: FlaskClient, store: JobStore, settings: Settings
) -> None:
    description_file(settings.home).unlink()
    problem = ModelUnavailable("model_missing", "A model is missing.", "Install it.")
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "broken", problem)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert [found["code"] for found in answer.get_json()["problems"]] == [
        "index_missing",
        "model_missing",
    ]
    assert answer.get_json()["error"] == answer.get_json()["problems"][0]
    assert answer.get_json()["error"]["hint"].endswith("esoteric index build --source vital")


def readiness(settings: Settings) -> tuple[int, list[str], float]:
    """Return the answer of an application with a ready worker: status, problems, seconds."""
    app = create_app(settings)
    WorkerStore(services_of(app).store.database).beat("by-hand", datetime.now(UTC), "ready")
    began = time.monotonic()
    answer = app.test_client().get("/readyz")
    services_of(app).close()
    codes = [found["code"] for found in answer.get_json().get("problems", [])]
    return answer.status_code, codes, time.monotonic() - began


def test_it_is_not_ready_while_the_queue_cannot_be_written(settings: Settings) -> None:
    (settings.home / "queue").write_text("in the way")
    assert readiness(settings)[:2] == (503, ["broker_unavailable"])


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
    assert answer.get_json()["error"]["code"] == "store_unavailable"
    assert "readonly" in answer.get_json()["error"]["message"]


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
