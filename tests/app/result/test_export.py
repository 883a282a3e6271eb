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
from html.parser import HTMLParser
from typing import Any, TypeAlias, get_args

import pytest
from flask import Flask
from flask.testing import FlaskClient
from markdown_it import MarkdownIt
from PIL import Image
from pypdf import PdfReader

from app import create_app
from app.people.visitor import COOKIE
from app.services import services_of
from retrieval.types import Stopped
from retrieval.words import STOPPED
from settings import Settings
from tests.app.claim_documents import (
    HOLM,
    claim_document,
    document,
    document_kept_from_before,
    document_with_a_long_proof,
    document_with_proof,
    document_without_evidence,
    hop,
    statement,
)
from tests.app.worker_by_hand import WorkerByHand
from worker.job_store import JobStore
from worker.jobs import Job

CLAIM = "The Lighthouse of Varn was built by Ida Holm."


class Done:
    """A claim with a result."""

    def __init__(self, client: FlaskClient, job: Job) -> None:
        self.client = client
        self.id = job.id

    def fetch(self, name: str) -> Any:
        """Return the answer with the result in a format."""
        if name == "claimreview":
            given = {"agrees": True, "name": "Ida Holm"}
            said = self.client.post(f"/api/v1/claims/{self.id}/feedback", json=given)
            assert said.status_code == 201
        answer = self.client.get(f"/api/v1/claims/{self.id}/export?format={name}")
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
def done(client: FlaskClient, store: JobStore, worker: WorkerByHand) -> Finish:
    """Finishes a claim with this result."""

    def finish(result: dict[str, Any]) -> Done:
        job = store.submit(result["claim"], "esoteric")[0]
        worker.finish(job, result)
        return Done(client, job)

    return finish


def hops(markdown: str) -> list[str]:
    """Return the lines about the hops."""
    return markdown.split("## Rounds of search\n\n")[1].split("\n\nChecked by")[0].splitlines()


@pytest.mark.parametrize(
    ("name", "media_type", "suffix"),
    [
        ("json", "application/json", "json"),
        ("md", "text/markdown", "md"),
        ("csv", "text/csv", "csv"),
        ("html", "text/html", "html"),
        ("claimreview", "application/ld+json", "jsonld"),
    ],
)
def test_every_format_comes_as_a_file_of_its_type(
    done: Finish,
    name: str,
    media_type: str,
    suffix: str,
) -> None:
    job = done(claim_document(CLAIM))
    assert job.client.get(f"/api/v1/claims/{job.id}/export").json == claim_document(CLAIM)
    answer = job.fetch(name)
    assert answer.mimetype == media_type
    assert answer.headers["Content-Disposition"] == (
        f'attachment; filename="claim-{job.id}.{suffix}"'
    )


def test_unfinished_claims_and_unknown_formats_are_refused(
    client: FlaskClient, store: JobStore
) -> None:
    job = store.submit(CLAIM, "esoteric")[0]
    pending = client.get(f"/api/v1/claims/{job.id}/export")
    assert pending.status_code == 409
    assert pending.json["error"]["code"] == "not_done"  # type: ignore[index]
    unknown = client.get(f"/api/v1/claims/{job.id}/export?format=docx")
    assert unknown.status_code == 400
    assert unknown.json["error"]["hint"] == (  # type: ignore[index]
        "Use one of: json, md, csv, html, pdf, claimreview."
    )


def test_csv_has_a_row_for_each_piece_of_evidence(done: Finish) -> None:
    job = done(claim_document(CLAIM))
    rows = job.rows()
    assert [row["rank"] for row in rows] == ["1", "2", "3", "4"]
    assert rows[1].pop("finished_at").startswith("20")
    assert rows[1] == {
        "claim": CLAIM,
        "verdict": "SUPPORTS",
        "confidence": "0.93",
        "rank": "2",
        "selected": "True",
        "stance": "SUPPORTS",
        "stance_confidence": "0.88",
        "score": "0.84",
        "title": "Ida Holm",
        "sentence": "Ida Holm (1831 to 1899) was an Ostrean engineer.",
        "url": "https://en.wikipedia.org/wiki/Ida_Holm",
        "document": "Ida Holm",
        "sentence_id": "0",
        "start": "0",
        "end": "48",
        "hop": "2",
        "path": "",
        "section": "",
        "page": "",
        "context_before": "",
        "context_after": "",
        "copies": "1",
        "leans": "",
        "disagrees": "False",
        "source": "en.wikipedia.org",
        "level": "settled",
        "recipe": "esoteric",
        "judge": "cross-encoder-1",
        "corpus": "Wikipedia introductions",
        "text_date": "",
        "indexed_at": "2026-11-20T09:30:00Z",
        "part by part": "",
        "recipe_digest": "",
        "esoteric_version": "",
        "claim_as_written": "",
        "text_sentence": "",
        "link": f"http://localhost/claims/{job.id}",
        **dict.fromkeys(("speaker", "appearance", "said_on", "date"), ""),
    }


def test_exports_name_page_and_section_of_a_long_document_and_escape_them(done: Finish) -> None:
    result = claim_document(CLAIM)
    result["evidence"][0] |= {"title": "Report", "section": "=1+1 > *All*", "page": 12}
    job = done(result)
    row = job.rows()[0]
    assert (row["section"], row["page"]) == ("'=1+1 > *All*", "12")
    assert r"[Report, page 12, =1+1 > \*All\*](" in job.markdown()
    review = job.review()
    assert review["citation"][0]["name"] == "Report, page 12, =1+1 > *All*"


def test_exports_credit_a_document_of_a_folder_to_its_file_and_date_the_corpus(
    done: Finish,
) -> None:
    result = claim_document(CLAIM)
    credit = "report.pdf, page 3, modified on 2024-03-05"
    result["documents"][1]["source"] = credit
    result["corpus"]["text_date"] = "2024-03-05"
    job = done(result)
    assert job.rows()[0]["source"] == credit
    markdown = job.markdown()
    assert "), from report.pdf, page 3, modified on 5 March 2024: supports" in markdown
    assert "Wikipedia introductions (9,842 documents, text of 2024-03-05, built 2026" in markdown
    review = job.review()
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


def test_exports_show_the_context_of_a_sentence_and_escape_it(done: Finish) -> None:
    result = claim_document(CLAIM)
    item = result["evidence"][0]
    item |= {"context_before": "=1+1 *Was* it?", "sentence": "No.", "context_after": "<b>So</b>."}
    job = done(result)
    row = job.rows()[0]
    assert (row["context_before"], row["context_after"]) == ("'=1+1 *Was* it?", "<b>So</b>.")
    shown = r"1. *=1+1 \*Was\* it?* No. *\<b>So\</b>.*"
    assert shown in job.markdown().splitlines()


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


def test_markdown_has_the_verdict_and_its_evidence(done: Finish) -> None:
    job = done(claim_document(CLAIM))
    text = job.markdown()
    begin = "# The Lighthouse of Varn was built by Ida Holm.\n\n**Yes.**\n\n> “It was built in 1874"
    assert text.startswith(begin)
    assert "\n\nSupported, 93% sure: 2 support\n" in text
    assert (
        "2. Ida Holm (1831 to 1899) was an Ostrean engineer.\n"
        "   [Ida Holm](<https://en.wikipedia.org/wiki/Ida_Holm>), from en.wikipedia.org:"
        " supports (88%), selected\n"
    ) in text
    assert f"<http://localhost/claims/{job.id}>" in text


def test_markdown_names_the_sentences_that_one_was_read_with(done: Finish) -> None:
    result = document_with_proof()
    result["evidence"][1]["path"].append(["Skerries", 3])
    result["evidence"][1]["stance_together"] = "REFUTES"
    job = done(result)
    assert (
        ": supports (88%), read together with Lighthouse of Varn (evidence 1) and Skerries:"
        " together they refute it, selected\n"
    ) in job.markdown()


def test_markdown_has_no_confidence_without_selected_evidence(done: Finish) -> None:
    result = claim_document(CLAIM, "NOT ENOUGH INFO", 1.0)
    for item in result["evidence"]:
        item["selected"] = False
    assert "**Not settled.** No text that was found is about it.\n" in done(result).markdown()


def test_markdown_quotes_no_words_where_a_whole_sentence_matches(done: Finish) -> None:
    result = document_with_proof()
    built = result["evidence"][0]
    result["proof"][0]["evidence"][2:] = [built["start"], built["end"]]
    job = done(result)
    assert (
        "1. “The Lighthouse of Varn”: says the same, by the title or the whole sentence in"
        " Lighthouse of Varn, evidence 1\n"
    ) in job.markdown()


def test_markdown_has_the_proof_and_the_hops(done: Finish) -> None:
    text = done(document_with_a_long_proof() | {"notices": ["This is *no* claim."]}).markdown()
    assert "\n\nNote: This is \\*no\\* claim.\n\n**" in text
    assert (
        "## Proof\n\n"
        "The evidence leaves open “was born in Varnby”, so it is not sufficient.\n\n"
        "1. “The Lighthouse of Varn”: says the same, “The Lighthouse of Varn” in Lighthouse of"
        " Varn, evidence 3\n"
    ) in text
    assert (
        "3. “in 1875”: gives a different answer, “in 1874” in Lighthouse of Varn, evidence 1\n"
    ) in text
    assert "8. “was born in Varnby”: nothing found\n\n## Questions asked\n" in text
    built = "“It was built in 1874 by the engineer Ida Holm, who lived in it until her death.”"
    planned = "“She planned eleven lighthouses and two bridges.”"
    found = "“an Ostrean engineer”, “who planned”"
    assert hops(text) == [
        "1. 3 documents read, 2 sentences found",
        f"   - Still open: {found}, “eleven bridges” and “was born in Varnby”.",
        "2. 1 document read, 2 sentences found",
        f"   - Open before it: {found}, “eleven bridges” and “was born in Varnby”.",
        f"   - {built} in Lighthouse of Varn led to Ida Holm",
        f"   - Now covered: {found} and “eleven bridges”.",
        "   - Still open: “was born in Varnby”.",
        "3. 2 documents read, 0 sentences found",
        "   - Open before it: “was born in Varnby”.",
        "   - Varnby led to Whaling",
        f"   - {planned} in Ida Holm led to Ostrean bridges",
        "   - Still open: “was born in Varnby”.",
        "   - The search ended: nothing new of use was found",
    ]


def test_hops_name_the_best_documents_and_only_words_of_the_claim(done: Finish) -> None:
    result = claim_document(CLAIM)
    result["documents"] = [
        document(f"Pier {n}", HOLM, 1 / n, ["dense"], 2, ("Skerries", 3)) for n in range(1, 8)
    ]
    result["hops"][0]["missing"] = [[900, 950], [-4, -1], [9, 2], [-3, 3]]
    lines = hops(done(result).markdown())
    assert lines[1] == "   - Not named in the selected sentences: “The”."
    assert "   - Skerries led to Pier 1, Pier 2, Pier 3, Pier 4 and 3 more" in lines


def test_nothing_is_open_where_the_evidence_was_enough(done: Finish) -> None:
    enough = claim_document(CLAIM) | {"hops": [hop(1, [[36, 44]], 3, 2, "decided")]}
    assert len(hops(done(enough).markdown())) == 2  # what was read, and why the search ended
    assert tuple(STOPPED) == get_args(Stopped)


def test_a_proof_that_does_not_agree_is_in_no_markdown(done: Finish) -> None:
    job = done(document_with_proof("REFUTES"))
    assert "## Proof" not in job.markdown()
    assert job.rows()[0]["part by part"] == "disagrees"
    assert [row["path"] for row in job.rows()] == ["", '[["Lighthouse of Varn", 1]]', "", ""]
    (nothing,) = done(document_without_evidence(CLAIM)).rows()
    assert (nothing["verdict"], nothing["sentence"]) == ("NOT ENOUGH INFO", "")


def test_an_old_result_is_exported_without_newer_fields(done: Finish) -> None:
    job = done(document_kept_from_before(CLAIM))
    assert job.fetch("json").json == document_kept_from_before(CLAIM)
    markdown = job.markdown()
    assert "## Proof" not in markdown
    assert "read together" not in markdown
    assert hops(markdown) == [
        "1. 3 documents read, 2 sentences found",
        "   - Not named in the selected sentences: “Lighthouse”.",
        "2. 1 document read, 2 sentences found",
        "   - Not named before it: “Lighthouse”.",
        "   - Now named: “Lighthouse”.",
    ]
    rows = job.rows()
    assert [(row["rank"], row["path"]) for row in rows] == [(rank, "") for rank in "1234"]
    review = job.review()
    assert review["reviewRating"]["alternateName"] == "Supported"


def test_markdown_escapes_markup_in_the_texts(done: Finish) -> None:
    result = claim_document(CLAIM)
    hostile = "[x](javascript:alert)\n\n# Title\n<b>`code`</b>"
    result["evidence"][0] |= {"sentence": hostile, "title": hostile, "url": "javascript:x"}
    result["evidence"][1] |= {"title": "T", "url": "https://x.example/>)<b>"}
    result["documents"][1] |= {"source": hostile}
    result["documents"][2] |= {"title": hostile}
    job = done(result)
    lines = job.markdown().splitlines()
    safe = "\\[x\\](javascript:alert) # Title \\<b>\\`code\\`\\</b>"
    assert f"1. {safe}" in lines
    assert f"   {safe}, from {safe}: supports (93%), selected" in lines
    assert f"   - “{safe}” in Lighthouse of Varn led to {safe}" in lines
    assert any(line.startswith("   [T](<https://x.example/%3E)%3Cb%3E>)") for line in lines)


@pytest.mark.parametrize(
    ("label", "word", "value"),
    [
        ("SUPPORTS", "Supported", 5),
        ("REFUTES", "Refuted", 1),
        ("NOT ENOUGH INFO", "Not settled", None),
    ],
)
def test_claimreview_rates_the_claim(
    done: Finish,
    label: str,
    word: str,
    value: int | None,
) -> None:
    job = done(claim_document(CLAIM, label))
    review = job.review()
    assert review["@context"] == "https://schema.org"
    assert review["@type"] == "ClaimReview"
    assert review["claimReviewed"] == CLAIM
    assert review["url"] == f"http://localhost/claims/{job.id}"
    assert review["datePublished"] == datetime.now(UTC).date().isoformat()
    assert review["reviewRating"]["alternateName"] == word
    assert review["reviewRating"].get("ratingValue") == value
    typed = "The name was typed by a visitor who had not logged in."
    assert review["author"] == {"@type": "Person", "name": "Ida Holm", "description": typed}
    # Of the three selected sentences the third settles nothing.
    named = ["Lighthouse of Varn", "Ida Holm", "Lighthouse of Varn"]
    assert [work["name"] for work in review["citation"]] == named[: 2 if value else 3]


def test_there_is_no_claimreview_before_a_person_agrees_under_a_name(
    app: Flask, client: FlaskClient, done: Finish
) -> None:
    job = done(claim_document(CLAIM))
    address = f"/api/v1/claims/{job.id}"
    for given in (None, {"agrees": True, "name": " "}, {"agrees": False, "label": "REFUTES"}):
        if given:
            assert (
                client.post(f"{address}/feedback", json=given | {"note": "Hm."}).status_code == 201
            )
        answer = client.get(f"{address}/export?format=claimreview")
        assert (answer.status_code, answer.json["error"]["code"]) == (409, "not_confirmed")  # type: ignore[index]
    for visitor, name in (("a", "Ida Holm"), ("b", "Ole Berg")):
        reader = app.test_client()
        reader.set_cookie(COOKIE, visitor * 43)
        given = {"agrees": True, "name": name, "note": f"{name} has read it.", "wrong": [2]}
        assert reader.post(f"{address}/feedback", json=given).status_code == 201
    for visitor, name in (("a", "Ida Holm"), ("b", "Ole Berg"), ("c", "Ole Berg")):
        reader = app.test_client()
        reader.set_cookie(COOKIE, visitor * 43)
        review = json.loads(reader.get(f"{address}/export?format=claimreview").text)
        assert review["author"]["name"] == name
        assert review["reviewRating"]["ratingExplanation"] == f"{name} has read it."
        assert len(review["citation"]) == 1  # of the two that support it one is labelled wrongly


def test_claimreview_stays_within_the_script_element_that_it_is_put_into(done: Finish) -> None:
    hostile = "Tea </script><script>alert(1)</script> <!-- <script> & more"
    result = claim_document(CLAIM)
    result["claim"] = hostile
    result["verdict"]["rationale"] = hostile
    for item in result["evidence"]:
        item |= {"sentence": hostile, "title": hostile, "url": "https://a.example/?a=1&b=</script>"}
    text = done(result).fetch("claimreview").text
    elements = Elements(f'<script type="application/ld+json">{text}</script><p>After</p>')
    assert elements.names == ["script", "p"]
    assert elements.scripts == [text]
    review = json.loads(text)
    assert review["claimReviewed"] == hostile
    assert review["reviewRating"]["ratingExplanation"] == hostile
    assert review["citation"][0]["text"] == hostile


class Elements(HTMLParser):
    """The names of the elements of a page, and the texts of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.scripts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)

    def handle_data(self, data: str) -> None:
        if self.names[-1] == "script":
            self.scripts.append(data)


def test_markdown_lists_the_statements_and_the_claim_as_it_was_written(done: Finish) -> None:
    parts = [statement("It *is*.", 0, 3, "SUPPORTS", [1]), statement("Old.", 4, 6, "REFUTES", [])]
    more = {"statements": parts, "claim_as_written": "Claim: it"}
    text = done(claim_document(CLAIM) | more).markdown()
    assert "1. Supported (90% sure): It \\*is\\*.\n2. Refuted (90% sure): Old.\n\n" in text
    assert "As it was written: Claim: it\n" in text


def document_with_doubt() -> dict[str, Any]:
    """Return an undecided document that leans, with one sentence against its lean."""
    result = claim_document(CLAIM, "NOT ENOUGH INFO", 0.8)
    result["verdict"] |= {"leans": "REFUTES", "disagreement": [2]}
    result["evidence"][0] |= {"copies": 7}
    return result


def test_exports_of_an_undecided_verdict_have_its_lean_and_no_confidence(done: Finish) -> None:
    job = done(document_with_doubt())
    text = job.markdown()
    assert "\n**Not settled: the evidence leans to no.**\n" in text
    assert "\n\nLeans refuted\n" in text
    assert ": settles nothing, in 7 documents, selected\n" in text
    rows = job.rows()
    assert {(row["verdict"], row["level"], row["confidence"], row["leans"]) for row in rows} == {
        ("NOT ENOUGH INFO", "leans", "", "REFUTES")
    }
    assert [row["disagrees"] for row in rows] == ["False", "True", "False", "False"]
    assert [row["copies"] for row in rows] == ["7", "1", "1", "1"]
    rating = job.review()["reviewRating"]
    assert rating["alternateName"] == "Not settled"
    assert "ratingValue" not in rating


def test_a_verdict_with_little_confidence_is_probable_until_a_person_confirms_it(
    done: Finish,
) -> None:
    job = done(claim_document(CLAIM, "REFUTES", 0.69))
    assert "\nProbably refuted, 69% sure" in job.markdown()
    rating = job.review()["reviewRating"]
    assert rating["alternateName"] == "Refuted"


def test_markdown_shows_texts_as_they_are_with_no_backslash_that_is_not_needed(
    done: Finish,
) -> None:
    plain = 'In 1912. It cost 3.5 (or so) - at snake_case, said A & B: "yes"!'
    hostile = (
        "1. one *two* _three_ `four` [five](six) <b>seven</b> &amp; ~~eight~~ \\\\ ![nine](ten)",
        "# eleven",
        "- twelve",
        "> thirteen",
        "__fourteen__ a_b",
        "1912. It sank",
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


def test_a_page_for_publishing_needs_no_other_file_and_holds_the_review_of_a_person(
    done: Finish,
) -> None:
    job = done(claim_document(CLAIM, "REFUTES"))
    page = job.fetch("html").text
    assert "<style>" in page
    assert not re.search(r"<link rel=.stylesheet|<script src|<img|url\(", page)
    assert "It was built in 1874 by the engineer Ida Holm" in page
    assert '<details class="in-document" open>' in page
    assert "ld+json" not in page
    job.review()  # a person agrees
    page = job.fetch("html").text
    assert "ClaimReview" in page.split("ld+json")[1].split("</script>")[0]


def test_who_said_a_claim_where_and_when_is_in_every_export(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    said = {"speaker": "Ida <b>Holm", "appearance": "https://varn.example/talk"}
    said |= {"said_on": "2026-11-20"}
    sent: Any = client.post("/api/v1/claims", json={"claim": CLAIM, **said}).json
    job = store.get(sent["id"])
    worker.finish(job, claim_document(CLAIM))
    done = Done(client, job)
    review = done.review()["itemReviewed"]
    assert review["author"] == {"@type": "Person", "name": said["speaker"]}
    assert review["appearance"]["url"] == said["appearance"]
    assert review["datePublished"] == "2026-11-20"
    assert done.rows()[0]["speaker"] == said["speaker"]
    assert "Said: Ida \\<b>Holm, <https://varn.example/talk>, 2026-11-20" in done.markdown()
    assert "Ida &lt;b&gt;Holm, https://varn.example/talk, 2026-11-20" in done.fetch("html").text
    stored: Any = client.get(f"/api/v1/claims/{job.id}").json
    assert stored["speaker"] == said["speaker"]
    page = client.get(f"/claims/{job.id}").text
    assert "Said: <bdi>Ida &lt;b&gt;Holm</bdi>" in page
    refused: Any = client.post("/api/v1/claims", json={"claim": CLAIM, "speaker": "x" * 301}).json
    assert refused["error"]["code"] == "bad_said_by"


def test_links_and_exports_have_the_public_address(settings: Settings) -> None:
    public = replace(settings, public_url="https://check.example.org")
    app = create_app(public)
    store = services_of(app).store
    job = store.submit(CLAIM, "esoteric")[0]
    WorkerByHand(store).finish(job, claim_document(CLAIM))
    client = app.test_client()
    address = f"https://check.example.org/claims/{job.id}"
    assert f'<link rel="canonical" href="{address}">' in client.get(f"/claims/{job.id}").text
    for name in ("md", "csv", "html"):
        assert address in client.get(f"/api/v1/claims/{job.id}/export?format={name}").text
    services_of(app).close()


def test_a_pdf_has_the_answer_its_sentences_and_who_said_it_in_letters_that_can_be_copied(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    claim = "The lighthouse of Varn (λέξη, 灯台) was built in 1874."
    said = {"speaker": "Łucja Żak", "appearance": "Radio", "said_on": "2026-11-01"}
    sent = client.post("/api/v1/claims", json={"claim": claim, **said}).get_json()
    result = claim_document(claim, "REFUTES")
    result["evidence"][2] |= {"stance": "REFUTES", "selected": True}
    worker.finish(store.get(sent["id"]), result)
    file = client.get(f"/api/v1/claims/{sent['id']}/export?format=pdf")
    assert file.mimetype == "application/pdf"
    pages = PdfReader(io.BytesIO(file.data)).pages
    text = " ".join(" ".join(page.extract_text() for page in pages).split())
    assert "The lighthouse of Varn (λέξη, □□) was built in 1874." in text
    assert "Łucja Żak, Radio, 2026-11-01 · checked on" in text
    assert "It was built in 1874 by the engineer Ida Holm" in text
    assert "3 refute" in text  # beside the meter, which stands for three or more
    assert f"(http://localhost/claims/{sent['id']})".encode() in file.data  # a link


def test_a_link_to_a_claim_has_a_picture_of_its_answer_and_verdict(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = store.submit("Tea is hot. " * 40, "esoteric")[0]
    address = f"/claims/{job.id}/picture.png"
    assert client.get(address).status_code == 404
    worker.finish(job, claim_document(job.claim))
    named = f'<meta property="og:image" content="http://localhost{address}">'
    exported = client.get(f"/api/v1/claims/{job.id}/export?format=html").text
    assert named in client.get(f"/claims/{job.id}").text
    assert named in exported
    drawn = Image.open(io.BytesIO(client.get(address).data))
    assert (drawn.format, drawn.size) == ("PNG", (1200, 630))
    red, green, _ = drawn.convert("RGB").crop((5, 300, 6, 301)).tobytes()
    assert green > red  # supported
