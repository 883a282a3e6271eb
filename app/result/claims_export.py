"""Several claims as one file: a CSV with one row for each claim, or JSON with all of each."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from datetime import datetime

from flask import url_for

from app.filters import safe_url
from retrieval.claim_lists.verdicts import (
    checked_as,
    part_by_part,
    sentences_in_lines,
    sources_in_lines,
    stance_in_words,
)
from retrieval.safe_cell import safe_cell
from retrieval.types import NOT_ENOUGH_INFO
from worker.jobs import Job

_COLUMNS = (
    *("claim", "verdict", "level", "confidence", "leans", "recipe", "judge"),
    *("corpus", "documents", "text_date", "indexed_at", "submitted_at", "finished_at", "seconds"),
    *("stance", "sentence", "title", "url", "state", "error", "id"),
    # New columns come last: programs may count them.
    *("in words", "evidence", "evidence labels", "part by part"),
    *("sources", "checked_as", "esoteric_version", "link"),
)


def as_csv(jobs: Iterable[Job]) -> Iterator[str]:
    """Yield the table; a claim has its best selected sentence, and none if it has no verdict."""
    file = io.StringIO()
    writer = csv.DictWriter(file, _COLUMNS, extrasaction="ignore")
    writer.writeheader()
    for job in jobs:
        writer.writerow({name: safe_cell(value) for name, value in _row(job).items()})
        yield file.getvalue()
        file.seek(0)
        file.truncate()
    yield file.getvalue()


def as_json(jobs: Iterable[Job]) -> Iterator[str]:
    """Yield a list of the claims as the API shows each."""
    before = "["
    for job in jobs:
        yield f"{before}\n{_json(job)}"
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"


def _json(job: Job) -> str:
    return json.dumps(job.model_dump(mode="json", exclude_unset=True), ensure_ascii=False)


def _row(job: Job) -> dict[str, object]:
    row: dict[str, object] = {
        "id": job.id,
        "link": url_for("pages.claim", job_id=job.id, _external=True),
        "claim": job.claim,
        "recipe": job.recipe,
        "state": job.state,
        "error": job.error and job.error.message,
        "submitted_at": _second(job.created_at),
        "finished_at": job.finished_at and _second(job.finished_at),
    }
    result = job.result
    if result is None:
        return row
    verdict = result.verdict
    row |= {
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
        "esoteric_version": result.version,
    }
    if result.selected:
        best = result.selected[0]
        row |= {
            "stance": best.stance,
            "sentence": best.sentence,
            "title": best.reference,
            "url": safe_url(best.url),
        }
    return row


def _second(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
