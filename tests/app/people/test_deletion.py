"""Claims are deleted by the API and by a button; then their addresses say so."""

from __future__ import annotations

import json
import logging

import pytest
from flask.testing import FlaskClient

from retrieval.errors import EsotericError
from tests.app.api.test_claims import assert_error, submit
from tests.app.claim_documents import claim_document
from tests.app.worker_by_hand import FIRST_HOP, WorkerByHand
from worker.job_store import JobStore
from worker.run_store import RunStore

CLAIM = "The Lighthouse of Varn was built by Ida Holm."


@pytest.fixture
def done(client: FlaskClient, store: JobStore, worker: WorkerByHand) -> str:
    """The id of a claim that is done."""
    job_id = submit(client)
    worker.finish(store.get(job_id), claim_document(CLAIM))
    return job_id


def assert_gone(client: FlaskClient, job_id: str) -> None:
    """Assert that no address of the claim knows it, and that no list has it."""
    address = f"/api/v1/claims/{job_id}"
    for path in (address, f"{address}/progress", f"{address}/export?format=md"):
        assert_error(client.get(path), 404, "unknown_claim")
    for path in (f"/claims/{job_id}", f"/claims/{job_id}/files/1"):
        page = client.get(path)
        assert page.status_code == 404
        assert "There is no claim with this id." in page.text
        assert "It may have been deleted." in page.text
    for path in ("/", "/claims", "/claims?q=Lighthouse"):
        assert job_id not in client.get(path).text


def test_a_finished_claim_is_deleted_through_the_api_if_it_is_asked_for(
    client: FlaskClient, done: str
) -> None:
    for query in ("", "?forget=0"):
        assert client.delete(f"/api/v1/claims/{done}{query}").json["state"] == "done"  # type: ignore[index]
    answer = client.delete(f"/api/v1/claims/{done}?forget=1")
    assert (answer.status_code, answer.data) == (204, b"")
    assert_gone(client, done)
    assert_error(client.delete(f"/api/v1/claims/{done}?forget=1"), 404, "unknown_claim")


def test_a_running_claim_is_cancelled_and_deleted_at_once(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job_id = submit(client)
    run = worker.start(store.get(job_id))
    worker.record(run, FIRST_HOP[:3])
    assert client.delete(f"/api/v1/claims/{job_id}?forget=1").status_code == 204
    assert not RunStore(store.database).renew(run)
    assert_gone(client, job_id)


def test_a_wrong_value_deletes_nothing(client: FlaskClient, done: str) -> None:
    for value in ("yes", "", "2"):
        answer = client.delete(f"/api/v1/claims/{done}", query_string={"forget": value})
        assert_error(answer, 400, "bad_forget")
    assert client.get(f"/claims/{done}").status_code == 200


def test_the_page_of_a_result_asks_before_its_button_deletes_it(
    client: FlaskClient, done: str
) -> None:
    page = client.get(f"/claims/{done}").text
    asked = page.index("<summary>Delete this claim</summary>")
    assert "<details" in page[asked - 40 : asked]  # closed: without a script, too
    assert asked < page.index(f'action="/claims/{done}/delete" method="post"')
    assert client.get(f"/claims/{done}/delete").status_code == 405
    answer = client.post(f"/claims/{done}/delete")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/claims")
    assert "No claim has been checked yet." in client.get("/claims").text
    assert_gone(client, done)
    assert client.post(f"/claims/{done}/delete").status_code == 404


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_a_claim_that_failed_or_was_cancelled_has_the_button_too(
    client: FlaskClient, store: JobStore, worker: WorkerByHand, state: str
) -> None:
    job_id = submit(client)
    if state == "failed":
        worker.fail(store.get(job_id), EsotericError("no_index", "No index.", "Build it."))
    else:
        store.cancel(job_id)
    assert f'action="/claims/{job_id}/delete" method="post"' in client.get(f"/claims/{job_id}").text
    assert client.post(f"/claims/{job_id}/delete").status_code == 303
    assert_gone(client, job_id)


@pytest.mark.parametrize(
    "headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example"}]
)
def test_no_other_site_can_delete_a_claim(
    client: FlaskClient, done: str, headers: dict[str, str]
) -> None:
    assert client.post(f"/claims/{done}/delete", headers=headers).status_code == 403
    answer = client.delete(f"/api/v1/claims/{done}?forget=1", headers=headers)
    assert_error(answer, 403, "cross_site")
    assert client.get(f"/claims/{done}").status_code == 200


def test_the_log_of_the_web_process_names_no_claim(
    client: FlaskClient, done: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    client.get(f"/claims/{done}")
    client.get("/claims", query_string={"q": "Lighthouse"})
    client.post("/claims", data={"claim": f"{CLAIM}\x00"})
    client.post("/api/v1/claims", data=json.dumps({"claim": CLAIM, "recipe": 3}))
    client.delete(f"/api/v1/claims/{done}?forget=1")
    assert "Lighthouse" not in caplog.text
