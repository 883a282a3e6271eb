"""Feedback as data sets: the claims and the pairs that ``esoteric evaluate`` and trainings read.

A claim with its label needs sentences that show it. They are those that the program has found and
labelled so; those that the person calls labelled wrongly are left out. Where a decided label has no
sentence, there is no line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from retrieval.result import ClaimResult, Evidence
from retrieval.types import NOT_ENOUGH_INFO, SentenceKey
from worker.feedback_store import Feedback, Said
from worker.jobs import Job

_KIND = "feedback"


def lines(name: str, given: Iterable[tuple[Feedback, Job]]) -> Iterator[str]:
    """Yield the lines of a format.

    Raises:
        KeyError: there is no such format.
    """
    records = FORMATS[name]
    for feedback, job in given:
        if job.result is not None:
            for record in records(job.result, feedback.opinion):
                yield json.dumps(record, ensure_ascii=False) + "\n"


def _claims(result: ClaimResult, opinion: Said) -> Iterator[dict[str, Any]]:
    """Yield the line ``{"claim", "label", "kind", "evidence", "texts"}``."""
    record: dict[str, Any] = {"claim": result.claim, "label": opinion.label, "kind": _KIND}
    if opinion.label == NOT_ENOUGH_INFO:
        tempting = [_key(result.evidence[number - 1]) for number in opinion.wrong[:1]]
        yield record | {"evidence": []} | ({"tempting": tempting[0]} if tempting else {})
        return
    sets = _sets(result, opinion)
    if sets:
        known = {_key(item): item.sentence for item in result.evidence}
        record |= {"evidence": sets}
        if all(key in known for group in sets for key in group):
            record |= {"texts": [[known[key] for key in group] for group in sets]}
        yield record


def _pairs(result: ClaimResult, opinion: Said) -> Iterator[dict[str, Any]]:
    """Yield lines ``{"claim", "label", "evidence", "source", "kind"}``, one for each set."""
    known = {_key(item): item for item in result.evidence}
    sets = [[_key(item) for item in result.selected]]
    if opinion.label != NOT_ENOUGH_INFO:
        sets = _sets(result, opinion)
    for group in sets:
        sentences = [
            {"title": known[key].title, "sentence": known[key].sentence}
            for key in group
            if key in known
        ]
        if sentences and len(sentences) == len(group):
            yield {
                "claim": result.claim,
                "label": opinion.label,
                "evidence": sentences,
                "source": _KIND,
                "kind": _KIND,
            }


def _sets(result: ClaimResult, opinion: Said) -> list[list[SentenceKey]]:
    """Return the sets of sentences with the label, selected ones if there are any."""
    right = [
        item
        for rank, item in enumerate(result.evidence, 1)
        if item.stance == opinion.label and rank not in opinion.wrong
    ]
    best = [item for item in right if item.selected] or right
    return [[*item.path, _key(item)] for item in best]


def _key(item: Evidence) -> SentenceKey:
    return SentenceKey(item.document, item.sentence_id)


FORMATS: dict[str, Callable[[ClaimResult, Said], Iterator[dict[str, Any]]]] = {
    "claims": _claims,
    "pairs": _pairs,
}
