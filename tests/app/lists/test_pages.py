"""Lists: submitted as a form, a file and by the API; shown, filtered, changed and exported."""

from __future__ import annotations

import codecs
import csv
import io
import json
from typing import get_args
from xml.etree import ElementTree

import openpyxl
import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.lists.export import LIST_EXPORTS, ListFormat
from app.lists.input import list_name
from app.result.export import FORMATS
from app.services import services_of
from retrieval.errors import EsotericError
from tests.app.claim_documents import claim_document
from tests.app.worker_by_hand import WorkerByHand
from tests.support.cases import cases
from worker.job_store import JobStore
from worker.list_store import ListStore

ATOM = "{http://www.w3.org/2005/Atom}"
TABLE = "speaker;claim\nSmith;Tea is hot.\nJones;https://example.org\n=1+1;Ice is cold.\n"


def upload(client: FlaskClient, address: str, name: str, content: bytes) -> TestResponse:
    return client.post(address, data={"file": (io.BytesIO(content), name)})


@pytest.fixture
def checked(app: Flask, client: FlaskClient, worker: WorkerByHand) -> str:
    """The address of a list that is done, in the API."""
    answer = upload(client, "/api/v1/lists", "speech.csv", TABLE.encode())
    assert answer.status_code == 202
    worker.finish_lists(services_of(app))
    address: str = answer.headers["Location"]
    return address


def test_a_list_without_a_name_has_that_of_its_first_claim_cut_to_80_characters() -> None:
    assert list_name("Tea is hot.", 1) == "“Tea is hot.”"
    assert list_name("Tea is hot.", 1_205) == "“Tea is hot.” and 1,204 more"
    # 80 characters without both quotation marks, " and 1 more" and the dots.
    assert list_name("a" * 99, 2) == f"“{'a' * 66}…” and 1 more"


@pytest.mark.parametrize(("address", "field"), [("/lists", "claims"), ("/claims", "claim")])
def test_a_pasted_table_keeps_its_columns_and_its_header_is_no_claim(
    client: FlaskClient, address: str, field: str
) -> None:
    table = "statement;speaker\nTea is hot.;Ann\nIce is cold. It <b>is</b>.;Bo\n"
    page = client.get(client.post(address, data={field: table}).location).text
    assert "0 of 2 claims" in page
    assert "<dt><bdi>speaker</bdi></dt> <dd><bdi>Ann</bdi></dd>" in page
    assert "Ice is cold. It &lt;b&gt;is&lt;/b&gt;." in page
    assert "<bdi>“Tea is hot.” and 1 more</bdi>" in client.get("/lists").text


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        *(
            ("speech.csv", TABLE.replace("Smith", "Müller").encode(encoding), "")
            for encoding in ("utf-8-sig", "utf-16", "cp1252")
        ),
        ("a.pdf", b"%PDF-1.7 \x00\x01", "is not a text, but a PDF"),
        ("a.xlsx", b"PK\x03\x04nonsense", "is damaged"),
        ("a.json", b"{}", "is not a list"),
        ("a.txt", bytes(range(1, 9)) * 9 + b"\n" + bytes(range(1, 9)), "None of these 2 rows"),
    ],
)
def test_a_file_keeps_its_columns_and_reasons_or_is_refused_with_one(
    client: FlaskClient, name: str, content: bytes, said: str
) -> None:
    answer = upload(client, "/lists", name, content)
    if said:
        refused = upload(client, "/api/v1/lists", name, content)
        assert (answer.status_code, refused.status_code) == (422, 422)
        assert said in answer.text
        assert said in refused.text
        return
    page = client.get(answer.location).text
    for shown in ("speech.csv", "Müller", "This is a link."):
        assert shown in page
    errors = client.get(f"{answer.location}?show=errors").text
    assert "https://example.org" in errors
    assert "Tea is hot." not in errors


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ("", "There is no claim in this list."),
        ("  \n \n", "There is no claim in this list."),
        ("Tea is hot.", "A list has at least two claims, and this has one."),
        ("Tea is hot.\n" * 5001, "more than 5,000 claims.</strong> Divide it into lists of at"),
        ("http://a.example\nhttp://b.example", "None of these 2 rows is a claim. Line 1: This is"),
        ("id\tsentence\n1\tTea is hot.", "The columns are: &#39;id&#39;, &#39;sentence&#39;"),
    ],
    ids=["empty", "blank", "one", "too many", "links", "columns"],
)
def test_what_is_no_list_is_refused_and_stays_in_the_form(
    client: FlaskClient, claims: str, said: str
) -> None:
    answer = client.post("/lists", data={"claims": claims, "name": "Mine"})
    assert answer.status_code == 422
    assert said in answer.text
    assert f"{claims}</textarea>" in answer.text
    assert 'value="Mine"' in answer.text
    assert ListStore(services_of(client.application).database).recent(None, 9) == []


def test_a_corpus_that_is_not_there_is_named_before_the_list_is_made(client: FlaskClient) -> None:
    claims = "Tea is hot.\nIce is cold."
    for address, field in (("/lists", "claims"), ("/claims", "claim")):
        refused = client.post(address, data={field: claims, "corpora": "nowhere"})
        assert refused.status_code >= 400
        assert f"{claims}</textarea>" in refused.text
    body = json.dumps({"claims": ["Tea is hot."], "corpora": ["nowhere"]})
    sent = client.post("/api/v1/lists", data=body, content_type="application/json")
    assert sent.get_json()["error"]["code"] == "unknown_corpus"
    assert ListStore(services_of(client.application).database).recent(None, 9) == []


def test_the_api_takes_claims_with_columns_and_returns_them_with_verdicts(
    app: Flask, client: FlaskClient, worker: WorkerByHand
) -> None:
    claims = ["Tea is hot.", {"claim": "Ice is cold.", "id": 7, "odd": "a\ud800"}, {"claim": "5"}]
    body = json.dumps({"claims": claims, "name": "Speech", "recipe": "esoteric"})
    sent = client.post("/api/v1/lists", data=body, content_type="application/json")
    assert (sent.status_code, sent.get_json()["total"], sent.get_json()["finished"]) == (202, 3, 1)
    worker.finish_lists(services_of(app))
    status = client.get(sent.headers["Location"]).get_json()
    assert (status["state"], status["finished"], status["recipe"]) == ("done", 3, "esoteric")
    assert status["counts"]["supported"] == 2
    rows = client.get(status["links"]["results"]).get_json()["rows"]
    assert [row["state"] for row in rows] == ["done", "done", "refused"]
    assert rows[1]["row"] == {"id": 7, "odd": "a\ufffd"}
    assert rows[1]["verdict"]["label"] == "SUPPORTS"
    assert rows[2]["error"]["code"] == "claim_no_letters"
    assert client.get(rows[0]["links"]["self"]).get_json()["recipe"] == "esoteric"


@cases("list_bodies", "body", "code")
def test_a_wrong_submission_says_what_is_wrong(client: FlaskClient, body: str, code: str) -> None:
    answer = client.post("/api/v1/lists", data=body, content_type="application/json")
    assert answer.status_code in (400, 422)
    assert answer.get_json()["error"]["code"] == code


def test_events_send_the_state_until_the_list_has_ended(client: FlaskClient, checked: str) -> None:
    sent = client.get(f"{checked}/events")
    assert sent.mimetype == "text/event-stream"
    retry, number, event, data = sent.text.strip().split("\n")
    assert (retry, event) == ("retry: 2000", "event: state")
    assert json.loads(data.partition(" ")[2]) == client.get(checked).get_json()
    again = client.get(f"{checked}/events", headers={"Last-Event-ID": number.partition(" ")[2]})
    assert again.status_code == 204  # an EventSource asks no more


def test_an_export_has_her_columns_and_no_formula(client: FlaskClient, checked: str) -> None:
    text = client.get(f"{checked}/export?format=csv").data.decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=";"))
    assert LIST_EXPORTS.keys() == set(get_args(ListFormat))
    page = client.get(checked.removeprefix("/api/v1")).text
    for name in LIST_EXPORTS.keys() - {"claimreview"}:
        assert f'/export?format={name}" download>{FORMATS[name].label}</a>' in page
    assert [row["speaker"] for row in rows] == ["Smith", "Jones", "'=1+1"]
    assert [row["verdict"] for row in rows] == ["SUPPORTS", "", "SUPPORTS"]
    assert rows[1]["error"].startswith("This is a link.")
    book = openpyxl.load_workbook(io.BytesIO(client.get(f"{checked}/export?format=xlsx").data))
    cells = list(book.active.iter_rows(values_only=True))
    assert cells[0][:3] == ("speaker", "claim", "verdict")
    assert cells[3][:3] == ("'=1+1", "Ice is cold.", "SUPPORTS")
    lines = client.get(f"{checked}/export?format=jsonl").text.splitlines()
    first, second, _ = map(json.loads, lines)
    assert (first["claim"], first["row"]) == ("Tea is hot.", {"speaker": "Smith"})
    assert second["error"]["code"] == "claim_link"
    page = client.get(f"{checked}/results?page=2&limit=2").get_json()
    assert ([row["number"] for row in page["rows"]], page["total"], page["pages"]) == ([3], 3, 2)
    errors = client.get(f"{checked}/results?show=errors").get_json()
    assert [row["claim"] for row in errors["rows"]] == ["https://example.org"]


def test_an_export_is_named_as_the_file_and_has_its_columns_in_their_order(
    app: Flask, client: FlaskClient, worker: WorkerByHand
) -> None:
    table = "No;Statement;verdict\n1;Tea is hot.;open\n2;Ice is cold.;open\n"
    data = {"file": (io.BytesIO(table.encode()), "../Wahl|kampf ü.csv"), "name": "Mine"}
    address = client.post("/lists", data=data).location
    worker.finish_lists(services_of(app))
    sent = client.get(f"/api/v1{address}/export?format=csv")
    named = sent.headers["Content-Disposition"]
    assert "filename*=UTF-8''Wahl-kampf%20%C3%BC-verdicts.csv" in named
    assert sent.data.startswith(codecs.BOM_UTF8)
    exported = csv.reader(io.StringIO(sent.data.decode("utf-8-sig"), newline=""), delimiter=";")
    header, first, _ = exported
    assert header[:4] == ["No", "Statement", "verdict (input)", "verdict"]
    assert first[:4] == ["1", "Tea is hot.", "open", "SUPPORTS"]
    row = dict(zip(header, first, strict=True))
    assert row["in words"] == "Supported"
    labels, sentences = row["evidence labels"].splitlines(), row["evidence"].splitlines()
    assert labels[0] == "Supports 93%"
    assert len(labels) == len(sentences)
    assert row["part by part"] == ""
    assert row["confidence"] == "0,93"  # semicolons are of spreadsheets with a decimal comma
    assert row["link"].startswith("http://localhost/claims/")
    assert row["finished_at"][:2] == "20"


def test_rows_without_a_verdict_are_shown_by_what_happened_to_them(
    app: Flask, client: FlaskClient, worker: WorkerByHand, store: JobStore
) -> None:
    claims = "Tea is hot.\nhttps://a.example\nIce is cold.\nSnow is white.\n" + "a " * 1000 + "a"
    address = client.post("/lists", data={"claims": claims}).location
    worker.feed(services_of(app))
    for job in store.recent(9):
        if job.claim.startswith("Tea"):
            worker.fail(store.get(job.id), EsotericError("worker_lost", "It is gone.", "Again."))
    client.post(f"{address}/cancel")
    counts = client.get(f"/api/v1{address}").get_json()["counts"]
    known = {name: counts[name] for name in ("refused", "failed", "cancelled", "unfinished")}
    assert known == {"refused": 2, "failed": 1, "cancelled": 1, "unfinished": 1}
    assert counts["errors"] == 4
    page = client.get(address).text
    for name, said in (("refused", "Not a claim"), ("failed", "Failed")):
        shown = client.get(f"{address}?show={name}").text
        assert f'show={name}"' in page
        assert f'aria-current="true">{said} ' in shown
    # What can be done is said with what is wrong.
    assert "The claim is 2001 characters long; at most 500 can be checked. Check one" in page


def test_a_list_is_paused_continued_cancelled_and_deleted_by_its_visitor_alone(
    app: Flask, client: FlaskClient
) -> None:
    address = client.post("/lists", data={"claims": "Tea is hot.\nIce is cold."}).location
    other = app.test_client()
    assert "Tea is hot." in other.get(address).text
    assert "Pause" not in other.get(address).text
    assert "Tea is hot." not in other.get("/lists").text
    assert other.delete(f"/api/v1{address}").status_code == 403
    for change, state in (("pause", "paused"), ("go-on", "running"), ("cancel", "cancelled")):
        assert other.post(f"{address}/{change}").status_code == 403
        assert client.post(f"{address}/{change}").location == address
        assert client.get(f"/api/v1{address}").get_json()["state"] == state
    assert other.post(f"{address}/delete").status_code == 403
    assert client.post(f"{address}/delete").location == "/lists"
    for gone in (address, f"/api/v1{address}", f"/api/v1{address}/export"):
        assert client.get(gone).status_code == 404


def test_a_row_opens_in_place_with_what_is_for_and_against_it(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    claims = {"claims": ["Tea <i>is</i> hot.", "Ice is cold."]}
    address = client.post("/api/v1/lists", json=claims).headers["Location"]
    worker.feed(services_of(client.application))
    found = claim_document("Tea <i>is</i> hot.", confidence=0.6)
    found["evidence"][1] |= {"stance": "REFUTES", "sentence": "Tea is never hot."}
    found["verdict"]["disagreement"] = [2]
    found["evidence"][1]["url"] = "javascript:alert(1)"
    (job,) = [one for one in store.recent(9) if one.claim.startswith("Tea")]
    worker.finish(store.get(job.id), found)

    row = f"{address.replace('/api/v1', '')}/rows/1"
    assert f'data-opens="{row}"' in client.get(row.rpartition("/rows")[0]).text
    opened = client.get(row).text
    assert "Probably supported" in opened
    assert "Supports</span> “<bdi>It was built in 1874 by the engineer Ida Holm" in opened
    assert ' href="https://en.wikipedia.org/wiki/Lighthouse_of_Varn#:~:text=' in opened
    against = opened[opened.index("Refutes</span> “") :]
    assert against[: against.index("</li>")].count("<a ") == 0
    assert f'href="/claims/{job.id}"' in opened
    assert "<i>is" not in opened
    client.post(f"/claims/{job.id}/feedback", data={"agrees": "0", "label": "REFUTES"})
    assert "0 people agree with this verdict, 1 disagrees." in client.get(row).text

    results = f"{address}/results?show="
    for shown in ("divided", "disputed"):
        assert [one["number"] for one in client.get(results + shown).get_json()["rows"]] == [1]
    for number in ("2", "3", "0", "99999999999999999999"):  # the second row has no verdict yet
        assert client.get(f"{row[:-1]}{number}").status_code == 404
    assert client.get("/lists/none/rows/1").status_code == 404


def test_a_row_is_edited_and_checked_again_and_the_list_goes_on_with_it(
    app: Flask, client: FlaskClient, worker: WorkerByHand
) -> None:
    claims = "No\tclaim\n1\tTea is hot.\n2\tDie Erde ist rund und nicht flach.\n7\tIce is cold.\n"
    address = client.post("/lists", data={"claims": claims}).location
    worker.finish_lists(services_of(app))
    page = client.get(address).text
    assert page.count("<dt><bdi>No</bdi></dt>") == 1  # the row's own number is not said twice
    assert "Not English" in page
    assert page.count("Check anyway<") == 1

    row = f"{address}/rows/2"
    assert app.test_client().post(row, data={"claim": "Snow is white."}).status_code == 403
    refused = client.post(row, data={"claim": "Wer hat das gesagt und warum?"})
    assert refused.status_code == 422
    assert "Wer hat das gesagt und warum?</textarea>" in refused.text
    for number in ("0", "4", "9" * 30):
        none = client.post(f"{address}/rows/{number}", data={"claim": "Snow is white."})
        assert none.status_code == 404
    assert client.post(row, data={"claim": "Snow is white."}).location == f"{address}#row-2"
    assert client.post(row, data={"claim": "Snow is cold."}).status_code == 409  # it waits
    assert client.get(f"/api/v1{address}").get_json()["state"] == "running"
    worker.finish_lists(services_of(app))
    rows = client.get(f"/api/v1{address}/results").get_json()["rows"]
    assert [one["claim"] for one in rows] == ["Tea is hot.", "Snow is white.", "Ice is cold."]
    assert [one["state"] for one in rows] == ["done"] * 3
    assert client.get(f"/api/v1{address}").get_json()["state"] == "done"
    assert (
        client.post(row, data={"claim": "Es ist kalt und nass.", "anyway": "1"}).status_code == 303
    )


def test_rows_are_sorted_by_verdict_and_by_certainty_which_they_say(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    claims = {"claims": ["Tea is hot.", "Ice is cold.", "Snow is white.", "Coal is black.", "7"]}
    address = client.post("/api/v1/lists", json=claims).headers["Location"]
    verdicts = {
        "Tea is hot.": ("SUPPORTS", 0.7),
        "Ice is cold.": ("NOT ENOUGH INFO", 0.99),
        "Snow is white.": ("REFUTES", 0.8),
        "Coal is black.": ("SUPPORTS", 0.9),
    }
    for _ in range(2):  # two claims at a time
        worker.feed(services_of(client.application))
        for job in store.recent(9):
            if job.state == "queued":
                document = claim_document(job.claim, *verdicts[job.claim])
                worker.finish(store.get(job.id), document)

    def order(sort: str) -> list[int]:
        rows = client.get(f"{address}/results?sort={sort}").get_json()["rows"]
        return [one["number"] for one in rows]

    assert order("row") == [1, 2, 3, 4, 5]
    assert order("verdict") == [3, 4, 1, 2, 5]
    assert order("certainty") == [4, 3, 1, 2, 5]
    page = client.get(f"{address.removeprefix('/api/v1')}?sort=certainty").text
    assert page.index("<bdi>Coal is black.") < page.index("<bdi>Snow is white.")
    assert '<span class="meta">90% sure</span>' in page
    assert "99%" not in page


def test_lists_that_are_done_are_in_the_feed_of_their_visitor(
    app: Flask, client: FlaskClient, worker: WorkerByHand
) -> None:
    done = client.post(
        "/lists", data={"claims": "Tea is hot.\nIce is <b>cold</b>.", "name": "<A\x01>"}
    )
    worker.finish_lists(services_of(app))
    client.post("/lists", data={"claims": "Snow is white.\nCoal is black.", "name": "Open"})
    sent = client.get("/lists/feed")
    assert sent.mimetype == "application/atom+xml"
    (entry,) = ElementTree.fromstring(sent.data).iter(f"{ATOM}entry")
    assert entry.findtext(f"{ATOM}title") == "<A>"
    assert entry.findtext(f"{ATOM}id") == f"http://localhost{done.location}"
    assert (entry.findtext(f"{ATOM}summary") or "").startswith("2 claims: 0 refuted, 2 supported")
    assert b"<entry>" not in app.test_client().get("/lists/feed").data


@pytest.mark.models
def test_an_opinion_is_left_out_if_that_is_wanted_and_can_be_checked_anyway(
    app: Flask, client: FlaskClient, worker: WorkerByHand
) -> None:
    claims = "Oslo is the capital of Norway.\nI think that it is an ugly city.\nVote on Sunday!"
    address = client.post("/lists", data={"claims": claims, "facts": "1"}).location
    page = client.get(address).text
    assert [said in page for said in ("Opinion", "Call or greeting")] == [True, True]
    assert client.get(f"/api/v1{address}").get_json()["counts"]["refused"] == 2
    opinion = {"claim": "I think that it is an ugly city.", "anyway": "1"}
    client.post(f"{address}/rows/2", data=opinion)
    worker.finish_lists(services_of(app))
    assert client.get(f"/api/v1{address}").get_json()["counts"]["supported"] == 2
    whole = client.post("/lists", data={"claims": claims}).location
    assert client.get(f"/api/v1{whole}").get_json()["counts"]["refused"] == 0
