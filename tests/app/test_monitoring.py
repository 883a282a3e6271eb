"""Health checks, and the metrics as Prometheus reads them."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.http.errors import LIMITS
from retrieval.errors import EsotericError, ModelUnavailable
from settings import Settings
from tests.app.claim_documents import claim_document
from tests.app.client import Client
from tests.app.conftest import Start
from tests.app.index import description_file
from worker import clock
from worker.lists import NewEntry
from worker.schema import ClaimRow


def beat(client: Client, state: str, problem: EsotericError | None = None) -> None:
    client.services.workers.beat("by-hand", datetime.now(UTC), state, problem)


def test_it_is_ready_with_an_index_and_a_worker_or_says_what_is_missing(
    client: Client, settings: Settings
) -> None:
    assert client.json("/healthz") == {"status": "ok"}
    answer = client.get("/readyz")
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (503, "no_worker")
    assert "esoteric up" in answer.get_json()["error"]["hint"]
    beat(client, "loading")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (503, "worker_loading")
    beat(client, "ready")
    answer = client.get("/readyz")
    ready = {"status": "ready", "home": settings.home_id}
    assert (answer.status_code, answer.get_json()) == (200, ready)
    description_file(settings.home).unlink()
    beat(client, "broken", ModelUnavailable("model_missing", "A model is missing.", "Install it."))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    error, problems = answer.get_json()["error"], answer.get_json()["problems"]
    assert [found["code"] for found in problems] == ["index_missing", "model_missing"]
    assert error == problems[0]  # what to fix first
    assert error["hint"].endswith("esoteric index build --source vital")


def test_it_is_not_ready_while_it_cannot_write(start: Start, settings: Settings) -> None:
    def problem(**more: str) -> dict[str, str]:
        answer = start(replace(settings, **more)).get("/readyz")
        assert answer.status_code == 503
        error: dict[str, str] = answer.get_json()["error"]
        return error

    beat(start(), "ready")
    queue = settings.home / "queue"
    shutil.rmtree(queue, ignore_errors=True)
    queue.write_text("in the way")
    assert problem()["code"] == "broker_unavailable"
    queue.unlink()
    queue.symlink_to("/proc")  # which has no free blocks, whoever asks
    assert problem()["code"] == "disk_full"
    queue.unlink()
    read_only = f"sqlite:///file:{settings.home}/esoteric.db?mode=ro&uri=true"
    error = problem(database_url=read_only)
    assert error["code"] == "store_unavailable"
    assert "readonly" in error["message"]


@pytest.fixture
def limited(start: Start) -> Client:
    """A client of an open service with low limits."""
    limits = {"CLAIMS_PER_MINUTE": "3", "MOST_QUEUED": "2", "STREAMS": "1", "ACCESS": "open"}
    return start(**{f"ESOTERIC_{name}": most for name, most in limits.items()})


def scraped(client: Client) -> dict[str, float]:
    """Return all numbers that have this form: name{label="value",...}."""
    text = client.another().get("/metrics").text
    return {
        sample.name
        + "".join(
            f' {label}="{value}"' for label, value in sorted(sample.labels.items())
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_it_shows_queue_lists_workers_and_ends_without_any_text(limited: Client) -> None:
    client, store = limited, limited.store
    found = scraped(client)
    assert found["esoteric_ready"] == 0
    assert found['esoteric_problems code="no_worker"'] == 1
    beat(client, "ready")
    client.done(claim_document("Varnby is old."))
    failed = store.submit("Varnby is new.", "esoteric")[0]
    client.worker.fail(failed, EsotericError("check_stalled", "It hung.", "Try again."))
    typed = store.submit("Varnby has a pier.", "esoteric", typed=True)[0]
    store.submit("Varnby has a port.", "esoteric")
    with store.database.writing() as session:
        row = session.get_one(ClaimRow, 3)
        assert row.id == typed.id
        row.created_at = clock.now() - timedelta(seconds=100)
    entries = [NewEntry(str(n), f"Varnby has {n} towers.", {}, None) for n in range(5)]
    client.services.lists.create("towers", "esoteric", entries, None)
    found = scraped(client)
    for name, value in {
        "esoteric_ready": 1,
        "esoteric_database_up": 1,
        'esoteric_workers state="ready"': 1,
        'esoteric_jobs state="queued"': 2,
        'esoteric_jobs state="running"': 0,
        'esoteric_queue_claims typed="true"': 1,
        "esoteric_queue_limit": 2,
        'esoteric_claims_ended_total code="check_stalled" state="failed"': 1,
        'esoteric_claims_ended_total code="" state="done"': 1,
        'esoteric_stage_seconds_bucket le="+Inf" stage="total"': 1,
        'esoteric_list_rows state="waiting"': 5,
        'esoteric_lists state="running"': 1,
        'esoteric_language_model_statements_total outcome="no_answer"': 0,
    }.items():
        assert found[name] == value, name
    assert 100 <= found['esoteric_queue_oldest_seconds typed="true"'] < 110
    assert found['esoteric_queue_oldest_seconds typed="false"'] < 10
    assert found['esoteric_disk_free_bytes of="database"'] > 0
    assert found["esoteric_database_bytes"] > 0
    assert not [series for series in found if "Varnby" in series or "towers" in series]


def test_requests_are_counted_by_route_and_not_by_what_a_visitor_made_up(client: Client) -> None:
    client.get(f"/claims/{client.done().id}")
    client.get("/made/up/by/a/visitor")
    client.open("/", method="BREW")
    answer = client.get("/metrics")
    assert answer.mimetype == "text/plain"
    counted = re.findall(r"esoteric_http_request_duration_seconds_count\{(.*?)\} 1.0", answer.text)
    assert 'method="GET",route="/claims/<job_id>",status="200"' in counted
    assert 'method="GET",route="unknown",status="404"' in counted
    assert "visitor" not in answer.text
    assert "BREW" not in answer.text


def test_each_limit_counts_what_it_refuses_on_pages_and_in_the_api(limited: Client) -> None:
    client = limited
    for number in range(2):
        client.post("/claims", data={"claim": f"Tea {number} is hot."})
    claim = client.store.recent(1)[0].id
    assert client.post("/claims", data={"claim": "Coffee is hot."}).status_code == 503
    assert client.post("/api/v1/claims", json={"claim": "Coffee is hot."}).status_code == 429
    assert client.post("/claims", data={"claim": "Coffee is hot."}).status_code == 429
    assert client.post("/api/v1/claims", json={"claim": "x" * 100_000}).status_code == 413
    streams = [client.get(f"/api/v1/claims/{claim}/events") for _ in range(2)]
    assert [one.status_code for one in streams] == [200, 429]
    found = scraped(client)
    refused = {"claims": 2, "streams": 1, "queue": 1, "request_bytes": 1}
    for limit in LIMITS:
        name = f'esoteric_refused_requests_total limit="{limit}"'
        assert found[name] == refused.get(limit, 0)
    assert found["esoteric_event_streams"] == 1
    for one in streams:
        one.close()
    assert scraped(client)["esoteric_event_streams"] == 0


def test_documents_that_wait_for_a_worker_are_counted(start: Start, settings: Settings) -> None:
    client = start(replace(settings, most_upload=1_000_000))
    upload = {"title": "Minutes", "files": (io.BytesIO(b"The council met."), "may.txt")}
    assert client.post("/documents", data=upload).status_code == 303
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("dump.txt", bytes(11_000_000))
    packed.seek(0)
    large = {"title": "Dumps", "files": (packed, "dumps.zip")}
    assert client.post("/documents", data=large).status_code == 422
    found = scraped(client)
    assert found['esoteric_corpora state="waiting"'] == 1
    assert found['esoteric_corpus_files end="waiting"'] == 1
    assert found['esoteric_refused_requests_total limit="upload_bytes"'] == 1


@pytest.mark.server
def test_prometheus_finds_nothing_to_complain_about(limited: Client) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed")
    page = limited.get("/metrics").data
    checked = subprocess.run([promtool, "check", "metrics"], input=page, capture_output=True)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")
