"""The stream of a claim's events, and the places for streams."""

from __future__ import annotations

import json
from typing import Any

from flask.testing import FlaskClient

from app.http.streams import MOST_STREAMS, Streams
from retrieval.result import ClaimResult
from tests.app.claim_documents import claim_document
from tests.app.worker_by_hand import FIRST_HOP, SECOND_HOP, WorkerByHand
from worker.job_store import JobStore
from worker.run_store import RunStore

CLAIM = "The Lighthouse of Varn was built by Ida Holm."


def messages(text: str) -> list[tuple[str, str, Any]]:
    """Return the messages of a stream: id, name and data."""
    found = []
    for message in text.strip().split("\n\n"):
        keys = dict(line.split(": ", 1) for line in message.splitlines())
        found.append((keys.get("id", ""), keys["event"], json.loads(keys["data"])))
    return found


def test_a_stream_has_every_event_with_its_findings_and_ends_with_the_state(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = store.submit(CLAIM, "esoteric")[0]
    run = worker.start(job)
    worker.record(run, SECOND_HOP, worker.record(run, FIRST_HOP))
    assert RunStore(store.database).finish(run, ClaimResult.model_validate(claim_document(CLAIM)))
    answer = client.get(f"/api/v1/claims/{job.id}/events")
    assert answer.mimetype == "text/event-stream"
    found = messages(answer.text)
    assert [name for _, name, _ in found] == ["progress"] * 16 + ["state"]
    assert found[-1][2] == {"state": "done", "before": 0}
    key, _, spans = found[1]
    assert (key, spans["stage"], spans["message"]) == ("2", *FIRST_HOP[1])
    assert spans["found"]["spans"][0]["text"] == "The Lighthouse of Varn"
    sentences = client.get(f"/api/v1/claims/{job.id}/progress").get_json()["events"][6]
    assert sentences["found"]["documents"][0] == {
        "title": "Lighthouse of Varn",
        "score": 0.8,
        "found_by": ["title", "text"],
        "led_by": "",
    }


def test_a_stream_goes_on_behind_the_last_event_that_was_received(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = store.submit(CLAIM, "esoteric")[0]
    worker.finish(job, claim_document(CLAIM))
    address = f"/api/v1/claims/{job.id}/events"
    again = client.get(address, headers={"Last-Event-ID": "14"})
    assert [key for key, _, _ in messages(again.text)] == ["15", "16", ""]
    assert client.get(f"{address}?since=14").text == again.text
    assert len(messages(client.get(address, headers={"Last-Event-ID": "x"}).text)) == 17


def test_a_claim_that_waits_says_how_many_are_before_it(
    client: FlaskClient, store: JobStore
) -> None:
    store.submit("Snow is white.", "esoteric")
    job = store.submit(CLAIM, "esoteric")[0]
    answer = client.get(f"/api/v1/claims/{job.id}/events", buffered=False)
    first = next(iter(answer.response))
    answer.close()
    text = first.decode() if isinstance(first, bytes) else first
    assert messages(text) == [("", "state", {"state": "queued", "before": 1})]


def test_a_stream_that_is_too_many_is_refused_until_another_is_closed(
    client: FlaskClient, store: JobStore
) -> None:
    job = store.submit(CLAIM, "esoteric")[0]
    address = f"/api/v1/claims/{job.id}/events"
    held = [client.get(address, buffered=False) for _ in range(MOST_STREAMS)]
    refused = client.get(address)
    assert refused.status_code == 503
    assert refused.get_json()["error"]["code"] == "too_many_streams"
    assert client.get(f"/claims/{job.id}").status_code == 200
    held[0].close()  # nothing was read of it
    again = client.get(address, buffered=False)
    assert again.status_code == 200
    for one in (*held, again):
        one.close()


def test_every_stream_ends_when_the_server_does() -> None:
    streams = Streams(1)
    assert not streams.wait(0)
    streams.end()
    assert streams.wait(10)
