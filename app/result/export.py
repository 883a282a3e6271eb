"""Finished claims as files: JSON, Markdown, CSV, HTML, PDF, and schema.org's ClaimReview.

A ClaimReview is published as a judgement. So its author and its rating are those of a person who
has confirmed the verdict; without one there is none. It says whether the name of its author was
typed, and which other user submitted the claim.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import render_template, url_for

from app.documents.corpus import from_wikipedia
from app.filters import safe_url
from app.result.answer import answer_of
from app.result.evidence import balance, by_statements, cards, closest_first, source_of
from app.result.markdown import markdown
from app.result.proof import marked_claim
from retrieval.claim_lists.verdicts import (
    checked_as,
    part_by_part,
    safe_cell,
    sentences_in_lines,
    sources_in_lines,
    stance_in_words,
)
from retrieval.result import ClaimResult, Evidence
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS
from retrieval.words import VERDICTS
from settings import CHECKOUT
from worker.feedback_store import Feedback
from worker.jobs import Job
from worker.user_store import user_of

# schema.org needs a best and a worst rating; NOT ENOUGH INFO gets no number.
_BEST, _WORST = 5, 1
_RATINGS = {SUPPORTS: _BEST, REFUTES: _WORST}
_TYPED = "The name was typed by a visitor who had not logged in."
# JSON-LD is made to be put into a page, where HTML would end it at a "</script>". These characters
# occur only in strings of JSON, and are the same strings if they are escaped.
_FOR_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
# Of one claim a row for each piece of evidence, of several a row for each claim. New columns come
# last: programs may count them.
_OF_EVIDENCE = (
    *("claim", "verdict", "confidence", "rank", "selected", "stance", "stance_confidence"),
    *("score", "title", "sentence", "url", "document", "sentence_id", "start", "end", "hop"),
    *("path", "section", "page", "context_before", "context_after"),
    *("copies", "leans", "disagrees", "source", "level"),
    *("recipe", "judge", "corpus", "text_date", "indexed_at", "finished_at", "part by part"),
    *("recipe_digest", "esoteric_version", "claim_as_written", "text_sentence", "link"),
    *("speaker", "appearance", "said_on", "date"),
)
_OF_CLAIMS = (
    *("claim", "verdict", "level", "confidence", "leans", "recipe", "judge"),
    *("corpus", "documents", "text_date", "indexed_at", "submitted_at", "finished_at", "seconds"),
    *("stance", "sentence", "title", "url", "state", "error", "id"),
    *("in words", "evidence", "evidence labels", "part by part"),
    *("sources", "checked_as", "esoteric_version", "link"),
    *("speaker", "appearance", "said_on"),
)


@dataclass(frozen=True, slots=True)
class Provenance:
    """The address of a claim's ``page``, and the sentence of a text that says it, "" for none.

    ``submitted_by``: the user who did, ``None`` where the claim is of no user.
    """

    page: str
    text_sentence: str = ""
    submitted_by: str | None = None


@dataclass(frozen=True, slots=True)
class Export:
    """A file format.

    ``write`` takes the job, its result, where it is from, and who has confirmed the verdict; only a
    ClaimReview needs this.
    """

    suffix: str
    media_type: str
    write: Callable[[Job, ClaimResult, Provenance, Feedback | None], str | bytes]


def export(name: str, job: Job, provenance: Provenance, by: Feedback | None) -> str | bytes:
    """Return the content of the file.

    Raises:
        KeyError: there is no such format.
    """
    assert job.result is not None  # the view has checked this
    return EXPORTS[name].write(job, job.result, provenance, by)


def jobs_as_csv(jobs: Iterable[Job]) -> Iterator[str]:
    """Yield the table; a claim has its best selected sentence, and none if it has no verdict."""
    return csv_table(_OF_CLAIMS, (_about(job) | _best_sentence(job.result) for job in jobs))


def jobs_as_json(jobs: Iterable[Job]) -> Iterator[str]:
    """Yield a list of the claims as the API shows each."""
    before = "["
    for job in jobs:
        shown = json.dumps(job.model_dump(mode="json", exclude_unset=True), ensure_ascii=False)
        yield f"{before}\n{shown}"
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"


def csv_table(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Yield a CSV row by row, first the names of its columns; no cell is a formula."""
    piece = io.StringIO()
    writer = csv.writer(piece)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([safe_cell(row.get(column)) for column in columns])
        yield piece.getvalue()
        piece.seek(0)
        piece.truncate()
    yield piece.getvalue()


def confirmation(given: Sequence[Feedback], asker: str | None) -> Feedback | None:
    """Return the agreement that a ClaimReview is made from: it has a name.

    ``given``: the feedback on the claim, newest first. That of the asker comes before all others.
    """
    named = [one for one in given if one.opinion.agrees and one.opinion.name]
    own = [one for one in named if asker is not None and one.owner == asker]
    return next(iter(own + named), None)


def _about(job: Job) -> dict[str, object]:
    """Return the cells about a claim, as every table of claims names them."""
    cells: dict[str, object] = {
        "id": job.id,
        "link": url_for("pages.claim", job_id=job.id, _external=True),
        "claim": job.claim,
        "recipe": job.recipe,
        "state": job.state,
        "error": job.error and job.error.message,
        "speaker": job.speaker,
        "appearance": job.appearance,
        "said_on": job.said_on,
        "submitted_at": _second(job.created_at),
        "finished_at": job.finished_at and _second(job.finished_at),
    }
    result = job.result
    if result is None:
        return cells
    verdict = result.verdict
    return cells | {
        "verdict": verdict.label,
        "level": verdict.level,
        # A cell without the page around it would read as a certainty.
        "confidence": None if verdict.label == NOT_ENOUGH_INFO else verdict.confidence,
        "leans": verdict.leans,
        "judge": verdict.judge,
        "corpus": result.corpus_title,
        "documents": result.corpus.documents,
        "text_date": result.corpus.text_date,
        "indexed_at": result.corpus.built_at,
        "seconds": result.seconds.get("total"),
        "in words": verdict.words,
        "evidence": sentences_in_lines(result),
        "evidence labels": "\n".join(map(stance_in_words, result.selected)),
        "part by part": part_by_part(result),
        "sources": sources_in_lines(result),
        "checked_as": checked_as(result, job.claim),
        "recipe_digest": result.recipe_digest,
        "esoteric_version": result.version,
        "claim_as_written": result.claim_as_written,
    }


def _best_sentence(result: ClaimResult | None) -> dict[str, object]:
    if result is None or not result.selected:
        return {}
    best = result.selected[0]
    return {
        "stance": best.stance,
        "sentence": best.sentence,
        "title": best.reference,
        "url": safe_url(best.url),
    }


def _json(job: Job, result: ClaimResult, provenance: Provenance, by: Feedback | None) -> str:
    return json.dumps(result.document(), ensure_ascii=False, indent=2) + "\n"


def _markdown(job: Job, result: ClaimResult, provenance: Provenance, by: Feedback | None) -> str:
    return markdown(job, result, provenance.page, provenance.text_sentence)


def _csv(job: Job, result: ClaimResult, provenance: Provenance, by: Feedback | None) -> str:
    about = _about(job) | {
        "claim": result.claim,
        "recipe": result.recipe,
        "text_sentence": provenance.text_sentence,
    }
    rows = [
        about
        | item.model_dump()
        | {
            "source": result.credits.get(item.document),
            "rank": rank,
            "disagrees": rank in result.verdict.disagreement,
            "path": json.dumps(item.path, ensure_ascii=False) if item.path else "",
        }
        for rank, item in enumerate(result.evidence, 1)
    ]
    # A claim without evidence gets one row with its verdict.
    return "".join(csv_table(_OF_EVIDENCE, rows or [about]))


def _claim_review(
    job: Job, result: ClaimResult, provenance: Provenance, by: Feedback | None
) -> str:
    assert by is not None  # the view has checked this
    opinion = by.opinion
    label = opinion.label
    rating: dict[str, Any] = {
        "@type": "Rating",
        # The person has confirmed the verdict, so it is not less sure. A lean is no rating.
        "alternateName": VERDICTS[label],
        "ratingExplanation": opinion.note or result.verdict.rationale,
    }
    if label != NOT_ENOUGH_INFO:
        rating |= {"ratingValue": _RATINGS[label], "bestRating": _BEST, "worstRating": _WORST}
    author = {"@type": "Person", "name": opinion.name}
    user = user_of(by.owner)
    if user is None:
        author["description"] = _TYPED
    claim: dict[str, Any] = {"@type": "Claim", "text": result.claim} | _said_by(job)
    if provenance.submitted_by not in (None, user):
        claim["contributor"] = {"@type": "Person", "name": provenance.submitted_by}
    review = {
        "@context": "https://schema.org",
        "@type": "ClaimReview",
        "url": provenance.page,
        "datePublished": by.created_at.date().isoformat(),
        "author": author,
        "claimReviewed": result.claim,
        "itemReviewed": claim,
        "reviewRating": rating,
        "citation": [
            _citation(item, result.credits.get(item.document))
            for rank, item in enumerate(result.evidence, 1)
            if item.selected and item.stance == label and rank not in opinion.wrong
        ],
    }
    return json.dumps(review, ensure_ascii=False, indent=2).translate(_FOR_SCRIPT) + "\n"


def _said_by(job: Job) -> dict[str, Any]:
    """Return who said the claim, where and when, as far as known."""
    known: dict[str, Any] = {}
    if job.speaker:
        known["author"] = {"@type": "Person", "name": job.speaker}
    if job.said_on:
        known["datePublished"] = job.said_on
    if job.appearance:
        address = safe_url(job.appearance)
        where = {"url": address} if address else {"name": job.appearance}
        date = {"datePublished": job.said_on} if job.said_on else {}
        known["appearance"] = {"@type": "CreativeWork"} | where | date
    return known


def said_in_words(job: Job) -> str:
    """Return who said the claim, where and when, in a line; "" where nothing is known."""
    return ", ".join(filter(None, (job.speaker, job.appearance, job.said_on)))


def _citation(item: Evidence, credit: str | None) -> dict[str, Any]:
    work = {"@type": "CreativeWork", "name": item.reference, "text": item.sentence}
    known = {"url": safe_url(item.url), "creditText": credit}
    return work | {key: value for key, value in known.items() if value}


def _second(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _html(job: Job, result: ClaimResult, provenance: Provenance, by: Feedback | None) -> str:
    """Return the page with its style, all evidence open; of a person's review, that as well."""
    answer = answer_of(result)
    found = cards(result, {}, answer.differences, answer.opposing)
    shown, _ = closest_first(result, found)
    return render_template(
        "published.html",
        job=job,
        result=result,
        answer=answer,
        files={},
        page=provenance.page,
        said=said_in_words(job),
        css=(CHECKOUT / "static" / "style.css").read_text(encoding="utf-8"),
        drawn=marked_claim(result, answer.differences),
        quoted_from=source_of(result, answer.quoted, {}),
        balance=balance(result, answer.opposing),
        found=by_statements(result, shown),
        attribution=any(map(from_wikipedia, result.documents)),
        review=_claim_review(job, result, provenance, by) if by else "",
        by=by.opinion.name if by else "",
    )


def _pdf(job: Job, result: ClaimResult, provenance: Provenance, by: Feedback | None) -> bytes:
    from app.result.printed import printed  # here, as few ask for it

    return printed(job, result, provenance.page, said_in_words(job), by.opinion.name if by else "")


EXPORTS: dict[str, Export] = {
    "json": Export("json", "application/json", _json),
    "md": Export("md", "text/markdown", _markdown),
    "html": Export("html", "text/html", _html),
    "pdf": Export("pdf", "application/pdf", _pdf),
    "csv": Export("csv", "text/csv", _csv),
    "claimreview": Export("jsonld", "application/ld+json", _claim_review),
}
