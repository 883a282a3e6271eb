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
from worker.job_store import JobStore

CLAIM = "The Lighthouse of Varn was built by Ida Holm."


def submit(client: FlaskClient, claim: str = CLAIM, anyway: bool = False) -> str:
    answer = client.post("/api/v1/claims", json={"claim": claim, "anyway": anyway})
    assert answer.status_code == 202
    job_id: str = answer.json["id"]  # type: ignore[index]
    return job_id


def assert_error(answer: Any, status: int, code: str) -> None:
    assert answer.status_code == status
    assert answer.mimetype == "application/json"
    assert list(answer.json) == ["error"]
    assert set(answer.json["error"]) == {"code", "message", "hint"}
    assert answer.json["error"]["code"] == code
    assert answer.json["error"]["message"]
    assert answer.json["error"]["hint"]


def test_a_submitted_claim_is_accepted_with_its_address(client: FlaskClient) -> None:
    answer = client.post("/api/v1/claims", json={"claim": CLAIM, "recipe": "esoteric"})
    assert answer.status_code == 202
    assert answer.json is not None
    job_id = answer.json["id"]
    assert answer.json == {
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
        assert client.get(answer.json["links"][name]).status_code == 200


def test_the_same_claim_while_pending_is_one_job(client: FlaskClient) -> None:
    assert submit(client) == submit(client, f"  {CLAIM} ")


def test_a_claim_has_its_result_when_it_is_done(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job_id = submit(client)
    assert client.get(f"/api/v1/claims/{job_id}").json["result"] is None  # type: ignore[index]
    worker.finish(store.get(job_id), claim_document(CLAIM))
    job = client.get(f"/api/v1/claims/{job_id}").json
    assert job is not None
    assert job["state"] == "done"
    assert job["result"] == claim_document(CLAIM)
    assert job["error"] is None


def test_a_claim_has_these_keys_and_its_times_are_in_utc(client: FlaskClient) -> None:
    job = client.get(f"/api/v1/claims/{submit(client)}").json
    assert job is not None
    assert list(job) == [
        *("appearance", "attempts", "claim", "continued_from", "corpora", "created_at"),
        *("edited_from", "error", "finished_at", "id", "links", "recipe", "result", "said_on"),
        *("shared", "speaker", "started_at", "state"),
    ]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", job["created_at"])
    assert job["started_at"] is None


def test_a_failed_claim_says_why(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job_id = submit(client)
    worker.fail(store.get(job_id), EsotericError("index_missing", "No index.", "Build it."))
    answer = client.get(f"/api/v1/claims/{job_id}")
    assert answer.status_code == 200
    assert answer.json is not None
    assert answer.json["state"] == "failed"
    assert answer.json["error"] == {
        "code": "index_missing",
        "message": "No index.",
        "hint": "Build it.",
    }


def test_progress_gives_each_event_once(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job_id = submit(client)
    address = f"/api/v1/claims/{job_id}/progress"
    assert client.get(address).json == {"state": "queued", "events": [], "next": 0}
    run = worker.start(store.get(job_id))
    worker.record(run, FIRST_HOP[:3])
    first = client.get(address).json
    assert first is not None
    assert first["state"] == "running"
    assert [event["stage"] for event in first["events"]] == ["start", "spans", "titles"]
    assert [event["n"] for event in first["events"]] == [1, 2, 3]
    assert first["next"] == 3
    assert client.get(f"{address}?since=3").json == {"state": "running", "events": [], "next": 3}
    worker.record(run, FIRST_HOP[3:4], 3)
    second = client.get(f"{address}?since=3").json
    assert second is not None
    assert [event["stage"] for event in second["events"]] == ["texts"]
    assert second["next"] == 4


@pytest.mark.parametrize("since", ["-1", "x", "1.5", "", "٣", "9" * 30])
def test_a_since_that_is_no_number_is_refused(client: FlaskClient, since: str) -> None:
    answer = client.get(f"/api/v1/claims/{submit(client)}/progress", query_string={"since": since})
    assert_error(answer, 400, "bad_since")


def test_delete_cancels_a_pending_claim_and_keeps_a_finished_one(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    pending = submit(client)
    answer = client.delete(f"/api/v1/claims/{pending}")
    assert answer.status_code == 200
    assert answer.json is not None
    assert answer.json["state"] == "cancelled"
    done = submit(client)
    assert done != pending
    worker.finish(store.get(done), claim_document(CLAIM))
    assert client.delete(f"/api/v1/claims/{done}").json["state"] == "done"  # type: ignore[index]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/claims/none"),
        ("GET", "/api/v1/claims/none/progress"),
        ("GET", "/api/v1/claims/none/export"),
        ("DELETE", "/api/v1/claims/none"),
    ],
)
def test_an_unknown_claim_is_not_found(client: FlaskClient, method: str, path: str) -> None:
    assert_error(client.open(path, method=method), 404, "unknown_claim")


def test_a_method_that_an_address_does_not_accept_is_refused(client: FlaskClient) -> None:
    answer = client.put("/api/v1/claims", json={})
    assert_error(answer, 405, "method_not_allowed")
    assert "POST" in answer.headers["Allow"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "malformed_json"),
        (b"", 400, "malformed_json"),
        (b"\xff\xfe", 400, "malformed_json"),
        (b"[" * 60_000, 400, "malformed_json"),
        (b"[]", 422, "missing_claim"),
        (b"null", 422, "missing_claim"),
        (b"{}", 422, "missing_claim"),
        (b'{"claim": 7}', 422, "claim_not_text"),
        (b'{"claim": "Snow is white.", "recipe": ["esoteric"]}', 422, "bad_recipe"),
        (b'{"claim": "Snow is white.", "recipe": "none"}', 422, "unknown_recipe"),
        (b'{"claim": "Snow is white.", "speed": 9}', 422, "unknown_key"),
        (b'{"claim": "Snow is white.", "anyway": "certainly"}', 422, "bad_anyway"),
        (b'{"claim": "Who made the snow?"}', 422, "claim_wh_question"),
        (b'{"claim": "Snow\\ud800 is white."}', 422, "claim_control_characters"),
        (b'{"claim": "' + b"x" * 65_536 + b'"}', 413, "too_large"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else str(value),
)
def test_a_bad_body_is_refused(client: FlaskClient, body: bytes, status: int, code: str) -> None:
    answer = client.post("/api/v1/claims", data=body, content_type="application/json")
    assert_error(answer, status, code)
    assert client.get("/claims").text.count("<time") == 0


def test_what_is_refused_as_no_statement_is_checked_anyway_on_request(client: FlaskClient) -> None:
    body = {"claim": "Who made the snow?", "anyway": True}
    answer = client.post("/api/v1/claims", json=body)
    assert answer.status_code == 202
    assert answer.json is not None
    assert client.get(answer.json["links"]["self"]).json["claim"] == body["claim"]  # type: ignore[index]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_body_that_is_not_declared_as_json_is_refused(
    client: FlaskClient, kind: str | None
) -> None:
    answer = client.post("/api/v1/claims", data=b'{"claim": "Snow is white."}', content_type=kind)
    assert_error(answer, 415, "unsupported_media_type")


@pytest.mark.parametrize(
    "claim",
    [
        "'; DROP TABLE claims; --",
        "<script>alert(1)</script>",
        '*?:()"\\ AND title:x',
        "\u05e9\u05dc\u05d2 \u05d4\u05d5\u05d0 \u05dc\u05d1\u05df.",
        "The flag of Ostrea \U0001f3f4 is blue.",
        "Is snow white?",
        "x" * 500,
    ],
)
def test_unusual_claims_are_returned_unchanged(client: FlaskClient, claim: str) -> None:
    job = client.get(f"/api/v1/claims/{submit(client, claim, anyway=True)}").json
    assert job is not None
    assert job["claim"] == claim


def test_claims_are_listed_newest_first_page_by_page_with_their_verdicts(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    ids = [store.submit(f"Pier {n} is made of oak.", "esoteric")[0].id for n in range(3)]
    worker.finish(store.get(ids[0]), claim_document("Pier 0 is made of oak."))
    first = client.get("/api/v1/claims?limit=2").json
    assert first is not None
    assert (first["total"], first["page"], first["pages"]) == (3, 1, 2)
    assert [claim["id"] for claim in first["claims"]] == [ids[2], ids[1]]
    assert first["claims"][0] == {
        "id": ids[2],
        "claim": "Pier 2 is made of oak.",
        "recipe": "esoteric",
        "state": "queued",
        "created_at": client.get(f"/api/v1/claims/{ids[2]}").json["created_at"],  # type: ignore[index]
        "verdict": None,
        "links": client.get(f"/api/v1/claims/{ids[2]}").json["links"],  # type: ignore[index]
    }
    second = client.get("/api/v1/claims?limit=2&page=2").json
    assert second is not None
    (last,) = second["claims"]
    assert last["verdict"]["label"] == "SUPPORTS"
    assert last["verdict"]["level"] in ("settled", "probably")
    after = client.get("/api/v1/claims?limit=2&page=3").json
    assert after is not None
    assert (after["claims"], after["total"]) == ([], 3)


def test_claims_are_found_by_their_words(client: FlaskClient, store: JobStore) -> None:
    store.submit("The café in Varnby has a terrace.", "esoteric")
    store.submit("Varnby has a harbour.", "esoteric")
    found = client.get("/api/v1/claims", query_string={"q": " CAFE\N{COMBINING ACUTE ACCENT} "})
    assert found.json is not None
    assert [claim["claim"] for claim in found.json["claims"]] == [
        "The café in Varnby has a terrace."
    ]


def test_the_corpus_is_listed_or_why_there_is_none(
    client: FlaskClient, settings: Settings, tmp_path: Path
) -> None:
    found = client.get("/api/v1/corpora").json
    assert found is not None
    (corpus,) = found["corpora"]
    assert set(corpus) == {
        *("name", "title", "documents", "built_at", "text_date"),
        *("default", "state", "searchable", "kind", "sent"),
    }
    assert found["problem"] is None
    assert isinstance(settings.store, Path)
    (settings.store / "current" / "meta.json").unlink()
    none = client.get("/api/v1/corpora")
    assert none.json is not None
    assert none.json["corpora"] == []
    assert none.json["problem"]["code"] == "index_missing"
    assert str(tmp_path) not in none.text
