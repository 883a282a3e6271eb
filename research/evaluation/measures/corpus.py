"""The measures of claims against the served corpus, from their claim documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from research.evaluation.claims import CorpusClaim
from research.evaluation.measures.calibration import calibration_error
from retrieval.result import ClaimResult
from retrieval.types import NOT_ENOUGH_INFO, OPPOSITE

FIRST = 5  # sentences that evidence recall looks at
SHOWN = 3  # sentences that a user sees first


def corpus_results(
    claims: Sequence[CorpusClaim], answers: Sequence[ClaimResult | None]
) -> dict[str, Any]:
    """Return the measures of a recipe, of all claims, by label and by kind (all 0 to 1).

    ``label_accuracy``: claims with the right one of three labels. ``evidence_recall@5``: decided
    claims with a whole set of their evidence among the first five sentences.
    ``opposite_stances``: of the first three sentences of decided claims, those whose stance is the
    opposite of the label. ``contradicted``: decided verdicts none of whose selected sentences has
    the verdict's stance, while one has the opposite. ``calibration_error``: expected, ten bins.
    A claim that could not be checked (``None``) is in no figure; ``failed`` counts these.
    """
    pairs = [(claim, one) for claim, one in zip(claims, answers, strict=True) if one is not None]
    results = _measures(pairs)
    results["failed"] = len(claims) - len(pairs)
    for key in ("label", "kind"):
        names = dict.fromkeys(getattr(claim, key) for claim, _ in pairs)
        results[f"by_{key}"] = {
            name: _measures([pair for pair in pairs if getattr(pair[0], key) == name])
            for name in names
        }
    seconds = [answer.seconds["total"] for _, answer in pairs]
    results["seconds"] = {
        "p50": float(np.percentile(seconds, 50)) if seconds else None,
        "p95": float(np.percentile(seconds, 95)) if seconds else None,
    }
    return results


def _measures(pairs: Sequence[tuple[CorpusClaim, ClaimResult]]) -> dict[str, Any]:
    decided = [pair for pair in pairs if pair[0].label != NOT_ENOUGH_INFO]
    right = [answer.verdict.label == claim.label for claim, answer in pairs]
    confidence = [answer.verdict.confidence for _, answer in pairs]
    opposite = [
        item.stance == OPPOSITE[claim.label]
        for claim, answer in decided
        for item in answer.evidence[:SHOWN]
    ]
    return {
        "claims": len(pairs),
        "label_accuracy": _mean(right),
        f"evidence_recall@{FIRST}": _mean([_found(claim, answer) for claim, answer in decided]),
        "opposite_stances": _mean(opposite),
        "contradicted": sum(contradicted(answer) for _, answer in pairs),
        "calibration_error": calibration_error(np.array(confidence), np.array(right))
        if pairs
        else None,
    }


def contradicted(answer: ClaimResult) -> bool:
    """Return whether some selected evidence contradicts the verdict and none supports it."""
    label = answer.verdict.label
    stances = {item.stance for item in answer.selected}
    return label != NOT_ENOUGH_INFO and label not in stances and OPPOSITE[label] in stances


def _found(claim: CorpusClaim, answer: ClaimResult) -> bool:
    """Return whether a whole set is among the first sentences, by number or by text."""
    first = answer.evidence[:FIRST]
    keys = {(item.document, item.sentence_id) for item in first}
    texts = {(item.document, item.sentence) for item in first}
    sets = [
        [
            key in keys or (bool(claim.texts) and (key[0], claim.texts[n][m]) in texts)
            for m, key in enumerate(group)
        ]
        for n, group in enumerate(claim.evidence)
    ]
    return any(all(group) for group in sets)


def _mean(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None
