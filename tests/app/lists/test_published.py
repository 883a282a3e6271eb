"""A list as it is published: one page, a PDF, and the ClaimReviews of what people confirmed."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from pypdf import PdfReader

from app import create_app
from app.services import services_of
from settings import Settings
from tests.app.claim_documents import claim_document
from tests.app.worker_by_hand import WorkerByHand

SITE = "https://check.example.org"
ROWS = """\
claim,speaker,appearance,said_on
Tea is <b>hot</b>.,Ada Berg,https://talks.example/tea,2026-11-02
Ice is warm.,Bo </script>,Radio Varn,last spring
Snow is white.,,,
Das ist nicht auf Englisch und wird nicht geprüft.,Cy,,
Tea is <b>hot</b>.,Di Ek,,2026-11-03
"""
LABELS = {"Ice is warm.": "REFUTES", "Snow is white.": "NOT ENOUGH INFO"}
TEXT, DATE, ADDRESS, NUMBER = "Text", "Date", "URL", "Number"
# Of schema.org: what a thing must have, what else it has here, and of which types each is.
REQUIRED: dict[str, dict[str, set[str]]] = {
    "ClaimReview": {
        "url": {ADDRESS},
        "datePublished": {DATE},
        "author": {"Person"},
        "claimReviewed": {TEXT},
        "itemReviewed": {"Claim"},
        "reviewRating": {"Rating"},
    },
    "Claim": {"text": {TEXT}},
    "Rating": {"alternateName": {TEXT}},
    "Person": {"name": {TEXT}},
    "CreativeWork": {},
    "CollectionPage": {"name": {TEXT}, "url": {ADDRESS}},
}
OPTIONAL: dict[str, dict[str, set[str]]] = {
    "ClaimReview": {"citation": {"CreativeWork"}, "isPartOf": {"reference"}},
    "Claim": {
        "author": {"Person"},
        "contributor": {"Person"},
        "appearance": {"CreativeWork"},
        "datePublished": {DATE},
        "temporal": {TEXT},
    },
    "Rating": {
        "ratingExplanation": {TEXT},
        "ratingValue": {NUMBER},
        "bestRating": {NUMBER},
        "worstRating": {NUMBER},
    },
    "Person": {"description": {TEXT}},
    "CreativeWork": {
        "name": {TEXT},
        "text": {TEXT},
        "url": {ADDRESS},
        "creditText": {TEXT},
        "datePublished": {DATE},
        "temporal": {TEXT},
    },
    "CollectionPage": {"dateCreated": {DATE}},
}


def types_of(value: Any) -> set[str]:
    """Return what schema.org calls the type of a value."""
    if isinstance(value, dict):
        return {value.get("@type", "reference")}
    if not isinstance(value, str):
        return {NUMBER}
    found = {TEXT}
    if re.match(r"https?://\S+\Z", value):
        found.add(ADDRESS)
    try:
        date.fromisoformat(value)
    except ValueError:
        return found
    return found | {DATE}


def faults(thing: dict[str, Any]) -> Iterator[str]:
    """Yield what a thing lacks of its shape, and what is not of the right type."""
    kind = thing.get("@type")
    if kind is None:  # a reference has nothing else
        yield from (f"reference.{name}" for name in thing.keys() - {"@id"})
        return
    yield from (f"{kind} without {name}" for name in REQUIRED[kind].keys() - thing.keys())
    shape = REQUIRED[kind] | OPTIONAL[kind]
    for name, values in thing.items():
        if name.startswith("@"):
            continue
        for value in values if isinstance(values, list) else [values]:
            if not types_of(value) & shape.get(name, set()):
                yield f"{kind}.{name}: {value}"
            if isinstance(value, dict):
                yield from faults(value)


@pytest.fixture
def app(settings: Settings) -> Iterator[Flask]:
    app = create_app(replace(settings, public_url=SITE))
    yield app
    services_of(app).close()


@pytest.fixture
def address(app: Flask, client: FlaskClient) -> str:
    """The address in the API of a list that is done, with three verdicts for five rows."""
    here = services_of(app)
    worker = WorkerByHand(here.store)
    sent = {"file": (io.BytesIO(ROWS.encode()), "debate.csv"), "name": "The <i>debate</i>"}
    found: str = client.post("/api/v1/lists", data=sent).headers["Location"]
    while worker.feed(here):
        for one in here.store.recent(9):
            if one.state == "queued":
                job = here.store.get(one.id)
                worker.finish(job, claim_document(job.claim, LABELS.get(job.claim, "SUPPORTS")))
    return found


def confirm(client: FlaskClient, address: str, *numbers: int) -> None:
    rows = client.get(f"{address}/results").get_json()["rows"]
    for number in numbers:
        feedback = f"{rows[number - 1]['links']['self']}/feedback"
        assert client.post(feedback, json={"agrees": True, "name": "Ida"}).status_code == 201


def test_a_list_is_one_page_with_its_address_and_who_said_what_when(
    client: FlaskClient, address: str
) -> None:
    confirm(client, address, 2, 3)  # the third says neither true nor false
    sent = client.get(f"{address}/export?format=html")
    assert sent.mimetype == "text/html"
    assert sent.content_length is None  # it is sent while the rows are read
    page = sent.text
    assert not re.search(r"<link rel=.stylesheet|<script src|<img|url\(", page)
    here = f"{SITE}{address.removeprefix('/api/v1')}"
    assert f'<link rel="canonical" href="{here}">' in page
    assert "<bdi>The &lt;i&gt;debate&lt;/i&gt;</bdi>" in page
    assert "5 claims: 1 refuted, 2 supported, 1 not settled, 1 without a verdict" in page
    assert "<bdi>Ada Berg, https://talks.example/tea, 2026-11-02</bdi> · checked on" in page
    assert "<bdi>Di Ek, 2026-11-03</bdi> · checked on" in page  # of the row, though checked once
    assert "It was built in 1874 by the engineer Ida Holm" in page
    assert "No verdict: This does not look like English" in page
    assert "confirmed by <bdi>Ida</bdi>" in page
    review = json.loads(page.split('<script type="application/ld+json">')[1].split("</script>")[0])
    assert review["claimReviewed"] == "Ice is warm."
    assert "<b>" not in page
    assert page.count("<script") == 1
    assert page.rstrip().endswith("</html>")


def test_a_graph_has_a_review_of_each_verdict_that_is_decided_and_confirmed(
    client: FlaskClient, address: str
) -> None:
    export, page = f"{address}/export?format=claimreview", address.removeprefix("/api/v1")
    confirm(client, address, 3)  # it says neither true nor false
    refused = client.get(export)
    assert (refused.status_code, refused.get_json()["error"]["code"]) == (409, "not_confirmed")
    assert "is supported or refuted, and" in refused.get_json()["error"]["message"]
    assert "ClaimReview: once a “supported” or “refuted” is confirmed" in client.get(page).text
    confirm(client, address, 1, 2)
    assert f'{export}" download>ClaimReview</a>' in client.get(page).text
    sent = client.get(export)
    graph = json.loads(sent.text)
    assert (sent.mimetype, graph["@context"]) == ("application/ld+json", "https://schema.org")
    whole, *reviews = graph["@graph"]
    assert [fault for thing in graph["@graph"] for fault in faults(thing)] == []
    assert (whole["@id"], whole["name"]) == (f"{SITE}{page}", "The <i>debate</i>")
    named = [
        (one["claimReviewed"], one["itemReviewed"]["author"]["name"], one["author"]["name"])
        for one in reviews
    ]
    tea = "Tea is <b>hot</b>."
    ice = ("Ice is warm.", "Bo </script>", "Ida")
    assert named == [(tea, "Ada Berg", "Ida"), ice, (tea, "Di Ek", "Ida")]
    assert [one["reviewRating"]["ratingValue"] for one in reviews] == [5, 1, 5]
    assert reviews[1]["itemReviewed"]["temporal"] == "last spring"  # no date of schema.org
    assert {one["isPartOf"]["@id"] for one in reviews} == {f"{SITE}{page}"}
    assert "</script>" not in sent.text
    row = client.get(f"{address}/results").get_json()["rows"][0]
    one = json.loads(client.get(f"{row['links']['export']}?format=claimreview").text)
    assert list(faults(one)) == []
    assert one == {"@context": graph["@context"]} | {
        name: value for name, value in reviews[0].items() if name != "isPartOf"
    }


def test_a_pdf_has_every_row_and_says_when_there_are_too_many(
    client: FlaskClient, address: str
) -> None:
    confirm(client, address, 1)
    file = client.get(f"{address}/export?format=pdf")
    assert file.mimetype == "application/pdf"
    pages = PdfReader(io.BytesIO(file.data)).pages
    text = " ".join(" ".join(page.extract_text() for page in pages).split())
    assert "The <i>debate</i> 5 claims: 1 refuted, 2 supported" in text
    assert "2 Bo </script>, Radio Varn, last spring · checked on" in text
    assert "confirmed by Ida" in text
    assert "No verdict: This does not look like English" in text
    assert f"({SITE}{address.removeprefix('/api/v1')})".encode() in file.data  # a link
    claims = [f"Tea {number} is hot." for number in range(1000)]
    many = {"claims": [*claims, ""], "name": "Many\r\n\u202eteas"}
    long = client.post("/api/v1/lists", json=many).headers["Location"]
    refused = client.get(f"{long}/export?format=pdf")
    assert refused.status_code == 409
    said = refused.get_json()["error"]
    assert said["code"] == "too_many_for_format"  # which is no limit of clients
    assert said["message"] == "A PDF holds at most 1,000 rows, and this list has 1,001."
    assert "Export it as a web page" in said["hint"]
    assert "PDF: at most 1,000 rows" in client.get(long.removeprefix("/api/v1")).text
    page = client.get(f"{long}/export?format=html").text
    assert "<title>Many teas</title>" in page
    assert "No verdict: Not checked yet." in page
    assert "<bdi>Row 1001</bdi></h2>" in page  # no heading is empty
