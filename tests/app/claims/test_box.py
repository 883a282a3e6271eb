"""The box of the first page: what it says before it is sent, and what is done then."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from app.services import services_of
from tests.app.claim_documents import claim_document
from tests.app.test_pages import words
from tests.app.worker_by_hand import WorkerByHand
from worker.job_store import JobStore

TEXT = "Germany was reunited. Berlin is its capital."


def said(client: FlaskClient, text: str, **more: str) -> str:
    answer = client.post("/box", data={"claim": text, **more})
    assert answer.status_code == 200
    return answer.text


@pytest.mark.parametrize(
    ("text", "button", "sends", "also"),
    [
        ("Tea is hot.", "Check", "", ""),
        ("Tea", "Check", "", ""),  # half a claim is no mistake yet
        ("Marie Curie", "Check", "", "A name alone states nothing that can be checked. Say"),
        ("Tea is hot.\nIce is cold.", "Check 2 claims", "list", "A list, one claim a line"),
        ("claim;who\nTea is hot.;A\nIce is cold.;B", "Check 2 claims", "", "A table, whose first"),
        (TEXT, "Choose claims", "list", "Check it as one claim"),
        ("Is tea hot?", "Check “Tea is hot.”", "statement", "Check the question as it is"),
        ("Who made tea?", "Check", "", "yes or no does not answer"),
        ("https://tea.example/hot", "Check", "", "this service opens no links. Paste the text"),
        ("Der Tee ist heiß und das Eis ist kalt.", "Check", "", "ESOTERIC reads English only."),
    ],
)
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


@pytest.mark.parametrize(
    ("text", "kind", "rows"),
    [
        ("\n  Tea is hot.\n\n", "claim", 1),
        ("", "claim", 1),
        ("J. K. Rowling met Dr. No in St. Ives.", "claim", 1),
        ("Tea is hot\n\nice is cold", "list", 2),
        ("tea is hot.\nice is cold.\nsnow is white.", "list", 3),
        ("Tea is hot. Ice is cold.\nSnow is white.", "text", 3),
        ("paris is the capital of france\nberlin is that of germany", "list", 2),
        # What only names the lines below it is none of them.
        ("Claims:\nTea is hot.\nIce is cold.", "list", 2),
        ("claim\nTea is hot.", "claim", 1),
        ("statement;speaker\nTea is hot. It is.;Ann\nIce is cold;Bo", "list", 2),
        ('claim,speaker\n"Tea is\nhot, he said.",Ann\n\nIce is cold,Bo', "list", 2),
        ("claim,claim\nTea is hot,Ice is cold", "list", 1),  # it is unclear which are meant
        # A sentence with commas names no columns.
        ("Claim, as he said, is simple\nA, b, c", "list", 2),
        ("Text, which is what people write most, is old\nIce is cold, wet, old", "list", 2),
        # As a mail or a PDF breaks lines.
        ("Tea that was poured into a cup of china by\nthe queen is hot.", "claim", 1),
        ("Tea is hot. Ice that was taken out of the sea\nby a whaler is cold.", "text", 2),
    ],
)
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


def test_lines_become_a_list_without_a_script_too(client: FlaskClient, store: JobStore) -> None:
    answer = client.post("/claims", data={"claim": "Tea is hot.\r\nIce is cold.\r\n"})
    assert answer.status_code == 303
    assert answer.location.startswith("/lists/")
    assert "0 of 2 claims" in client.get(answer.location).text
    assert store.recent(9) == []


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


def test_a_list_that_cannot_be_checked_stays_in_the_box(client: FlaskClient) -> None:
    links = "http://a.example\nhttp://b.example"
    refused = client.post("/claims", data={"claim": links})
    assert refused.status_code == 422
    assert "None of these 2 rows is a claim." in refused.text
    assert f"{links}</textarea>" in refused.text
    many = "\n".join(f"Tea {number} is hot." for number in range(5001))
    assert "at most 5,000 claims, and this has 5,001" in words(said(client, many))
    assert client.post("/claims", data={"claim": many}).status_code == 422
