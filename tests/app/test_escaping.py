"""Hostile claims and corpora are shown on the pages, escaped; all of Unicode is in every file."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from typing import Any, get_args

import openpyxl
import pytest
from markdown_it import MarkdownIt
from werkzeug.test import TestResponse

from app.comparisons.files import FILES
from app.filters import safe_url
from app.lists.export import ListFormat
from app.result.export import EXPORTS
from research.benchmarks.hostile.pieces import Piece, Source, read_pieces
from retrieval.errors import EsotericError
from retrieval.llm_judge.prompt import visible
from tests.app.claim_documents import MODEL, claim_document, document_with_proof, opinion
from tests.app.client import CLAIM, Client
from tests.support.cases import cases
from worker.feedback_store import FeedbackStore, Said
from worker.run_store import RunStore

HOSTILE = "\"><script>alert('x')</script><img src=x onerror=alert(1)>{{ 7777 * 7777 }}</textarea>"


class Elements(HTMLParser):
    """Collects the elements of a page with their attributes, in order; ``/p``: the end of one."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.found.append((f"/{tag}", {}))


def assert_harmless(page: str) -> None:
    for tag, attributes in Elements(page).found:
        assert tag not in ("img", "iframe", "object", "embed", "base", "style")
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        if tag == "script":
            assert (attributes["src"] or "").startswith("/static/")
        for name in ("href", "src", "action"):
            assert (attributes.get(name) or "/").startswith(("/", "#", "http://", "https://"))
    assert "60481729" not in page.split("<main")[1].split("</main")[0]


def test_a_hostile_corpus_and_claim_are_shown_and_do_nothing(client: Client) -> None:
    result = claim_document(HOSTILE)
    result["notices"] = [HOSTILE]
    result["corpus"]["name"] = HOSTILE
    result["corpus"] |= {"built_at": HOSTILE, "text_date": HOSTILE}
    result["verdict"] |= {"rationale": HOSTILE, "judge": HOSTILE}
    result["questions"] = [{"text": HOSTILE, "answer_span": None, "kind": "polar"}]
    result["seconds"] = {"total": 1.0, HOSTILE: 0.5}
    addresses = ["javascript:alert(1)", "data:text/html,x", " https://x.example", "//x.example"]
    for evidence, document, address in zip(
        result["evidence"], result["documents"], addresses, strict=True
    ):
        evidence |= {"title": HOSTILE, "sentence": HOSTILE, "url": address, "section": HOSTILE}
        evidence |= {"context_before": HOSTILE, "context_after": HOSTILE, "computed": [HOSTILE]}
        document |= {"title": HOSTILE, "text": HOSTILE * 9, "url": address, "section": HOSTILE}
        document |= {"source": HOSTILE}
        document["found_by"] = [HOSTILE]
    result["documents"][2]["led_by"] = [HOSTILE, 0]
    job = client.done(result)
    page = client.get(f"/claims/{job.id}").text
    assert_harmless(page)
    assert "javascript:" not in page
    assert "x.example" not in page
    assert page.count("&lt;script&gt;alert(") > 20
    result["evidence"][0]["document"] = HOSTILE
    other = client.done(result | {"recipe": "m3"}, "m3")
    compared = client.get(f"/compare?claims={job.id},{other.id},{HOSTILE.replace(',', '')}").text
    assert_harmless(compared)
    assert "javascript:" not in compared
    assert compared.count("&lt;script&gt;alert(") > 20
    assert_harmless(client.get("/compare", query_string={"claim": HOSTILE}).text)
    for path in ("/", "/claims", "/claims?q=%3Cscript%3Ealert(1)%3C/script%3E"):
        assert_harmless(client.get(path).text)


@pytest.mark.parametrize("offsets", [(0, 8), (-7, 400), (40, 2), (10**9, 10**10)])
def test_a_hostile_proof_with_odd_offsets_is_harmless(
    client: Client, offsets: tuple[int, int]
) -> None:
    result = {**document_with_proof(), "claim": HOSTILE}
    for evidence in result["evidence"]:
        evidence["sentence"] = HOSTILE
        evidence["path"] = [[HOSTILE, 0], ["Ida Holm", 10**9]]
    for read in result["documents"]:
        read |= {"title": HOSTILE, "text": HOSTILE}
    result["evidence"][0]["document"] = HOSTILE
    keys = [(HOSTILE, 1), ("Ida Holm", 0), ("Lighthouse of Varn", 0), ("Ida Holm", 1)]
    result["proof"] = [
        {"claim_span": list(span), "operator": operator, "evidence": [*key, *offsets]}
        for span in (offsets, (5, 30), (20, 60))
        for operator in ("equivalence", "alternation", "negation")
        for key in keys
    ]
    result["proof"].append({"claim_span": [5, 30], "operator": "independence", "evidence": None})
    result["documents"][1]["led_by"] = ["Lighthouse of Varn", 1]
    result["documents"][2]["led_by"] = [HOSTILE, -4]
    result["hops"][0]["missing"] = [list(offsets), [5, 30]]
    job = client.done(result)
    said = {"agrees": True, "name": HOSTILE[:100], "note": HOSTILE}
    assert client.post(f"/api/v1/claims/{job.id}/feedback", json=said).status_code == 201
    assert_harmless(client.get("/feedback").text)
    assert_harmless(client.get("/claims").text)
    page = client.get(f"/claims/{job.id}")
    assert page.status_code == 200
    assert_harmless(page.text)
    assert 'class="drawn"' in page.text
    for name in ("json", "md", "csv", "claimreview"):
        answer = client.get(f"/api/v1/claims/{job.id}/export?format={name}")
        assert answer.status_code == 200


def test_hostile_progress_errors_and_forms_do_nothing(client: Client) -> None:
    job = client.store.submit(HOSTILE, "esoteric")[0]
    run = client.worker.start(job)
    client.worker.record(run, (("start", HOSTILE), ("spans", HOSTILE), ("questions", HOSTILE)))
    assert_harmless(client.get(f"/claims/{job.id}").text)
    error = EsotericError(HOSTILE, HOSTILE, HOSTILE)
    assert RunStore(client.store.database).fail(run, error)
    assert_harmless(client.get(f"/claims/{job.id}").text)
    assert_harmless(client.post("/claims", data={"claim": HOSTILE + "\x07"}).text)
    assert_harmless(client.get(f"/{HOSTILE}").text)


def test_text_in_either_direction_is_kept_from_its_surroundings(client: Client) -> None:
    claim = "\u202e\u05e9\u05dc\u05d2 \u05dc\u05d1\u05df."
    job = client.done(claim_document(claim))
    assert f'id="claim-text"><bdi>{claim}</bdi></h1>' in client.get(f"/claims/{job.id}").text
    assert f"<bdi>{claim}</bdi>" in client.get("/claims").text


@cases("addresses_of_pages", "url")
def test_only_addresses_of_the_web_become_links(url: str | None) -> None:
    assert safe_url(url) is None
    for one in (
        *("https://en.wikipedia.org/wiki/Oak", "http://localhost:9000/a?b=c#d", "HTTPS://A.B/"),
    ):
        assert safe_url(one) == one


# The hostile pieces of evidence

# The part of an address that differs from page to page.
_OF_THE_PAGE = ("href", "action", "value", "datetime", "content", "data-address")


def result_with(piece: Piece, hostile: Source) -> dict[str, Any]:
    """Return a result whose best evidence is ``hostile``, which a model repeats word for word."""
    result = claim_document(piece.claim, "REFUTES")
    best = result["evidence"][0]
    text = f"{hostile.sentence} It goes on."
    best |= {"title": hostile.title, "sentence": hostile.sentence, "document": "hostile"}
    best |= {"start": 0, "end": len(hostile.sentence), "url": None}
    document = result["documents"][0]
    document |= {"id": "hostile", "title": hostile.title, "text": text, "url": None}
    repeated = visible(hostile.sentence)[:700]
    said = opinion(MODEL, "SUPPORTS", 0.5, repeated, [1], hostile.title[:300])
    result["verdict"]["opinions"].insert(0, said)
    return result


def shape_of(page: str) -> list[Any]:
    """Return the elements of a page with their attributes, without its words."""
    return [
        (tag, {name: "" if name in _OF_THE_PAGE else value for name, value in has.items()})
        for tag, has in Elements(page).found
    ]


@pytest.mark.slow
@pytest.mark.parametrize("every", [20, pytest.param(1, marks=pytest.mark.rare)])
def test_no_hostile_piece_breaks_a_page_or_an_export(client: Client, every: int) -> None:
    markdown = MarkdownIt("commonmark")
    for piece in list(read_pieces())[::every]:
        shapes = []
        for source in (Source("A title", "A sentence about nothing."), piece.hostile):
            job = client.done(result_with(piece, source))
            export = f"/api/v1/claims/{job.id}/export?format="
            tokens = markdown.parse(client.get(f"{export}md").text)
            rows = list(csv.reader(io.StringIO(client.get(f"{export}csv").text)))
            shapes.append(
                (
                    shape_of(client.get(f"/claims/{job.id}").text),
                    [(token.type, token.tag) for token in tokens],
                    [len(row) for row in rows],
                )
            )
            assert not [c for row in rows for c in row if c.startswith(("=", "+", "-", "@"))]
            said = Said(agrees=True, label="REFUTES", name="Ida")
            FeedbackStore(client.store.database).give(job.id, said, None)
            for name in ("json", "claimreview"):
                json.loads(client.get(f"{export}{name}").text)
        assert shapes[0] == shapes[1], piece.id


# Whatever was accepted can be exported in every format

HALVES = range(0xD800, 0xE000)
ALL_OF_UNICODE = "".join(chr(code) for code in range(0x110000) if code not in HALVES)
# Controls, the common alphabets, what is no character in XML, and some of each plane.
SOME_OF_IT = "".join(
    one
    for one in ALL_OF_UNICODE
    if ord(one) < 0x600 or ord(one) % 99 == 0 or ord(one) & 0xFFFE == 0xFFFE
)
both = pytest.mark.parametrize(
    "whole",
    [
        pytest.param(SOME_OF_IT, id="some"),
        pytest.param(ALL_OF_UNICODE, id="all", marks=pytest.mark.rare),
    ],
)


def exports(client: Client, submitted: TestResponse) -> dict[str, TestResponse]:
    """Return every export of a list; of one that nobody has confirmed there is no ClaimReview."""
    assert submitted.status_code == 202
    address = f"{submitted.headers['Location']}/export"
    names = [name for name in get_args(ListFormat) if name != "claimreview"]
    answers = {name: client.get(f"{address}?format={name}") for name in names}
    assert {name: one.status_code for name, one in answers.items()} == dict.fromkeys(answers, 200)
    return answers


def cells(answers: dict[str, TestResponse], row: int, column: int) -> list[object]:
    """Return one cell of each export of a list that is a table."""
    table = io.StringIO(answers["csv"].data.decode("utf-8-sig"), newline="")
    book = openpyxl.load_workbook(io.BytesIO(answers["xlsx"].data))
    return [rows[row][column] for rows in (list(csv.reader(table)), list(book.active.values))]


@both
def test_a_list_with_all_of_unicode_has_every_export(client: Client, whole: str) -> None:
    notes = ["plain", *(whole[at : at + 1200] for at in range(0, len(whole), 1200))]
    rows = [{"claim": f"Tea {note[:400]} is hot.", "note": note} for note in notes]
    body = json.dumps({"claims": rows}, ensure_ascii=False).encode()
    sent = client.post("/api/v1/lists", data=body, content_type="application/json")
    answers = exports(client, sent)
    number = next(number for number, note in enumerate(notes) if "\ufffe" in note)
    line = json.loads(answers["jsonl"].text.split("\n")[number])
    assert line["row"]["note"] == notes[number]
    in_csv, in_xlsx = cells(answers, number + 1, 1)
    assert str(in_csv).replace("'", "") == notes[number]  # no cell is a formula
    assert in_xlsx == str(in_csv).translate({0xFFFE: None, 0xFFFF: None})  # nor can XML have these


def test_a_file_with_half_characters_and_endless_numbers_has_every_export(client: Client) -> None:
    note = "".join(map(chr, reversed(HALVES)))  # in their order two would become one character
    halves = json.dumps({"claim": "Ice is cold.", "note": note, "\ud800": 1})
    lines = f'{{"claim": "Rain is wet.", "note": 1e999}}\n{halves}'.encode()
    file = (io.BytesIO(lines), "a\x85\u2028\ufffe\uffff\U0010ffff.jsonl")
    answers = exports(client, client.post("/api/v1/lists", data={"file": file}))
    assert cells(answers, 1, 1) == ["1e999", "1e999"]
    assert cells(answers, 2, 1) == [len(HALVES) * "\ufffd"] * 2


@both
def test_a_result_with_all_of_unicode_has_every_export(client: Client, whole: str) -> None:
    result = claim_document(CLAIM)
    result["evidence"][0] |= {"sentence": whole, "title": whole[:0x3000]}
    result["evidence"][1] |= {"url": f"https://a.example/{whole[:0x3000]}"}
    jobs = [client.done(result, recipe) for recipe in ("esoteric", "combined")]
    address = f"/api/v1/claims/{jobs[0].id}"
    given = {"agrees": True, "name": whole[:99], "note": whole[-0x700:]}
    assert client.post(f"{address}/feedback", json=given).status_code == 201
    both = ",".join(job.id for job in jobs)
    addresses = [
        *(f"{address}/export?format={name}" for name in EXPORTS),
        *(f"/api/v1/compare/export?claims={both}&format={name}" for name in FILES),
        *(f"/api/v1/feedback/export?format={name}" for name in ("claims", "pairs")),
        "/yours.json",
    ]
    answers = {name: client.get(name).status_code for name in addresses}
    for name in ("csv", "json"):
        sent = {"claim": both.split(","), "do": name}
        answers[name] = client.post("/claims/selected", data=sent).status_code
    assert answers == dict.fromkeys(answers, 200)
