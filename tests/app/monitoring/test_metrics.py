"""The metrics for Prometheus, as it reads them."""

from __future__ import annotations

import io
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

from app import create_app
from app.http.errors import LIMITS
from app.services import services_of
from retrieval.errors import EsotericError
from settings import Settings
from tests.app.claim_documents import claim_document
from tests.app.index import describe_index
from tests.app.worker_by_hand import WorkerByHand
from worker import clock
from worker.lists import NewEntry
from worker.schema import ClaimRow
from worker.worker_store import WorkerStore


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    """An open service with low limits."""
    describe_index(tmp_path)
    environment = {"ESOTERIC_HOME": str(tmp_path), "ESOTERIC_ACCESS": "open"}
    limits = {"CLAIMS_PER_MINUTE": "3", "MOST_QUEUED": "2", "STREAMS": "1"}
    environment |= {f"ESOTERIC_{name}": most for name, most in limits.items()}
    app = create_app(Settings.from_environment(environment))
    yield app
    services_of(app).close()


def scraped(app: Flask) -> dict[str, float]:
    """Return all numbers that have this form: name{label="value",...}."""
    text = app.test_client().get("/metrics").text
    return {
        sample.name
        + "".join(
            f' {label}="{value}"' for label, value in sorted(sample.labels.items())
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_it_shows_queue_lists_workers_and_ends_without_any_text(app: Flask) -> None:
    services = services_of(app)
    store, worker = services.store, WorkerByHand(services.store)
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "ready")
    worker.finish(store.submit("Varnby is old.", "esoteric")[0], claim_document("Varnby is old."))
    failed = store.submit("Varnby is new.", "esoteric")[0]
    worker.fail(failed, EsotericError("check_stalled", "It hung.", "Try again."))
    typed = store.submit("Varnby has a pier.", "esoteric", typed=True)[0]
    store.submit("Varnby has a port.", "esoteric")
    with store.database.writing() as session:
        row = session.get_one(ClaimRow, 3)
        assert row.id == typed.id
        row.created_at = clock.now() - timedelta(seconds=100)
    entries = [NewEntry(str(n), f"Varnby has {n} towers.", {}, None) for n in range(5)]
    services.lists.create("towers", "esoteric", entries, None)
    found = scraped(app)
    assert found["esoteric_ready"] == 1
    assert found["esoteric_database_up"] == 1
    assert found['esoteric_workers state="ready"'] == 1
    assert found['esoteric_jobs state="queued"'] == 2
    assert found['esoteric_queue_claims typed="true"'] == 1
    assert 100 <= found['esoteric_queue_oldest_seconds typed="true"'] < 110
    assert found['esoteric_queue_oldest_seconds typed="false"'] < 10
    assert found["esoteric_queue_limit"] == 2
    assert found['esoteric_claims_ended_total code="check_stalled" state="failed"'] == 1
    assert found['esoteric_claims_ended_total code="" state="done"'] == 1
    assert found['esoteric_stage_seconds_bucket le="+Inf" stage="total"'] == 1
    assert found['esoteric_list_rows state="waiting"'] == 5
    assert found['esoteric_lists state="running"'] == 1
    assert found['esoteric_language_model_statements_total outcome="no_answer"'] == 0
    assert found['esoteric_disk_free_bytes of="database"'] > 0
    assert found["esoteric_database_bytes"] > 0
    assert not [series for series in found if "Varnby" in series or "towers" in series]


def test_it_says_what_is_missing(app: Flask) -> None:
    found = scraped(app)
    assert found["esoteric_ready"] == 0
    assert found['esoteric_problems code="no_worker"'] == 1


def test_each_limit_counts_what_it_refuses_on_pages_and_in_the_api(app: Flask) -> None:
    client = app.test_client()
    for number in range(2):
        client.post("/claims", data={"claim": f"Tea {number} is hot."})
    claim = services_of(app).store.recent(1)[0].id
    assert client.post("/claims", data={"claim": "Coffee is hot."}).status_code == 503
    assert client.post("/api/v1/claims", json={"claim": "Coffee is hot."}).status_code == 429
    assert client.post("/claims", data={"claim": "Coffee is hot."}).status_code == 429
    assert client.post("/api/v1/claims", json={"claim": "x" * 100_000}).status_code == 413
    streams = [client.get(f"/api/v1/claims/{claim}/events") for _ in range(2)]
    assert [one.status_code for one in streams] == [200, 429]
    found = scraped(app)
    refused = {"claims": 2, "streams": 1, "queue": 1, "request_bytes": 1}
    for limit in LIMITS:
        name = f'esoteric_refused_requests_total limit="{limit}"'
        assert found[name] == refused.get(limit, 0)
    assert found["esoteric_event_streams"] == 1
    for one in streams:
        one.close()
    assert scraped(app)["esoteric_event_streams"] == 0


def test_documents_that_wait_for_a_worker_are_counted(settings: Settings) -> None:
    app = create_app(replace(settings, most_upload=1_000_000))
    upload = {"title": "Minutes", "files": (io.BytesIO(b"The council met."), "may.txt")}
    assert app.test_client().post("/documents", data=upload).status_code == 303
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("dump.txt", bytes(11_000_000))
    packed.seek(0)
    large = {"title": "Dumps", "files": (packed, "dumps.zip")}
    assert app.test_client().post("/documents", data=large).status_code == 422
    found = scraped(app)
    assert found['esoteric_corpora state="waiting"'] == 1
    assert found['esoteric_corpus_files end="waiting"'] == 1
    assert found['esoteric_refused_requests_total limit="upload_bytes"'] == 1
    services_of(app).close()


@pytest.mark.server
def test_prometheus_finds_nothing_to_complain_about(app: Flask) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed")
    page = app.test_client().get("/metrics").data
    checked = subprocess.run([promtool, "check", "metrics"], input=page, capture_output=True)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")
