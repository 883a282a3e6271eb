"""The API: routes, statuses and the form of its errors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from retrieval.errors import EsotericError
from settings import Settings
from tests.app.claim_documents import claim_document
from tests.app.worker_by_hand import FIRST_HOP, WorkerByHand
from tests.support.cases import cases
from worker.job_store import JobStore

CLAIM = "The Lighthouse of Varn was built by Ida Holm."


def submit(client: FlaskClient, claim: str = CLAIM, anyway: bool = False) -> str:
    answer = client.post("/api/v1/claims", json={"claim": claim, "anyway": anyway})
    assert answer.status_code == 202
    job_id: str = answer.get_json()["id"]
    return job_id


def assert_error(answer: Any, status: int, code: str) -> None:
    assert answer.status_code == status
    assert answer.mimetype == "application/json"
    assert list(answer.get_json()) == ["error"]
    assert set(answer.get_json()["error"]) == {"code", "message", "hint"}
    assert answer.get_json()["error"]["code"] == code
    assert answer.get_json()["error"]["message"]
    assert answer.get_json()["error"]["hint"]


def test_a_submitted_claim_is_accepted_with_its_address(client: FlaskClient) -> None:
    answer = client.post("/api/v1/claims", json={"claim": CLAIM, "recipe": "esoteric"})
    assert answer.status_code == 202
    job_id = answer.get_json()["id"]
    assert answer.get_json() == {
        "id": job_id,
        "state": "queued",
        "links": {
            "self": f"/api/v1/claims/{job_id}",
            "progress": f"/api/v1/claims/{job_id}/progress",
            "export": f"/api/v1/claims/{job_id}/export",
            "page": f"/claims/{job_id}",
        },
    }
    assert answer.headers["Location"] == f"/api/v1/claims/{job_id}"
    for name in ("self", "progress", "page"):
        assert client.get(answer.get_json()["links"][name]).status_code == 200


def test_a_claim_has_these_keys_its_result_when_it_is_done_and_why_it_failed(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job_id = submit(client)
    assert job_id == submit(client, f"  {CLAIM} ")  # while it is pending
    address = f"/api/v1/claims/{job_id}"
    job = client.get(address).get_json()
    assert list(job) == [
        *("appearance", "attempts", "claim", "continued_from", "corpora", "created_at"),
        *("edited_from", "error", "finished_at", "id", "links", "recipe", "result", "said_on"),
        *("shared", "speaker", "started_at", "state"),
    ]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", job["created_at"])
    assert (job["started_at"], job["result"]) == (None, None)
    worker.finish(store.get(job_id), claim_document(CLAIM))
    job = client.get(address).get_json()
    assert (job["state"], job["result"], job["error"]) == ("done", claim_document(CLAIM), None)
    assert client.delete(address).get_json()["state"] == "done"
    pending = submit(client)
    assert client.delete(f"/api/v1/claims/{pending}").get_json()["state"] == "cancelled"
    failing = submit(client, "Who made the snow?", anyway=True)
    worker.fail(store.get(failing), EsotericError("index_missing", "No index.", "Build it."))
    job = client.get(f"/api/v1/claims/{failing}").get_json()
    assert (job["claim"], job["state"]) == ("Who made the snow?", "failed")
    said = {"code": "index_missing", "message": "No index.", "hint": "Build it."}
    assert job["error"] == said


@pytest.mark.parametrize("path", ["", "/progress", "/export", "/events"])
def test_an_unknown_claim_is_not_found(client: FlaskClient, path: str) -> None:
    assert_error(client.get(f"/api/v1/claims/none{path}"), 404, "unknown_claim")
    assert_error(client.delete("/api/v1/claims/none"), 404, "unknown_claim")


def test_progress_gives_each_event_once(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job_id = submit(client)
    address = f"/api/v1/claims/{job_id}/progress"
    assert client.get(address).get_json() == {"state": "queued", "events": [], "next": 0}
    run = worker.start(store.get(job_id))
    worker.record(run, FIRST_HOP[:3])
    first = client.get(address).get_json()
    assert first["state"] == "running"
    assert [event["stage"] for event in first["events"]] == ["start", "spans", "titles"]
    assert [event["n"] for event in first["events"]] == [1, 2, 3]
    assert first["next"] == 3
    assert client.get(f"{address}?since=3").get_json() == {
        "state": "running",
        "events": [],
        "next": 3,
    }
    worker.record(run, FIRST_HOP[3:4], 3)
    second = client.get(f"{address}?since=3").get_json()
    assert [event["stage"] for event in second["events"]] == ["texts"]
    assert second["next"] == 4


@pytest.mark.parametrize("since", ["-1", "x", "1.5", "", "٣", "9" * 30])
def test_a_since_that_is_no_number_is_refused(client: FlaskClient, since: str) -> None:
    answer = client.get(f"/api/v1/claims/{submit(client)}/progress", query_string={"since": since})
    assert_error(answer, 400, "bad_since")


@cases("claim_bodies", "body", "status", "code")
def test_a_bad_body_is_refused(client: FlaskClient, body: str, status: int, code: str) -> None:
    def post(content: bytes) -> Any:
        return client.post("/api/v1/claims", data=content, content_type="application/json")

    assert_error(post(body.encode("latin-1")), status, code)
    assert_error(post(b"[" * 60_000), 400, "malformed_json")
    assert_error(post(b'{"claim": "' + b"x" * 65_536 + b'"}'), 413, "too_large")
    assert client.get("/claims").text.count("<time") == 0


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_body_that_is_not_declared_as_json_is_refused(
    client: FlaskClient, kind: str | None
) -> None:
    answer = client.post("/api/v1/claims", data=b'{"claim": "Snow is white."}', content_type=kind)
    assert_error(answer, 415, "unsupported_media_type")


def test_claims_are_listed_newest_first_page_by_page_with_their_verdicts(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    ids = [store.submit(f"Pier {n} is made of oak.", "esoteric")[0].id for n in range(3)]
    worker.finish(store.get(ids[0]), claim_document("Pier 0 is made of oak."))
    first = client.get("/api/v1/claims?limit=2").get_json()
    assert (first["total"], first["page"], first["pages"]) == (3, 1, 2)
    assert [claim["id"] for claim in first["claims"]] == [ids[2], ids[1]]
    assert first["claims"][0] == {
        "id": ids[2],
        "claim": "Pier 2 is made of oak.",
        "recipe": "esoteric",
        "state": "queued",
        "created_at": client.get(f"/api/v1/claims/{ids[2]}").get_json()["created_at"],
        "verdict": None,
        "links": client.get(f"/api/v1/claims/{ids[2]}").get_json()["links"],
    }
    second = client.get("/api/v1/claims?limit=2&page=2").get_json()
    (last,) = second["claims"]
    assert last["verdict"]["label"] == "SUPPORTS"
    assert last["verdict"]["level"] in ("settled", "probably")
    after = client.get("/api/v1/claims?limit=2&page=3").get_json()
    assert (after["claims"], after["total"]) == ([], 3)
    store.submit("The café in Varnby has a terrace.", "esoteric")
    query = {"q": " CAFE\N{COMBINING ACUTE ACCENT} "}
    (found,) = client.get("/api/v1/claims", query_string=query).get_json()["claims"]
    assert found["claim"] == "The café in Varnby has a terrace."


def test_the_corpus_is_listed_or_why_there_is_none(
    client: FlaskClient, settings: Settings, tmp_path: Path
) -> None:
    found = client.get("/api/v1/corpora").get_json()
    (corpus,) = found["corpora"]
    assert set(corpus) == {
        *("name", "title", "documents", "built_at", "text_date"),
        *("default", "state", "searchable", "kind", "sent"),
    }
    assert found["problem"] is None
    assert isinstance(settings.store, Path)
    (settings.store / "current" / "meta.json").unlink()
    none = client.get("/api/v1/corpora")
    assert none.get_json()["corpora"] == []
    assert none.get_json()["problem"]["code"] == "index_missing"
    assert str(tmp_path) not in none.text
