"""What visitors have checked and said: whose it is, the history, what is taken away or deleted."""

from __future__ import annotations

import csv
import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.people.visitor import COOKIE
from research.evaluation.claims import read_corpus_claims, read_pairs
from retrieval.errors import EsotericError
from tests.app.claim_documents import claim_document
from tests.app.client import CLAIM, Client, refusal, words
from tests.app.conftest import Start
from tests.app.result.test_export import document_with_doubt
from tests.app.worker_by_hand import FIRST_HOP
from worker.lists import UnknownList
from worker.run_store import RunStore
from worker.schema import ClaimRow

HARBOUR = "Varnby has a harbour."


def owners(client: Client) -> list[str | None]:
    """Return the owners of all claims, in the order in which they were submitted."""
    with client.store.database.reading() as session:
        return list(session.scalars(select(ClaimRow.owner).order_by(ClaimRow.number)))


def submit(client: Client, claim: str = CLAIM) -> str:
    """Submit a claim as a page does, and return its address."""
    answer = client.post("/claims", data={"claim": claim})
    assert answer.status_code == 303
    return answer.location


def id_of(address: str) -> str:
    return address.rpartition("/")[2]


# The cookie


def test_the_first_claim_sets_a_cookie_that_no_script_or_other_site_reads(client: Client) -> None:
    for path in ("/", "/claims", "/api"):
        assert "Set-Cookie" not in client.get(path).headers
    refused = client.post("/claims", data={"claim": ""})
    assert refused.status_code == 422
    assert "Set-Cookie" not in refused.headers
    for address, secure in (("http://localhost", False), ("https://localhost", True)):
        visitor = client.another()
        visitor.post("/claims", data={"claim": CLAIM}, base_url=address)
        cookie = visitor.get_cookie(COOKIE)
        assert cookie is not None
        assert (cookie.http_only, cookie.same_site, cookie.secure) == (True, "Lax", secure)
        assert len(cookie.value) == 43  # 32 random bytes


def test_claims_of_one_browser_have_one_owner_by_page_and_by_api(client: Client) -> None:
    second = client.another()
    first_address = submit(client)
    submit(client, HARBOUR)
    client.sent("Varnby has a theatre.")
    assert submit(second) != first_address == submit(client)
    program = client.another().post("/api/v1/claims", json={"claim": "Varnby has a pier."})
    assert "Set-Cookie" not in program.headers
    one, again, by_api, other, nobody = owners(client)
    assert one is not None
    assert (again, by_api, nobody) == (one, one, None)
    assert other not in (one, None)
    cookie = client.get_cookie(COOKIE)
    assert cookie is not None
    assert cookie.value not in one  # the database does not know it


@pytest.mark.parametrize("value", ["", "a", "a" * 42, "a" * 44, "é" * 43, "a" * 42 + ";"])
def test_a_cookie_that_was_not_made_here_is_nobodys(client: Client, value: str) -> None:
    headers = {"Cookie": f"{COOKIE}={value}"}
    other = client.application.test_client(use_cookies=False)  # else it leaves the header out
    other.post("/api/v1/claims", json={"claim": CLAIM}, headers=headers)
    assert owners(client) == [None]


@pytest.mark.parametrize("access", ["", "open"])
def test_only_its_owner_ends_a_claim_that_everybody_may_read(start: Start, access: str) -> None:
    owner = start(ESOTERIC_ACCESS=access)
    other, program = owner.another(), owner.another()
    address = submit(owner)
    submit(other, HARBOUR)
    for stranger in (other, program):
        assert stranger.get(address).status_code == 200
        for path in ("/cancel", "/delete"):
            page = stranger.post(address + path)
            assert page.status_code == 403
            assert "somebody else" in page.text
        for query in ("", "?forget=1"):
            assert refusal(stranger.delete(f"/api/v1{address}{query}")) == (403, "not_yours")
    assert owner.store.get(id_of(address)).state == "queued"
    assert owner.post(f"{address}/cancel").status_code == 303
    assert owner.store.get(id_of(address)).state == "cancelled"
    assert owner.delete(f"/api/v1{address}?forget=1").status_code == 204
    for anybody in (program, owner):
        own = program.sent("Programs have no cookies.")
        assert anybody.delete(f"/api/v1/claims/{own.id}").status_code == 200
    assert program.post("/claims/none/cancel").status_code == 404
    assert owner.get("/login").status_code == 404
    assert owner.get("/account").status_code == 404


# The history


def claims_in(page: str) -> list[str]:
    """Return the ids of the runs on the page, in order."""
    return re.findall(r'name="claim" value="(\w+)"', page)


def test_a_visitor_sees_the_own_claims_first_and_everyones_on_request(client: Client) -> None:
    second, stranger = client.another(), client.another()
    mine, theirs = id_of(submit(client)), id_of(submit(second, HARBOUR))
    assert client.get("/history").location == "/claims"
    assert claims_in(client.get("/claims").text) == [mine]
    assert claims_in(client.get("/claims?whose=all").text) == [theirs, mine]
    assert claims_in(stranger.get("/claims").text) == [theirs, mine]
    assert claims_in(stranger.get("/claims?whose=yours").text) == []
    assert claims_in(client.get("/claims?whose=yours&q=harbour").text) == []
    by_api = client.json("/api/v1/claims?whose=yours")
    assert [claim["id"] for claim in by_api["claims"]] == [mine]


def test_history_is_searched_and_paged(client: Client) -> None:
    assert "No claim has been checked yet." in words(client.get("/claims").text)
    for number in range(45):
        client.store.submit(f"Pier {number} is made of oak.", "esoteric")
    first = client.get("/claims").text
    assert "45 claims, newest first." in words(first)
    assert re.findall(r"Pier (\d+) is", first) == [str(n) for n in range(44, 24, -1)]
    assert 'href="/claims?whose=all&amp;page=2" rel="next"' in first
    last = client.get("/claims?page=3").text
    assert re.findall(r"Pier (\d+) is", last) == ["4", "3", "2", "1", "0"]
    assert client.get("/claims?page=99").text == last
    assert "1 claim with “PIER 44”" in words(client.get("/claims?q=PIER+44").text)
    assert "No claim has “granite” in it." in words(client.get("/claims?q=granite").text)


def test_runs_of_one_claim_stand_together_and_filters_choose_among_them(client: Client) -> None:
    first = client.done(claim_document(CLAIM, "SUPPORTS", 0.95))
    harbour, again = (client.store.submit(one, "m3")[0] for one in (HARBOUR, CLAIM))
    page = client.get("/claims").text
    assert claims_in(page) == [again.id, first.id, harbour.id]
    assert page.count(f"<bdi>{CLAIM}</bdi>") == 1
    assert client.get("/").text.count(f"<bdi>{CLAIM}</bdi>") == 1  # among the recent claims
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
            listed = client.json(f"/api/v1/claims?{query}")["claims"]
            assert {claim["id"] for claim in listed} == set(found)
    assert refusal(client.get("/api/v1/claims?verdict=soup")) == (400, "bad_filter")


def test_the_selected_claims_are_one_table_with_what_tells_them_apart(client: Client) -> None:
    done = client.done(claim_document(CLAIM, "SUPPORTS", 0.95))
    failed = client.store.submit("=1+1 is two.", "m3")[0]
    client.worker.fail(failed, EsotericError("no_index", "No index.", "Build it."))
    ids = [failed.id, done.id]
    answer = client.post("/claims/selected", data={"claim": ids, "do": "csv"})
    assert answer.mimetype == "text/csv"
    broken, right = csv.DictReader(answer.text.splitlines())
    shown = (broken["claim"], broken["state"], broken["error"])
    assert shown == ("'=1+1 is two.", "failed", "No index.")
    result = client.store.get(done.id).result
    assert result is not None
    shown = (right["verdict"], right["level"], right["confidence"])
    assert shown == ("SUPPORTS", "settled", "0.95")
    assert (right["recipe"], right["judge"]) == (done.recipe, result.verdict.judge)
    corpus = result.corpus
    assert (right["corpus"], right["indexed_at"]) == (result.corpus_title, corpus.built_at)
    assert right["sentence"] == result.selected[0].sentence
    assert "" not in (right["submitted_at"], right["finished_at"])
    whole = client.post("/claims/selected", data={"claim": ids, "do": "json"})
    assert json.loads(whole.text) == [client.json(f"/api/v1/claims/{one}") for one in ids]
    # Too few claims, or nothing to do.
    one = {"claim": ["a"]}
    for form in ({}, {"do": "delete"}, one | {"do": ["compare"]}, one | {"do": ["soup"]}):
        page = client.post("/claims/selected", data=form)
        assert page.status_code == 422
        assert "history" in page.text
    two = client.post("/claims/selected", data={"claim": ["a", "b\r\nc", "d"], "do": "compare"})
    assert (two.status_code, two.location) == (303, "/compare?claims=a,d")


def test_of_a_selection_with_another_visitors_claim_nothing_is_deleted(client: Client) -> None:
    mine, theirs = id_of(submit(client)), id_of(submit(client.another(), HARBOUR))
    form = {"claim": [mine, theirs], "do": "delete"}
    assert client.post("/claims/selected", data=form).status_code == 403
    assert len(owners(client)) == 2
    form["claim"] = [mine]
    assert client.post("/claims/selected", data=form).status_code == 303
    assert len(owners(client)) == 1


def test_a_visitor_takes_all_away_and_deletes_all(client: Client) -> None:
    ids = [id_of(submit(client, f"Pier {number} is made of oak.")) for number in range(60)]
    client.worker.finish(client.store.get(ids[0]), claim_document("Pier 0 is made of oak."))
    theirs = id_of(submit(client.another(), HARBOUR))
    client.post("/lists", data={"claims": "Varnby has a pier.\nIce is cold."})
    nobodys = client.done()
    for claim in (ids[0], nobodys.id):
        client.post(f"/claims/{claim}/feedback", data={"agrees": "1"})
    taken = json.loads(client.get("/yours.json").text)
    assert [claim["id"] for claim in taken["claims"]] == ids
    assert taken["claims"][0]["result"]["verdict"]["label"] == "SUPPORTS"
    assert len(taken["feedback"]) == 2
    (given,) = taken["lists"]
    row = {"claim": "Varnby has a pier.", "others": {}, "claim_id": None}
    assert given["rows"][0] == row
    assert json.loads(client.another().get("/yours.json").text)["claims"] == []
    assert client.post("/yours/delete").status_code == 303
    assert client.get_cookie(COOKIE) is None
    with pytest.raises(UnknownList):
        client.services.lists.get(given["id"])
    assert [job.id for job in client.store.recent(99)] == [nobodys.id, theirs]
    assert client.json("/api/v1/feedback")["feedback"] == []


# Deleted claims


def assert_gone(client: Client, job_id: str) -> None:
    """Assert that no address of the claim knows it, and that no list has it."""
    address = f"/api/v1/claims/{job_id}"
    for path in (address, f"{address}/progress", f"{address}/export?format=md"):
        assert refusal(client.get(path)) == (404, "unknown_claim")
    for path in (f"/claims/{job_id}", f"/claims/{job_id}/files/1"):
        page = client.get(path)
        assert page.status_code == 404
        assert "There is no claim with this id." in page.text
        assert "It may have been deleted." in page.text
    for path in ("/", "/claims", "/claims?q=Lighthouse"):
        assert job_id not in client.get(path).text


def test_a_claim_is_deleted_if_that_is_asked_for_and_no_log_names_it(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    address = f"/api/v1/claims/{client.done().id}"
    for value in ("yes", "", "2"):
        assert refusal(client.delete(f"{address}?forget={value}")) == (400, "bad_forget")
    for query in ("", "?forget=0"):
        assert client.delete(f"{address}{query}").get_json()["state"] == "done"
    assert client.get(address.removeprefix("/api/v1")).status_code == 200
    client.get("/claims", query_string={"q": "Lighthouse"})
    client.post("/claims", data={"claim": f"{CLAIM}\x00"})
    client.post("/api/v1/claims", data=json.dumps({"claim": CLAIM, "recipe": 3}))
    answer = client.delete(f"{address}?forget=1")
    assert (answer.status_code, answer.data) == (204, b"")
    assert_gone(client, id_of(address))
    assert refusal(client.delete(f"{address}?forget=1")) == (404, "unknown_claim")
    assert "Lighthouse" not in caplog.text


def test_a_running_claim_is_cancelled_and_deleted_at_once(client: Client) -> None:
    job = client.sent()
    run = client.worker.start(job)
    client.worker.record(run, FIRST_HOP[:3])
    assert client.delete(f"/api/v1/claims/{job.id}?forget=1").status_code == 204
    assert not RunStore(client.store.database).renew(run)
    assert_gone(client, job.id)


def test_the_page_asks_before_its_button_deletes_a_claim_however_it_ended(client: Client) -> None:
    done, failed, cancelled = client.done(), *(client.sent(f"{CLAIM} {n}") for n in range(2))
    client.worker.fail(failed, EsotericError("no_index", "No index.", "Build it."))
    client.store.cancel(cancelled.id)
    for job in (failed, cancelled, done):
        page = client.get(f"/claims/{job.id}").text
        asked = page.index("<summary>Delete this claim</summary>")
        assert "<details" in page[asked - 40 : asked]  # closed: without a script, too
        assert asked < page.index(f'action="/claims/{job.id}/delete" method="post"')
        assert client.get(f"/claims/{job.id}/delete").status_code == 405
        answer = client.post(f"/claims/{job.id}/delete")
        assert (answer.status_code, answer.location) == (303, "/claims")
        assert_gone(client, job.id)
        assert client.post(f"/claims/{job.id}/delete").status_code == 404
    assert "No claim has been checked yet." in client.get("/claims").text


# Feedback


def visitor(client: Client, letter: str) -> Client:
    other = client.another()
    other.set_cookie(COOKIE, letter * 43)
    return other


def all_feedback(client: Client, query: str = "") -> list[dict[str, Any]]:
    answer = client.json(f"/api/v1/feedback{query}")
    found: list[dict[str, Any]] = answer["feedback"]
    assert answer["total"] == len(found)
    return found


def exported(client: Client, name: str, folder: Path) -> Path:
    file = folder / f"{name}.jsonl"
    answer = client.get(f"/api/v1/feedback/export?format={name}")
    assert answer.status_code == 200
    file.write_bytes(answer.data)
    return file


def test_a_visitor_agrees_and_disagrees_on_the_page_the_last_word_counts(client: Client) -> None:
    address = f"/claims/{client.done().id}"  # supported, by two of three selected sentences
    assert 'aria-pressed="false"' in client.get(address).text
    answer = client.post(f"{address}/feedback", data={"agrees": "1"})
    assert (answer.status_code, answer.location) == (303, f"{address}#actions")
    assert 'aria-pressed="true"' in client.get(address).text
    form = {"label": "REFUTES", "wrong": ["2", "1"], "note": "  It was Ole Berg.\x00 "}
    assert client.post(f"{address}/feedback", data=form).status_code == 303
    (said,) = all_feedback(client, "?whose=yours")
    assert (said["agrees"], said["label"], said["verdict"]) == (False, "REFUTES", "SUPPORTS")
    assert (said["wrong"], said["note"], said["claim"]) == ([1, 2], "It was Ole Berg.", CLAIM)
    assert "You disagree: it should be “refuted”" in client.get(address).text
    assert "It was Ole Berg." in client.get("/feedback").text


def test_feedback_is_given_by_api_or_refused_if_it_is_not_as_described(client: Client) -> None:
    address = f"/api/v1/claims/{client.done().id}/feedback"
    wrong: list[Any] = [
        *({}, [], "yes", {"agrees": False}, {"agrees": False, "label": "FALSE"}),
        *({"agrees": True} | more for more in ({"wrong": [0]}, {"wrong": [5]}, {"wrong": "x"})),
        *({"agrees": True} | more for more in ({"note": "x" * 2001}, {"name": "x" * 101})),
        {"agrees": True, "soup": 1},
    ]
    for body in wrong:
        assert refusal(client.post(address, json=body)) == (422, "bad_feedback")
    assert all_feedback(client) == []
    answer = client.post(address, json={"agrees": True, "name": " I  H "})
    assert answer.status_code == 201
    assert (answer.get_json()["label"], answer.get_json()["name"]) == ("SUPPORTS", "I H")
    assert client.json(answer.headers["Location"]) == answer.get_json()
    assert all_feedback(client) == [answer.get_json()]
    pending = client.sent().id  # without a verdict
    answer = client.post(f"/api/v1/claims/{pending}/feedback", json={"agrees": True})
    assert refusal(answer) == (409, "not_done")
    assert client.post(f"/claims/{pending}/feedback", data={"agrees": "1"}).status_code == 409
    answer = client.post("/api/v1/claims/none/feedback", json={"agrees": True})
    assert refusal(answer) == (404, "unknown_claim")


def test_its_author_deletes_feedback_and_a_claim_takes_its_feedback_with_it(client: Client) -> None:
    author, other, done = visitor(client, "a"), visitor(client, "b"), client.done().id
    for one in (author, other):
        one.post(f"/claims/{done}/feedback", data={"agrees": "1"})
    (mine,) = all_feedback(author, "?whose=yours")
    address = f"/api/v1/feedback/{mine['id']}"
    assert refusal(other.delete(address)) == (403, "not_yours")
    assert other.post(f"/feedback/{mine['id']}/delete").status_code == 403
    assert author.post(f"/feedback/{mine['id']}/delete").status_code == 303
    assert refusal(author.get(address)) == (404, "unknown_feedback")
    assert len(all_feedback(author)) == 1
    assert author.delete(f"/api/v1/claims/{done}?forget=1").status_code == 204
    assert all_feedback(author) == []


def test_evaluation_and_training_read_the_export(client: Client, tmp_path: Path) -> None:
    done, doubtful = client.done(), client.done(document_with_doubt() | {"claim": "Doubt."})
    for job, said in (
        (done, {"agrees": True, "wrong": [2]}),
        # The only sentence that refutes it is labelled wrongly: no line.
        (done, {"agrees": False, "label": "REFUTES", "wrong": [4]}),
        (done, {"agrees": False, "label": "NOT ENOUGH INFO", "wrong": [1]}),
        (doubtful, {"agrees": False, "label": "REFUTES"}),
    ):
        assert client.post(f"/api/v1/claims/{job.id}/feedback", json=said).status_code == 201
    result, doubt = (client.store.get(job.id).result for job in (done, doubtful))
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
    soup = client.get("/api/v1/feedback/export?format=soup")
    assert refusal(soup) == (400, "unknown_format")
