"""The claim document: a report as plain JSON values (``docs/data-model.md``)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from retrieval.types import (
    CorpusInfo,
    Evidence,
    Hop,
    Judgement,
    Mutation,
    Question,
    RankedDocument,
    Report,
)


def claim_document(report: Report) -> dict[str, Any]:
    """Return what ``esoteric check --json`` prints and the API's ``result`` holds."""
    return {
        "claim": report.claim,
        "recipe": report.recipe,
        "notices": list(report.notices),
        "corpus": corpus_document(report.corpus),
        "verdict": {
            "label": report.verdict.label,
            "confidence": _rounded(report.verdict.confidence),
            "judge": report.verdict.judge,
            "rationale": report.verdict.rationale,
            "opinions": [_judgement(opinion) for opinion in report.verdict.opinions],
        },
        "evidence": [_evidence(item) for item in report.evidence],
        "documents": [_document(ranked) for ranked in report.documents],
        "questions": [_question(question) for question in report.questions],
        "proof": [_mutation(m) for m in report.proof.mutations] if report.proof else [],
        "proof_label": report.proof.label if report.proof else None,
        "hops": [_hop(hop) for hop in report.hops],
        "seconds": {stage: _rounded(seconds) for stage, seconds in report.seconds.items()},
        "usage": asdict(report.usage) if report.usage else None,
    }


def corpus_document(corpus: CorpusInfo) -> dict[str, Any]:
    """Return what the claim document says of the index."""
    return {
        "name": corpus.name,
        "documents": corpus.documents,
        "built_at": corpus.built_at,
    }


def _judgement(opinion: Judgement) -> dict[str, Any]:
    return {
        "judge": opinion.judge,
        "label": opinion.label,
        "confidence": _rounded(opinion.confidence),
        "rationale": opinion.rationale,
        "cites": list(opinion.cites),
        "missing": opinion.missing,
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
        "path": [[key.document_id, key.sentence_id] for key in item.path],
    }


def _document(ranked: RankedDocument) -> dict[str, Any]:
    return {
        "id": ranked.document.id,
        "title": ranked.document.title,
        "url": ranked.document.url,
        "score": _rounded(ranked.score),
        "found_by": list(ranked.found_by),
        "hop": ranked.hop,
        "led_by": [ranked.led_by.document_id, ranked.led_by.sentence_id] if ranked.led_by else None,
        "text": ranked.document.text,
    }


def _question(question: Question) -> dict[str, Any]:
    return {
        "text": question.text,
        "answer_span": question.answer.text if question.answer else None,
        "kind": question.kind,
    }


def _mutation(mutation: Mutation) -> dict[str, Any]:
    span = mutation.evidence
    return {
        "claim_span": [mutation.start, mutation.end],
        "operator": mutation.operator,
        "evidence": [span.key.document_id, span.key.sentence_id, span.start, span.end]
        if span
        else None,
    }


def _hop(hop: Hop) -> dict[str, Any]:
    return {
        "hop": hop.hop,
        "sufficient": hop.sufficient,
        "missing": [list(span) for span in hop.missing],
        "documents": hop.documents,
        "sentences": hop.sentences,
        "label": hop.label,
        "best": [[key.document_id, key.sentence_id] for key in hop.best],
        "stopped": hop.stopped,
    }


def _rounded(value: float) -> float:
    return round(value, 4)
