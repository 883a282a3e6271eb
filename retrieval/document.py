"""The claim document: a report as plain JSON values (``docs/data-model.md``)."""

from __future__ import annotations

from typing import Any

from retrieval.types import Evidence, Hop, Question, RankedDocument, Report


def claim_document(report: Report) -> dict[str, Any]:
    """Return what ``esoteric check --json`` prints and the API's ``result`` holds."""
    return {
        "claim": report.claim,
        "recipe": report.recipe,
        "notices": list(report.notices),
        "corpus": {
            "name": report.corpus.name,
            "documents": report.corpus.documents,
            "built_at": report.corpus.built_at,
        },
        "verdict": {
            "label": report.verdict.label,
            "confidence": _rounded(report.verdict.confidence),
            "judge": report.verdict.judge,
            "rationale": report.verdict.rationale,
        },
        "evidence": [_evidence(item) for item in report.evidence],
        "documents": [_document(ranked) for ranked in report.documents],
        "questions": [_question(question) for question in report.questions],
        # No stage of today's recipe aligns claim and evidence span by span.
        "proof": [],
        "hops": [_hop(hop) for hop in report.hops],
        "seconds": {stage: _rounded(seconds) for stage, seconds in report.seconds.items()},
    }


def _evidence(item: Evidence) -> dict[str, Any]:
    return {
        "document": item.sentence.document_id,
        "title": item.title,
        "url": item.url,
        "sentence_id": item.sentence.sentence_id,
        "sentence": item.sentence.text,
        "start": item.sentence.start,
        "end": item.sentence.end,
        "score": _rounded(item.score),
        "stance": item.stance,
        "stance_confidence": _rounded(item.stance_confidence),
        "hop": item.hop,
        "selected": item.selected,
    }


def _document(ranked: RankedDocument) -> dict[str, Any]:
    return {
        "id": ranked.document.id,
        "title": ranked.document.title,
        "url": ranked.document.url,
        "score": _rounded(ranked.score),
        "found_by": list(ranked.found_by),
        "hop": ranked.hop,
        "text": ranked.document.text,
    }


def _question(question: Question) -> dict[str, Any]:
    return {
        "text": question.text,
        "answer_span": question.answer.text if question.answer else None,
        "kind": question.kind,
    }


def _hop(hop: Hop) -> dict[str, Any]:
    return {
        "hop": hop.hop,
        "sufficient": hop.sufficient,
        "missing": [list(span) for span in hop.missing],
        "documents": hop.documents,
        "sentences": hop.sentences,
    }


def _rounded(value: float) -> float:
    return round(value, 4)
