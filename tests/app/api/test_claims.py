"""Claims in the API: routes, statuses, the form of its errors, and the stream of events."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from app.http.streams import MOST_STREAMS, Streams
from retrieval.errors import EsotericError
from retrieval.result import ClaimResult
from settings import Settings
from tests.app.claim_documents import claim_document
from tests.app.client import CLAIM, Client, refusal
from tests.app.worker_by_hand import FIRST_HOP, SECOND_HOP
from tests.support.cases import cases
from worker.run_store import RunStore


def test_a_submitted_claim_is_accepted_with_its_address(client: Client) -> None:
    answer = client.post("/api/v1/claims", json={"claim": CLAIM, "recipe": "esoteric"})
    assert answer.status_code == 202
    job_id = answer.get_json()["id"]
    links = {
        "self": f"/api/v1/claims/{job_id}",
        "progress": f"/api/v1/claims/{job_id}/progress",
        "export": f"/api/v1/claims/{job_id}/export",
        "page": f"/claims/{job_id}",
    }
    assert answer.get_json() == {"id": job_id, "state": "queued", "links": links}
    assert answer.headers["Location"] == f"/api/v1/claims/{job_id}"
    for name in ("self", "progress", "page"):
        assert client.get(links[name]).status_code == 200


def test_a_claim_has_these_keys_then_its_result_or_why_it_failed(client: Client) -> None:
    sent = client.sent()
    assert sent.id == client.sent(f"  {CLAIM} ").id  # while it is pending
    address = f"/api/v1/claims/{sent.id}"
    job = client.json(address)
    assert list(job) == [
        *("appearance", "attempts", "claim", "continued_from", "corpora", "created_at"),
        *("edited_from", "error", "finished_at", "id", "links", "recipe", "result", "said_on"),
        *("shared", "speaker", "started_at", "state"),
    ]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", job["created_at"])
    assert (job["started_at"], job["result"]) == (None, None)
    client.worker.finish(sent, claim_document(CLAIM))
    job = client.json(address)
    assert (job["state"], job["result"], job["error"]) == ("done", claim_document(CLAIM), None)
    assert client.delete(address).get_json()["state"] == "done"
    pending = client.sent()
    assert client.delete(f"/api/v1/claims/{pending.id}").get_json()["state"] == "cancelled"
    failing = client.sent("Who made the snow?", anyway=True)
    client.worker.fail(failing, EsotericError("index_missing", "No index.", "Build it."))
    job = client.json(f"/api/v1/claims/{failing.id}")
    assert (job["claim"], job["state"]) == ("Who made the snow?", "failed")
    said = {"code": "index_missing", "message": "No index.", "hint": "Build it."}
    assert job["error"] == said


def test_what_names_no_claim_or_no_number_is_refused(client: Client) -> None:
    for path in ("", "/progress", "/export", "/events"):
        assert refusal(client.get(f"/api/v1/claims/none{path}")) == (404, "unknown_claim")
    assert refusal(client.delete("/api/v1/claims/none")) == (404, "unknown_claim")
    address = f"/api/v1/claims/{client.sent().id}/progress"
    for since in ("-1", "x", "1.5", "", "٣", "9" * 30):
        answer = client.get(address, query_string={"since": since})
        assert refusal(answer) == (400, "bad_since"), since


def test_progress_gives_each_event_once(client: Client) -> None:
    job = client.sent()
    address = f"/api/v1/claims/{job.id}/progress"
    assert client.json(address) == {"state": "queued", "events": [], "next": 0}
    run = client.worker.start(job)
    client.worker.record(run, FIRST_HOP[:3])
    first = client.json(address)
    assert first["state"] == "running"
    assert [event["stage"] for event in first["events"]] == ["start", "spans", "titles"]
    assert [event["n"] for event in first["events"]] == [1, 2, 3]
    assert first["next"] == 3
    assert client.json(f"{address}?since=3") == {"state": "running", "events": [], "next": 3}
    client.worker.record(run, FIRST_HOP[3:4], 3)
    second = client.json(f"{address}?since=3")
    assert [event["stage"] for event in second["events"]] == ["texts"]
    assert second["next"] == 4


@cases("claim_bodies", "body", "status", "code")
def test_a_bad_body_is_refused(client: Client, body: str, status: int, code: str) -> None:
    def post(content: bytes, kind: str | None = "application/json") -> tuple[int, str]:
        return refusal(client.post("/api/v1/claims", data=content, content_type=kind))

    assert post(body.encode("latin-1")) == (status, code)
    assert post(b"[" * 60_000) == (400, "malformed_json")
    assert post(b'{"claim": "' + b"x" * 65_536 + b'"}') == (413, "too_large")
    for kind in ("text/plain", "application/x-www-form-urlencoded", None):
        assert post(b'{"claim": "Snow is white."}', kind) == (415, "unsupported_media_type")
    assert client.get("/claims").text.count("<time") == 0


def test_claims_are_listed_newest_first_page_by_page_with_their_verdicts(client: Client) -> None:
    jobs = [client.sent(f"Pier {n} is made of oak.", recipe="esoteric") for n in range(3)]
    client.worker.finish(jobs[0], claim_document("Pier 0 is made of oak."))
    first = client.json("/api/v1/claims?limit=2")
    assert (first["total"], first["page"], first["pages"]) == (3, 1, 2)
    assert [claim["id"] for claim in first["claims"]] == [jobs[2].id, jobs[1].id]
    newest = client.json(f"/api/v1/claims/{jobs[2].id}")
    kept = {key: newest[key] for key in ("id", "claim", "recipe", "state", "created_at", "links")}
    assert first["claims"][0] == kept | {"verdict": None}
    (last,) = client.json("/api/v1/claims?limit=2&page=2")["claims"]
    assert last["verdict"]["label"] == "SUPPORTS"
    assert last["verdict"]["level"] in ("settled", "probably")
    after = client.json("/api/v1/claims?limit=2&page=3")
    assert (after["claims"], after["total"]) == ([], 3)
    client.sent("The café in Varnby has a terrace.")
    query = {"q": " CAFE\N{COMBINING ACUTE ACCENT} "}
    (found,) = client.get("/api/v1/claims", query_string=query).get_json()["claims"]
    assert found["claim"] == "The café in Varnby has a terrace."


def test_the_corpus_is_listed_or_why_there_is_none(
    client: Client, settings: Settings, tmp_path: Path
) -> None:
    found = client.json("/api/v1/corpora")
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


# The stream of a claim's events


def messages(text: str) -> list[tuple[str, str, Any]]:
    """Return the messages of a stream: id, name and data."""
    found = []
    for message in text.strip().split("\n\n"):
        keys = dict(line.split(": ", 1) for line in message.splitlines())
        found.append((keys.get("id", ""), keys["event"], json.loads(keys["data"])))
    return found


def test_a_stream_has_every_event_and_goes_on_where_it_was_left(client: Client) -> None:
    job = client.sent()
    run = client.worker.start(job)
    client.worker.record(run, SECOND_HOP, client.worker.record(run, FIRST_HOP))
    result = ClaimResult.model_validate(claim_document(CLAIM))
    assert RunStore(client.store.database).finish(run, result)
    address = f"/api/v1/claims/{job.id}/events"
    answer = client.get(address)
    assert answer.mimetype == "text/event-stream"
    found = messages(answer.text)
    assert [name for _, name, _ in found] == ["progress"] * 16 + ["state"]
    assert found[-1][2] == {"state": "done", "before": 0}
    key, _, spans = found[1]
    assert (key, spans["stage"], spans["message"]) == ("2", *FIRST_HOP[1])
    assert spans["found"]["spans"][0]["text"] == "The Lighthouse of Varn"
    sentences = client.json(f"/api/v1/claims/{job.id}/progress")["events"][6]
    opened = {"title": "Lighthouse of Varn", "score": 0.8, "found_by": ["title", "text"]}
    assert sentences["found"]["documents"][0] == opened | {"led_by": ""}
    again = client.get(address, headers={"Last-Event-ID": "14"})
    assert [key for key, _, _ in messages(again.text)] == ["15", "16", ""]
    assert client.get(f"{address}?since=14").text == again.text
    assert len(messages(client.get(address, headers={"Last-Event-ID": "x"}).text)) == 17


def test_a_claim_that_waits_says_how_many_are_before_it(client: Client) -> None:
    client.sent("Snow is white.")
    answer = client.get(f"/api/v1/claims/{client.sent().id}/events", buffered=False)
    first = next(iter(answer.response))
    answer.close()
    text = first.decode() if isinstance(first, bytes) else first
    assert messages(text) == [("", "state", {"state": "queued", "before": 1})]


def test_a_stream_that_is_too_many_is_refused_until_another_is_closed(client: Client) -> None:
    job = client.sent()
    address = f"/api/v1/claims/{job.id}/events"
    held = [client.get(address, buffered=False) for _ in range(MOST_STREAMS)]
    assert refusal(client.get(address)) == (503, "too_many_streams")
    assert client.get(f"/claims/{job.id}").status_code == 200
    held[0].close()  # nothing was read of it
    again = client.get(address, buffered=False)
    assert again.status_code == 200
    for one in (*held, again):
        one.close()
    streams = Streams(1)
    assert not streams.wait(0)
    streams.end()
    assert streams.wait(10)
