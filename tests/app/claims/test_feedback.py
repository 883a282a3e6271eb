"""What people say about verdicts: by page and by API, its list, its export, its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.people.visitor import COOKIE
from research.evaluation.claims import read_corpus_claims, read_pairs
from tests.app.api.test_claims import assert_error
from tests.app.claim_documents import claim_document
from tests.app.people.test_visitor import submit
from tests.app.result.test_export import document_with_doubt
from tests.app.worker_by_hand import WorkerByHand
from worker.job_store import JobStore

CLAIM = "The Lighthouse of Varn was built by Ida Holm."


@pytest.fixture
def done(store: JobStore, worker: WorkerByHand) -> str:
    """The id of a claim that is done: supported, by two of three selected sentences."""
    job = store.submit(CLAIM, "esoteric")[0]
    worker.finish(job, claim_document(CLAIM))
    return job.id


def visitor(app: Flask, letter: str) -> FlaskClient:
    client = app.test_client()
    client.set_cookie(COOKIE, letter * 43)
    return client


def all_feedback(client: FlaskClient, query: str = "") -> list[dict[str, Any]]:
    answer = client.get(f"/api/v1/feedback{query}")
    found: list[dict[str, Any]] = answer.get_json()["feedback"]
    assert answer.get_json()["total"] == len(found)
    return found


def exported(client: FlaskClient, name: str, folder: Path) -> Path:
    file = folder / f"{name}.jsonl"
    answer = client.get(f"/api/v1/feedback/export?format={name}")
    assert answer.status_code == 200
    file.write_bytes(answer.data)
    return file


def test_a_visitor_agrees_and_disagrees_on_the_page_the_last_word_counts(
    client: FlaskClient, done: str
) -> None:
    address = f"/claims/{done}"
    page = client.get(address).text
    assert 'aria-pressed="false"' in page
    answer = client.post(f"{address}/feedback", data={"agrees": "1"})
    assert (answer.status_code, answer.headers["Location"]) == (303, f"{address}#actions")
    assert 'aria-pressed="true"' in client.get(address).text
    form = {"label": "REFUTES", "wrong": ["2", "1"], "note": "  It was Ole Berg.\x00 "}
    assert client.post(f"{address}/feedback", data=form).status_code == 303
    (said,) = all_feedback(client, "?whose=yours")
    assert (said["agrees"], said["label"], said["verdict"]) == (False, "REFUTES", "SUPPORTS")
    assert (said["wrong"], said["note"], said["claim"]) == ([1, 2], "It was Ole Berg.", CLAIM)
    page = client.get(address).text
    assert "You disagree: it should be “refuted”" in page
    assert "It was Ole Berg." in client.get("/feedback").text


def test_feedback_is_given_by_api_or_refused_if_it_is_not_as_described(
    client: FlaskClient, store: JobStore, done: str
) -> None:
    address = f"/api/v1/claims/{done}/feedback"
    wrong: list[Any] = [
        *({}, [], "yes", {"agrees": False}, {"agrees": False, "label": "FALSE"}),
        *({"agrees": True} | more for more in ({"wrong": [0]}, {"wrong": [5]}, {"wrong": "x"})),
        *({"agrees": True} | more for more in ({"note": "x" * 2001}, {"name": "x" * 101})),
        {"agrees": True, "soup": 1},
    ]
    for body in wrong:
        assert_error(client.post(address, json=body), 422, "bad_feedback")
    assert all_feedback(client) == []
    answer = client.post(address, json={"agrees": True, "name": " I  H "})
    assert answer.status_code == 201
    assert (answer.get_json()["label"], answer.get_json()["name"]) == ("SUPPORTS", "I H")
    assert client.get(answer.headers["Location"]).get_json() == answer.get_json()
    assert all_feedback(client) == [answer.get_json()]
    pending = store.submit(CLAIM, "esoteric")[0].id  # without a verdict
    answer = client.post(f"/api/v1/claims/{pending}/feedback", json={"agrees": True})
    assert_error(answer, 409, "not_done")
    assert client.post(f"/claims/{pending}/feedback", data={"agrees": "1"}).status_code == 409
    answer = client.post("/api/v1/claims/none/feedback", json={"agrees": True})
    assert_error(answer, 404, "unknown_claim")


def test_only_its_author_deletes_feedback_and_a_claim_takes_its_feedback_with_it(
    app: Flask, done: str
) -> None:
    author, other = visitor(app, "a"), visitor(app, "b")
    for client in (author, other):
        client.post(f"/claims/{done}/feedback", data={"agrees": "1"})
    submit(author)
    taken = json.loads(author.get("/yours.json").text)
    assert (len(taken["feedback"]), len(taken["claims"])) == (1, 1)
    (mine,) = all_feedback(author, "?whose=yours")
    address = f"/api/v1/feedback/{mine['id']}"
    assert_error(other.delete(address), 403, "not_yours")
    assert other.post(f"/feedback/{mine['id']}/delete").status_code == 403
    assert author.post(f"/feedback/{mine['id']}/delete").status_code == 303
    assert_error(author.get(address), 404, "unknown_feedback")
    assert len(all_feedback(author)) == 1
    assert author.delete(f"/api/v1/claims/{done}?forget=1").status_code == 204
    assert all_feedback(author) == []


def test_evaluation_and_training_read_the_export(
    client: FlaskClient, store: JobStore, worker: WorkerByHand, done: str, tmp_path: Path
) -> None:
    doubtful = store.submit("Doubt.", "esoteric")[0]
    worker.finish(doubtful, document_with_doubt())
    for job_id, said in (
        (done, {"agrees": True, "wrong": [2]}),
        # The only sentence that refutes it is labelled wrongly: no line.
        (done, {"agrees": False, "label": "REFUTES", "wrong": [4]}),
        (done, {"agrees": False, "label": "NOT ENOUGH INFO", "wrong": [1]}),
        (doubtful.id, {"agrees": False, "label": "REFUTES"}),
    ):
        assert client.post(f"/api/v1/claims/{job_id}/feedback", json=said).status_code == 201
    result, doubt = store.get(done).result, store.get(doubtful.id).result
    assert result is not None
    assert doubt is not None
    first = result.evidence[0]
    claims = read_corpus_claims(exported(client, "claims", tmp_path))
    assert [(claim.text, claim.label, claim.kind) for claim in claims] == [
        (CLAIM, "SUPPORTS", "feedback"),
        (CLAIM, "NOT ENOUGH INFO", "feedback"),
        (doubt.claim, "REFUTES", "feedback"),
    ]
    assert claims[0].texts == ((first.sentence,),)
    assert claims[1].evidence == ()
    assert claims[1].tempting == (first.document, first.sentence_id)
    against = [item for item in doubt.evidence if item.stance == "REFUTES"]
    assert [group[-1] for group in claims[2].evidence] == [
        (item.document, item.sentence_id) for item in against
    ]
    pairs = list(read_pairs(exported(client, "pairs", tmp_path)))
    assert {(pair.claim, pair.label) for pair in pairs} == {
        (claim.text, claim.label) for claim in claims
    }
    assert pairs[0].sentences == ((first.title, first.sentence),)
    assert len(pairs[1].sentences) == 3  # all that was read settles nothing
    assert_error(client.get("/api/v1/feedback/export?format=soup"), 400, "unknown_format")
