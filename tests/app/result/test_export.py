"""A finished claim as a file, in each format."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeAlias, get_args

import pytest
from markdown_it import MarkdownIt
from PIL import Image
from pypdf import PdfReader

from app.people.visitor import COOKIE
from retrieval.types import Stopped
from retrieval.words import STOPPED
from settings import Settings
from tests.app.claim_documents import (
    claim_document,
    document_kept_from_before,
    document_with_proof,
    document_without_evidence,
)
from tests.app.client import CLAIM, Client, refusal
from tests.app.conftest import Start
from worker.jobs import Job

LINK = "https://check.example.org"


class Done:
    """A claim with a result."""

    def __init__(self, client: Client, job: Job) -> None:
        self.client = client
        self.id = job.id
        self.address = f"/api/v1/claims/{job.id}/export"

    def fetch(self, name: str) -> Any:
        """Return the answer with the result in a format."""
        if name == "claimreview":
            given = {"agrees": True, "name": "Ida Holm"}
            said = self.client.post(f"/api/v1/claims/{self.id}/feedback", json=given)
            assert said.status_code == 201
        answer = self.client.get(f"{self.address}?format={name}")
        assert answer.status_code == 200
        return answer

    def markdown(self) -> str:
        text: str = self.fetch("md").text
        return text

    def rows(self) -> list[dict[str, str]]:
        """Return the lines of the CSV."""
        return list(csv.DictReader(io.StringIO(self.fetch("csv").text, newline="")))

    def review(self) -> Any:
        return json.loads(self.fetch("claimreview").text)


Finish: TypeAlias = Callable[[dict[str, Any]], Done]


@pytest.fixture
def done(client: Client) -> Finish:
    """Finishes a claim with this result."""
    return lambda result: Done(client, client.done(result))


def test_every_format_is_a_file_of_its_type(client: Client, done: Finish) -> None:
    job = done(claim_document(CLAIM))
    assert client.json(job.address) == claim_document(CLAIM)
    for name, media_type, suffix in (
        ("json", "application/json", "json"),
        ("md", "text/markdown", "md"),
        ("csv", "text/csv", "csv"),
        ("html", "text/html", "html"),
        ("claimreview", "application/ld+json", "jsonld"),
    ):
        answer = job.fetch(name)
        assert answer.mimetype == media_type
        named = f'attachment; filename="claim-{job.id}.{suffix}"'
        assert answer.headers["Content-Disposition"] == named
    pending = f"/api/v1/claims/{client.sent().id}/export"
    assert refusal(client.get(pending)) == (409, "not_done")
    unknown = client.get(f"{pending}?format=docx")
    assert refusal(unknown) == (400, "unknown_format")
    assert tuple(STOPPED) == get_args(Stopped)  # each has words, why a search ended
    hint = "Use one of: json, md, csv, html, pdf, claimreview."
    assert unknown.get_json()["error"]["hint"] == hint


def test_csv_has_a_row_for_each_piece_of_evidence(done: Finish) -> None:
    job = done(claim_document(CLAIM))
    rows = job.rows()
    assert [row["rank"] for row in rows] == ["1", "2", "3", "4"]
    assert rows[1].pop("finished_at").startswith("20")
    empty = (
        *("path", "section", "page", "context_before", "context_after", "leans", "text_date"),
        *("part by part", "recipe_digest", "esoteric_version", "claim_as_written"),
        *("text_sentence", "speaker", "appearance", "said_on", "date"),
    )
    assert rows[1] == {
        **dict.fromkeys(empty, ""),
        "claim": CLAIM,
        "verdict": "SUPPORTS",
        "confidence": "0.93",
        "level": "settled",
        "rank": "2",
        "selected": "True",
        "hop": "2",
        "copies": "1",
        "disagrees": "False",
        "stance": "SUPPORTS",
        "stance_confidence": "0.88",
        "score": "0.84",
        "title": "Ida Holm",
        "sentence": "Ida Holm (1831 to 1899) was an Ostrean engineer.",
        "url": "https://en.wikipedia.org/wiki/Ida_Holm",
        "source": "en.wikipedia.org",
        "document": "Ida Holm",
        "sentence_id": "0",
        "start": "0",
        "end": "48",
        "recipe": "esoteric",
        "judge": "cross-encoder-1",
        "corpus": "Wikipedia introductions",
        "indexed_at": "2026-11-20T09:30:00Z",
        "link": f"http://localhost/claims/{job.id}",
    }
    (nothing,) = done(document_without_evidence(CLAIM)).rows()
    assert (nothing["verdict"], nothing["sentence"]) == ("NOT ENOUGH INFO", "")


def test_exports_have_place_context_and_source_of_a_sentence_escaped(done: Finish) -> None:
    result = claim_document(CLAIM)
    item = result["evidence"][0]
    item |= {"title": "Report", "section": "=1+1 > *All*", "page": 12, "sentence": "No."}
    item |= {"context_before": "=1+1 *Was* it?", "context_after": "<b>So</b>."}
    credit = "report.pdf, page 3, modified on 2024-03-05"
    result["documents"][1]["source"] = credit
    result["corpus"]["text_date"] = "2024-03-05"
    job = done(result)
    row, markdown, review = job.rows()[0], job.markdown(), job.review()
    assert (row["section"], row["page"], row["source"]) == ("'=1+1 > *All*", "12", credit)
    assert (row["context_before"], row["context_after"]) == ("'=1+1 *Was* it?", "<b>So</b>.")
    assert r"[Report, page 12, =1+1 > \*All\*](" in markdown
    assert r"1. *=1+1 \*Was\* it?* No. *\<b>So\</b>.*" in markdown.splitlines()
    assert "), from report.pdf, page 3, modified on 5 March 2024: supports" in markdown
    assert "Wikipedia introductions (9,842 documents, text of 2024-03-05, built 2026" in markdown
    assert review["citation"][0]["name"] == "Report, page 12, =1+1 > *All*"
    assert [work["creditText"] for work in review["citation"]] == [credit, "en.wikipedia.org"]


def test_the_page_and_every_file_say_of_which_day_a_text_is_and_that_it_is_older_than_the_claim(
    done: Finish,
) -> None:
    result = claim_document(CLAIM)
    result["documents"][1] |= {"source": "a.pdf, page 3, as of 2024-03-03", "date": "2024-03-03"}
    result["evidence"][0]["date"] = "2024-03-03"
    denial = "The Lighthouse of Varn was not built by Ida Holm."
    result["evidence"][2] |= {"stance": "REFUTES", "selected": True, "sentence": denial}
    result["evidence"][2]["date"] = "2024-03-05"
    result["verdict"]["disagreement"] = [3]
    older = "The text is of 3 March 2024 and may be out of date: the claim says “now”."
    result["notices"] = ["It was read as “tower”.", older]
    job = done(result)
    assert [row["date"] for row in job.rows()] == ["2024-03-03", "", "2024-03-05", ""]
    page = job.client.get(f"/claims/{job.id}").text
    assert page.index('id="verdict"') < page.index(older) < page.index('id="evidence"')
    assert page.index('id="search"') < page.index("It was read as “tower”.")
    assert page.count(older) == 1
    pdf = PdfReader(io.BytesIO(job.fetch("pdf").data)).pages
    printed = " ".join(" ".join(one.extract_text() for one in pdf).split())
    files = [re.sub(r"<[^>]+>", "", one) for one in (page, job.fetch("html").text, job.markdown())]
    assert all(older in one and "a.pdf, page 3, as of" in one for one in (*files[2:], printed))
    assert all(older in one and "a.pdf, as of 3 March 2024" in one for one in files[:2])
    assert "evidence 3, as of 5 March 2024" in files[0]  # beside what opposes the verdict


def test_no_cell_of_a_csv_is_a_formula(done: Finish) -> None:
    safe = {
        **{sign: f"'{sign}" for sign in ("=", "+", "-", "@", " =", "\uff1d")},
        # What a spreadsheet with semicolons between its cells takes for the begin of another one.
        "\t=": "'\t'=",
        "\r=": "'\r'=",
        "\n@": "'\n'@",
        "Rain; =": "Rain;' =",
        "Rain\n=": "Rain\n'=",
    }
    rest = 'HYPERLINK("https://x.example","x")'
    result = claim_document(CLAIM)
    result["evidence"] = [
        result["evidence"][0] | dict.fromkeys(("sentence", "title", "document"), f"{start}{rest}")
        for start in safe
    ]
    for row, written in zip(done(result).rows(), safe.values(), strict=True):
        cells = {row["sentence"], row["title"], row["document"]}
        assert cells == {f"{written}{rest}"}


# Markdown


def test_csv_says_that_a_proof_disagrees_and_how_a_sentence_was_found(done: Finish) -> None:
    job = done(document_with_proof("REFUTES"))
    assert job.rows()[0]["part by part"] == "disagrees"
    assert [row["path"] for row in job.rows()] == ["", '[["Lighthouse of Varn", 1]]', "", ""]


def test_an_old_result_is_exported_without_newer_fields(done: Finish) -> None:
    job = done(document_kept_from_before(CLAIM))
    assert job.fetch("json").json == document_kept_from_before(CLAIM)
    assert [(row["rank"], row["path"]) for row in job.rows()] == [(rank, "") for rank in "1234"]
    assert job.review()["reviewRating"]["alternateName"] == "Supported"


def test_markdown_escapes_markup_in_the_texts(done: Finish) -> None:
    result = claim_document(CLAIM)
    hostile = "[x](javascript:alert)\n\n# Title\n<b>`code`</b>"
    result["evidence"][0] |= {"sentence": hostile, "title": hostile, "url": "javascript:x"}
    result["evidence"][1] |= {"title": "T", "url": "https://x.example/>)<b>"}
    result["documents"][1] |= {"source": hostile}
    result["documents"][2] |= {"title": hostile}
    lines = done(result).markdown().splitlines()
    safe = "\\[x\\](javascript:alert) # Title \\<b>\\`code\\`\\</b>"
    assert f"1. {safe}" in lines
    assert f"   {safe}, from {safe}: supports (93%), selected" in lines
    assert f"   - “{safe}” in Lighthouse of Varn led to {safe}" in lines
    assert any(line.startswith("   [T](<https://x.example/%3E)%3Cb%3E>)") for line in lines)


def test_markdown_shows_texts_as_they_are_without_needless_backslashes(done: Finish) -> None:
    plain = 'In 1912. It cost 3.5 (or so) - at snake_case, said A & B: "yes"!'
    hostile = (
        "1. one *two* _three_ `four` [five](six) <b>seven</b> &amp; ~~eight~~ \\\\ ![nine](ten)",
        *("# eleven", "- twelve", "> thirteen", "__fourteen__ a_b", "1912. It sank"),
    )
    reader = MarkdownIt("gfm-like", {"linkify": False})
    for text in (plain, *hostile):
        result = claim_document(CLAIM)
        result["evidence"][0]["sentence"] = text
        written = done(result).markdown()
        line = next(one for one in written.splitlines() if one.startswith("1. "))
        shown = reader.render(line)
        assert html.unescape(re.sub(r"<[^>]+>", "", shown)).strip() == text
        assert set(re.findall(r"<(\w+)", shown)) <= {"ol", "li", "p"}  # no markup of the text
        if text == plain:
            assert "\\" not in line


def document_with_doubt() -> dict[str, Any]:
    """Return an undecided document that leans, with one sentence against its lean."""
    result = claim_document(CLAIM, "NOT ENOUGH INFO", 0.8)
    result["verdict"] |= {"leans": "REFUTES", "disagreement": [2]}
    result["evidence"][0] |= {"copies": 7}
    return result


def test_exports_of_an_undecided_or_probable_verdict_say_so(done: Finish) -> None:
    job = done(document_with_doubt())
    rows = job.rows()
    assert {(row["verdict"], row["level"], row["confidence"], row["leans"]) for row in rows} == {
        ("NOT ENOUGH INFO", "leans", "", "REFUTES")
    }
    assert [row["disagrees"] for row in rows] == ["False", "True", "False", "False"]
    assert [row["copies"] for row in rows] == ["7", "1", "1", "1"]
    probable = done(claim_document(CLAIM, "REFUTES", 0.69))
    assert probable.review()["reviewRating"]["alternateName"] == "Refuted"  # a person has confirmed


# ClaimReview, and pages for publishing


def test_claimreview_rates_the_claim(done: Finish) -> None:
    typed = "The name was typed by a visitor who had not logged in."
    for label, word, value in (
        ("SUPPORTS", "Supported", 5),
        ("REFUTES", "Refuted", 1),
        ("NOT ENOUGH INFO", "Not settled", None),
    ):
        job = done(claim_document(CLAIM, label))
        review = job.review()
        assert review["@context"] == "https://schema.org"
        assert review["@type"] == "ClaimReview"
        assert review["claimReviewed"] == CLAIM
        assert review["url"] == f"http://localhost/claims/{job.id}"
        assert review["datePublished"] == datetime.now(UTC).date().isoformat()
        assert review["reviewRating"]["alternateName"] == word
        assert review["reviewRating"].get("ratingValue") == value
        assert ("ratingValue" in review["reviewRating"]) == bool(value)
        assert review["author"] == {"@type": "Person", "name": "Ida Holm", "description": typed}
        # Of the three selected sentences the third settles nothing.
        named = ["Lighthouse of Varn", "Ida Holm", "Lighthouse of Varn"]
        assert [work["name"] for work in review["citation"]] == named[: 2 if value else 3]


def test_there_is_no_claimreview_before_somebody_agrees(client: Client, done: Finish) -> None:
    job = done(claim_document(CLAIM))
    given: dict[str, Any]
    feedback = f"/api/v1/claims/{job.id}/feedback"
    for given in ({}, {"agrees": True, "name": " "}, {"agrees": False, "label": "REFUTES"}):
        if given:
            assert client.post(feedback, json=given | {"note": "Hm."}).status_code == 201
        assert refusal(client.get(f"{job.address}?format=claimreview")) == (409, "not_confirmed")
        assert "ld+json" not in job.fetch("html").text
    readers = {letter: client.another() for letter in "abc"}
    for letter, reader in readers.items():
        reader.set_cookie(COOKIE, letter * 43)
    for letter, name in (("a", "Ida Holm"), ("b", "Ole Berg")):
        given = {"agrees": True, "name": name, "note": f"{name} has read it.", "wrong": [2]}
        assert readers[letter].post(feedback, json=given).status_code == 201
    for letter, name in (("a", "Ida Holm"), ("b", "Ole Berg"), ("c", "Ole Berg")):
        review = json.loads(readers[letter].get(f"{job.address}?format=claimreview").text)
        assert review["author"]["name"] == name
        assert review["reviewRating"]["ratingExplanation"] == f"{name} has read it."
        assert len(review["citation"]) == 1  # of the two that support it one is labelled wrongly
    page = job.fetch("html").text
    assert "ClaimReview" in page.split("ld+json")[1].split("</script>")[0]


def test_claimreview_stays_within_the_script_element_that_it_is_put_into(done: Finish) -> None:
    hostile = "Tea </script><script>alert(1)</script> <!-- <script> & more"
    result = claim_document(hostile)
    result["verdict"]["rationale"] = hostile
    for item in result["evidence"]:
        item |= {"sentence": hostile, "title": hostile, "url": "https://a.example/?a=1&b=</script>"}
    text = done(result).fetch("claimreview").text
    assert not {"<", ">", "&"} & set(text)
    review = json.loads(text)
    assert review["claimReviewed"] == hostile
    assert review["reviewRating"]["ratingExplanation"] == hostile
    assert review["citation"][0]["text"] == hostile


def test_a_page_for_publishing_needs_no_other_file(done: Finish) -> None:
    page = done(claim_document(CLAIM, "REFUTES")).fetch("html").text
    assert "<style>" in page
    assert not re.search(r"<link rel=.stylesheet|<script src|<img|url\(", page)
    assert "It was built in 1874 by the engineer Ida Holm" in page
    assert '<details class="in-document" open>' in page


def test_who_said_a_claim_where_and_when_is_in_every_export(client: Client) -> None:
    said = {"speaker": "Ida <b>Holm", "appearance": "https://varn.example/talk"}
    said |= {"said_on": "2026-11-20"}
    job = client.sent(**said)
    client.worker.finish(job, claim_document(CLAIM))
    done = Done(client, job)
    review = done.review()["itemReviewed"]
    assert review["author"] == {"@type": "Person", "name": said["speaker"]}
    assert review["appearance"]["url"] == said["appearance"]
    assert review["datePublished"] == "2026-11-20"
    assert done.rows()[0]["speaker"] == said["speaker"]
    assert "Said: Ida \\<b>Holm, <https://varn.example/talk>, 2026-11-20" in done.markdown()
    assert "Ida &lt;b&gt;Holm, https://varn.example/talk, 2026-11-20" in done.fetch("html").text
    assert client.json(f"/api/v1/claims/{job.id}")["speaker"] == said["speaker"]
    assert "Said: <bdi>Ida &lt;b&gt;Holm</bdi>" in client.get(f"/claims/{job.id}").text
    refused = client.post("/api/v1/claims", json={"claim": CLAIM, "speaker": "x" * 301})
    assert refusal(refused)[1] == "bad_said_by"


def test_links_and_exports_have_the_public_address(start: Start, settings: Settings) -> None:
    client = start(replace(settings, public_url=LINK))
    job = client.done()
    address = f"{LINK}/claims/{job.id}"
    assert f'<link rel="canonical" href="{address}">' in client.get(f"/claims/{job.id}").text
    here = "opens only on the computer that made the checks"
    for name in ("md", "csv", "html"):
        exported = client.get(f"/api/v1/claims/{job.id}/export?format={name}").text
        assert address in exported
        assert here not in exported
    local = start()  # where no other computer can open it, files for others say so
    for name in ("md", "html"):
        exported = local.get(f"/api/v1/claims/{job.id}/export?format={name}").text
        assert f"http://localhost/claims/{job.id}" in exported
        assert here in exported


def test_a_pdf_has_answer_sentences_and_who_said_it_to_be_copied(client: Client) -> None:
    claim = "The lighthouse of Varn (λέξη, 灯台) was built in 1874."
    job = client.sent(claim, speaker="Łucja Żak", appearance="Radio", said_on="2026-11-01")
    result = claim_document(claim, "REFUTES")
    result["evidence"][2] |= {"stance": "REFUTES", "selected": True}
    client.worker.finish(job, result)
    file = Done(client, job).fetch("pdf")
    assert file.mimetype == "application/pdf"
    pages = PdfReader(io.BytesIO(file.data)).pages
    text = " ".join(" ".join(page.extract_text() for page in pages).split())
    assert "The lighthouse of Varn (λέξη, □□) was built in 1874." in text
    assert "Łucja Żak, Radio, 2026-11-01 · checked on" in text
    assert "It was built in 1874 by the engineer Ida Holm" in text
    assert "3 refute" in text  # beside the meter, which stands for three or more
    assert f"(http://localhost/claims/{job.id})".encode() in file.data  # a link
    assert "opens only on the computer that made the checks" in text


def test_a_link_to_a_claim_has_a_picture_of_its_answer_and_verdict(client: Client) -> None:
    job = client.store.submit("Tea is hot. " * 40, "esoteric")[0]
    address = f"/claims/{job.id}/picture.png"
    assert client.get(address).status_code == 404
    client.worker.finish(job, claim_document(job.claim))
    named = f'<meta property="og:image" content="http://localhost{address}">'
    assert named in client.get(f"/claims/{job.id}").text
    assert named in Done(client, job).fetch("html").text
    drawn = Image.open(io.BytesIO(client.get(address).data))
    assert (drawn.format, drawn.size) == ("PNG", (1200, 630))
    red, green, _ = drawn.convert("RGB").crop((5, 300, 6, 301)).tobytes()
    assert green > red  # supported
