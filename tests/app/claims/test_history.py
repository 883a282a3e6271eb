"""The history page: yours and everyone's, one block a claim, filters, and what is selected."""

from __future__ import annotations

import csv
import json
import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.people.visitor import COOKIE
from retrieval.errors import EsotericError
from tests.app.claim_documents import claim_document
from tests.app.people.test_visitor import CLAIM, owners, submit
from tests.app.worker_by_hand import WorkerByHand
from worker.job_store import JobStore
from worker.list_store import ListStore
from worker.lists import UnknownList

HARBOUR = "Varnby has a harbour."


def id_of(address: str) -> str:
    return address.rpartition("/")[2]


def claims_in(page: str) -> list[str]:
    """Return the ids of the runs on the page, in order."""
    return re.findall(r'name="claim" value="(\w+)"', page)


def test_a_visitor_sees_the_own_claims_first_and_everyones_on_request(app: Flask) -> None:
    first, second, stranger = (app.test_client() for _ in range(3))
    mine, theirs = id_of(submit(first)), id_of(submit(second, HARBOUR))
    assert first.get("/history").location == "/claims"
    assert claims_in(first.get("/claims").text) == [mine]
    assert claims_in(first.get("/claims?whose=all").text) == [theirs, mine]
    assert claims_in(stranger.get("/claims").text) == [theirs, mine]
    assert claims_in(stranger.get("/claims?whose=yours").text) == []
    assert claims_in(first.get("/claims?whose=yours&q=harbour").text) == []
    by_api = first.get("/api/v1/claims?whose=yours").get_json()
    assert [claim["id"] for claim in by_api["claims"]] == [mine]


def test_runs_of_one_claim_stand_together_and_filters_choose_among_them(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    first = store.submit(CLAIM, "esoteric")[0]
    worker.finish(first, claim_document(CLAIM, "SUPPORTS", 0.95))
    harbour = store.submit(HARBOUR, "m3")[0]
    again = store.submit(CLAIM, "m3")[0]
    page = client.get("/claims").text
    assert claims_in(page) == [again.id, first.id, harbour.id]
    assert page.count(f"<bdi>{CLAIM}</bdi>") == 1
    for query, found in (
        ("verdict=SUPPORTS", [first.id]),
        ("level=settled", [first.id]),
        ("level=leans", []),
        ("recipe=m3", [again.id, harbour.id]),
        ("state=done", [first.id]),
        ("state=queued&q=lighthouse", [again.id]),
        ("verdict=soup&page=no", [again.id, first.id, harbour.id]),  # wrong values count as none
    ):
        assert claims_in(client.get(f"/claims?{query}").text) == found
        if "soup" not in query:
            listed = client.get(f"/api/v1/claims?{query}").get_json()
            assert {claim["id"] for claim in listed["claims"]} == set(found)
    wrong = client.get("/api/v1/claims?verdict=soup")
    assert (wrong.status_code, wrong.get_json()["error"]["code"]) == (400, "bad_filter")


def test_the_selected_claims_are_one_table_with_what_tells_them_apart(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    done, failed = store.submit(CLAIM, "esoteric")[0], store.submit("=1+1 is two.", "m3")[0]
    worker.finish(done, claim_document(CLAIM, "SUPPORTS", 0.95))
    worker.fail(failed, EsotericError("no_index", "No index.", "Build it."))
    ids = [failed.id, done.id]
    answer = client.post("/claims/selected", data={"claim": ids, "do": "csv"})
    assert answer.mimetype == "text/csv"
    broken, right = csv.DictReader(answer.text.splitlines())
    shown = (broken["claim"], broken["state"], broken["error"])
    assert shown == ("'=1+1 is two.", "failed", "No index.")
    result = store.get(done.id).result
    assert result is not None
    shown = (right["verdict"], right["level"], right["confidence"])
    assert shown == ("SUPPORTS", "settled", "0.95")
    assert (right["recipe"], right["judge"]) == (done.recipe, result.verdict.judge)
    corpus = result.corpus
    assert (right["corpus"], right["indexed_at"]) == (result.corpus_title, corpus.built_at)
    assert right["sentence"] == result.selected[0].sentence
    assert "" not in (right["submitted_at"], right["finished_at"])
    whole = client.post("/claims/selected", data={"claim": ids, "do": "json"})
    assert json.loads(whole.text) == [client.get(f"/api/v1/claims/{i}").get_json() for i in ids]


def test_too_few_claims_or_nothing_to_do_is_said(client: FlaskClient) -> None:
    one = {"claim": ["a"]}
    for form in ({}, {"do": "delete"}, one | {"do": ["compare"]}, one | {"do": ["soup"]}):
        page = client.post("/claims/selected", data=form)
        assert page.status_code == 422
        assert "history" in page.text
    two = client.post("/claims/selected", data={"claim": ["a", "b\r\nc", "d"], "do": "compare"})
    assert (two.status_code, two.headers["Location"]) == (303, "/compare?claims=a,d")


def test_of_a_selection_with_another_visitors_claim_nothing_is_deleted(
    app: Flask, store: JobStore
) -> None:
    first, second = app.test_client(), app.test_client()
    mine, theirs = id_of(submit(first)), id_of(submit(second, HARBOUR))
    form = {"claim": [mine, theirs], "do": "delete"}
    assert first.post("/claims/selected", data=form).status_code == 403
    assert len(owners(store)) == 2
    form["claim"] = [mine]
    assert first.post("/claims/selected", data=form).status_code == 303
    assert len(owners(store)) == 1


def test_a_visitor_takes_all_away_and_deletes_all(
    app: Flask, store: JobStore, worker: WorkerByHand
) -> None:
    first, second = app.test_client(), app.test_client()
    ids = [id_of(submit(first, f"Pier {number} is made of oak.")) for number in range(60)]
    worker.finish(store.get(ids[0]), claim_document("Pier 0 is made of oak."))
    theirs = id_of(submit(second, HARBOUR))
    first.post("/lists", data={"claims": "Varnby has a pier.\nIce is cold."})
    taken = json.loads(first.get("/yours.json").text)
    assert [claim["id"] for claim in taken["claims"]] == ids
    assert taken["claims"][0]["result"]["verdict"]["label"] == "SUPPORTS"
    (given,) = taken["lists"]
    row = {"claim": "Varnby has a pier.", "others": {}, "claim_id": None}
    assert given["rows"][0] == row
    assert json.loads(app.test_client().get("/yours.json").text)["claims"] == []
    assert first.post("/yours/delete").status_code == 303
    assert first.get_cookie(COOKIE) is None
    with pytest.raises(UnknownList):
        ListStore(store.database).get(given["id"])
    assert [job.id for job in store.recent(99)] == [theirs]
    for address in ("/claims/selected", "/yours/delete"):
        headers = {"Sec-Fetch-Site": "cross-site"}
        assert second.post(address, headers=headers).status_code == 403
    assert [job.id for job in store.recent(99)] == [theirs]
