"""The box of the first page: what it says before it is sent, and what is done then."""

from __future__ import annotations

from flask.testing import FlaskClient

from app.services import services_of
from tests.app.claim_documents import claim_document
from tests.app.test_pages import words
from tests.app.worker_by_hand import WorkerByHand
from tests.support.cases import cases
from worker.job_store import JobStore

TEXT = "Germany was reunited. Berlin is its capital."


def said(client: FlaskClient, text: str, **more: str) -> str:
    answer = client.post("/box", data={"claim": text, **more})
    assert answer.status_code == 200
    return answer.text


@cases("box", "text", "button", "sends", "also")
def test_the_box_says_what_it_will_do(
    client: FlaskClient, text: str, button: str, sends: str, also: str
) -> None:
    answer = said(client, text)
    assert f'data-button="{button}"' in answer
    assert f'data-as="{"" if sends == "list" and "list," in also else sends}"' in answer
    assert also in words(answer)
    page = client.get("/", query_string={"q": text}).text
    assert f">{button}</button>" in page
    assert also in words(page)
    assert services_of(client.application).store.recent(9) == []


@cases("box", "text", "kind", "rows")
def test_lines_make_a_list_and_sentences_a_text(
    client: FlaskClient, text: str, kind: str, rows: int
) -> None:
    answer = said(client, text)
    assert f'data-kind="{kind}"' in answer
    counted = {"list": f"Check {rows} claims", "text": f"A text of {rows} sentences."}
    assert counted.get(kind, "") in answer


def test_what_is_said_is_escaped(client: FlaskClient) -> None:
    for text in ("Is <b>tea</b> hot?", "<i>Tea is hot.</i>\n<b>", "<b>Tea</b> is. <i>Ice</i> is."):
        assert "<b>" not in said(client, text)
        assert "<i>" not in said(client, text)


def test_a_claim_that_was_checked_with_this_recipe_is_shown_first(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job, _ = store.submit("Tea is hot.", "combined")
    worker.finish(job, claim_document("Tea is hot."))
    for text in ("tea  is hot.", "Is tea hot?"):
        answer = said(client, text, recipe="combined")
        assert f'href="/claims/{job.id}"' in answer
        assert "Supported just now · Show the result" in words(answer)
    assert "Check again" in said(client, "Tea is hot.")
    assert "Show the result" not in said(client, "Tea is hot.", recipe="esoteric")
    assert "Show the result" not in said(client, "Tea is hot.", recipe="nonsense")


def test_a_text_never_gets_one_verdict_unasked(client: FlaskClient, store: JobStore) -> None:
    offered = client.post("/claims", data={"claim": TEXT})
    assert offered.status_code == 422
    assert 'formaction="/texts">Choose claims</button>' in offered.text
    assert f'<input type="hidden" name="text" value="{TEXT}">' in offered.text
    assert store.recent(9) == []
    as_list = client.post("/claims", data={"claim": TEXT, "as": "list"})
    assert "0 of 2 claims" in client.get(as_list.location).text
    as_one = client.post("/claims", data={"claim": TEXT, "as": "claim"})
    assert as_one.location.startswith("/claims/")
    assert [job.claim for job in store.recent(9)] == [TEXT]


def test_a_question_is_checked_as_its_statement_or_as_it_is(
    client: FlaskClient, store: JobStore
) -> None:
    client.post("/claims", data={"claim": "Is tea hot?", "as": "statement"})
    client.post("/claims", data={"claim": "Is tea hot?", "as": "claim"})
    client.post("/claims", data={"claim": "Is tea hot?"})
    assert [job.claim for job in store.recent(9)] == ["Is tea hot?", "Tea is hot."]


def test_lines_become_a_list_or_stay_in_the_box(client: FlaskClient, store: JobStore) -> None:
    answer = client.post("/claims", data={"claim": "Tea is hot.\r\nIce is cold.\r\n"})
    assert answer.location.startswith("/lists/")
    assert "0 of 2 claims" in client.get(answer.location).text
    assert store.recent(9) == []
    links = "http://a.example\nhttp://b.example"
    refused = client.post("/claims", data={"claim": links})
    assert refused.status_code == 422
    assert "None of these 2 rows is a claim." in refused.text
    assert f"{links}</textarea>" in refused.text
    many = "\n".join(f"Tea {number} is hot." for number in range(5001))
    assert "at most 5,000 claims, and this has 5,001" in words(said(client, many))
    assert client.post("/claims", data={"claim": many}).status_code == 422
