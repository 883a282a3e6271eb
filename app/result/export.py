"""Finished claims as files: JSON, Markdown, CSV, and what is published of them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from flask import url_for

from app.filters import safe_url
from app.result.markdown import markdown
from app.result.published import Published, claim_page
from retrieval.claim_lists.verdicts import (
    checked_as,
    part_by_part,
    safe_cell,
    sentences_in_lines,
    sources_in_lines,
    stance_in_words,
)
from retrieval.result import ClaimResult
from retrieval.types import NOT_ENOUGH_INFO
from worker.jobs import Job

ClaimFormat: TypeAlias = Literal["json", "md", "csv", "html", "pdf", "claimreview"]

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
class Format:
    """A file format of a claim, or of a list; ``label``: what pages call it."""

    label: str
    suffix: str
    media_type: str


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


def _json(job: Job, published: Published) -> str:
    return json.dumps(published.result.document(), ensure_ascii=False, indent=2) + "\n"


def _markdown(job: Job, published: Published) -> str:
    return markdown(job, published.result, published.page, published.text_sentence)


def _csv(job: Job, published: Published) -> str:
    result = published.result
    about = _about(job) | {
        "claim": result.claim,
        "recipe": result.recipe,
        "text_sentence": published.text_sentence,
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


def _second(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _html(job: Job, published: Published) -> str:
    return claim_page(published)


def _pdf(job: Job, published: Published) -> bytes:
    from app.result.printed import printed  # here, as few ask for it

    return printed(published)


def _claim_review(job: Job, published: Published) -> str:
    assert published.review  # the view has checked that it is confirmed
    return f"{published.review}\n"


FORMATS: dict[str, Format] = {
    "html": Format("Web page", "html", "text/html"),
    "pdf": Format("PDF", "pdf", "application/pdf"),
    "md": Format("Text (Markdown)", "md", "text/markdown"),
    "csv": Format("Table (CSV)", "csv", "text/csv"),
    "xlsx": Format(
        "Excel", "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    ),
    "json": Format("For programs (JSON)", "json", "application/json"),
    "jsonl": Format("For programs (JSON lines)", "jsonl", "application/x-ndjson"),
    "claimreview": Format("ClaimReview", "jsonld", "application/ld+json"),
}
EXPORTS: dict[ClaimFormat, Callable[[Job, Published], str | bytes]] = {
    "html": _html,
    "pdf": _pdf,
    "md": _markdown,
    "csv": _csv,
    "json": _json,
    "claimreview": _claim_review,
}
