"""Computes the content of ``results.json`` from the answers of the systems."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.evaluation.claims import FeverClaim
from research.evaluation.measures.calibration import (
    accuracy_of_most_confident,
    calibration_error,
    reliability,
)
from research.evaluation.measures.esoteric_table import esoteric_table, searches_of
from research.evaluation.measures.scores import (
    FIGURES,
    confidence_intervals,
    figures_of,
    mean_hops,
    paired_p_values,
    score_matrix,
    sufficiency,
)
from research.evaluation.run import Answer, SystemOutcome
from retrieval.types import LABELS

MOST_CONFIDENT = 0.8  # the share that remains without the least confident fifth
# The claims of each subset; undecided claims are in neither, because they need no page.
SUBSETS: dict[str, Callable[[FeverClaim], bool]] = {
    "single_page": lambda claim: bool(claim.evidence) and not claim.needs_several_pages,
    "multi_page": lambda claim: claim.needs_several_pages,
}


def results_of(
    claims: Sequence[FeverClaim], outcomes: Mapping[str, SystemOutcome], data: dict[str, Any]
) -> dict[str, Any]:
    """Return the content of ``results.json``; ``data``: what it was measured on.

    Figures are 0..1, ``None`` if no claim counts for them. Claims that crashed are
    in no figure.
    """
    by_id = {claim.id: claim for claim in claims}
    return {
        "data": data,
        "recipes": {name: _recipe(by_id, outcome) for name, outcome in outcomes.items()},
        "comparisons": [
            _comparison(by_id, first, second, outcomes)
            for first, second in combinations(outcomes, 2)
        ],
    }


def _recipe(claims: Mapping[int, FeverClaim], outcome: SystemOutcome) -> dict[str, Any]:
    asked = [claims[prediction.claim_id] for prediction in outcome.predictions]
    answers = [prediction.answer for prediction in outcome.predictions]
    summary: dict[str, Any] = {
        "claims": len(claims),
        "answered": len(answers),
        "crashes": [asdict(crash) for crash in outcome.crashes],
    }
    if not answers:
        return summary
    scores = score_matrix(asked, answers)
    return summary | {
        **_figures(scores, asked),
        "subsets": {
            name: _figures(
                scores[[belongs(claim) for claim in asked]],
                [claim for claim in asked if belongs(claim)],
            )
            for name, belongs in SUBSETS.items()
        },
        "confusion": {
            gold: {
                label: sum(
                    claim.label == gold and answer.label == label
                    for claim, answer in zip(asked, answers, strict=True)
                )
                for label in LABELS
            }
            for gold in LABELS
        },
        "calibration": _calibration(asked, answers),
        "esoteric_table": esoteric_table(searches_of(asked, answers)),
        "hops": _hops(asked, answers),
        "seconds": _seconds(answers),
    }


def _figures(scores: NDArray[np.float64], claims: Sequence[FeverClaim]) -> dict[str, Any]:
    if not len(scores):
        return {"claims": 0, "figures": {}, "intervals": {}}
    intervals = confidence_intervals(scores, [claim.group for claim in claims])
    return {
        "claims": len(scores),
        "figures": dict(zip(FIGURES, map(_number, figures_of(scores)), strict=True)),
        "intervals": {
            name: [_number(low), _number(high)]
            for name, (low, high) in zip(FIGURES, intervals, strict=True)
        },
    }


def _calibration(claims: Sequence[FeverClaim], answers: Sequence[Answer]) -> dict[str, Any]:
    confidence = np.array([answer.confidence for answer in answers])
    right = np.array([a.label == c.label for c, a in zip(claims, answers, strict=True)])
    most_confident = accuracy_of_most_confident(confidence, right, MOST_CONFIDENT)
    return {
        "error": calibration_error(confidence, right),
        "bins": [asdict(part) for part in reliability(confidence, right)],
        "accuracy_of_the_surest": most_confident,
        "gain_of_leaving_out": most_confident - float(right.mean()),
    }


def _hops(claims: Sequence[FeverClaim], answers: Sequence[Answer]) -> dict[str, Any]:
    known = sufficiency(claims, answers)
    several = [a for c, a in zip(claims, answers, strict=True) if c.needs_several_pages]
    return {
        "mean": mean_hops(answers),
        "mean_multi_page": mean_hops(several),
        "insufficiency": asdict(known) if known else None,
    }


def _seconds(answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    stages = dict.fromkeys(stage for answer in answers for stage in answer.seconds)
    return {
        stage: {
            "mean": float(spent.mean()),
            "median": float(np.median(spent)),
            "p95": float(np.quantile(spent, 0.95)),
        }
        for stage in stages
        for spent in [np.array([answer.seconds.get(stage, 0.0) for answer in answers])]
    }


def _comparison(
    claims: Mapping[int, FeverClaim],
    first: str,
    second: str,
    outcomes: Mapping[str, SystemOutcome],
) -> dict[str, Any]:
    answers = [
        {p.claim_id: p.answer for p in outcomes[name].predictions} for name in (first, second)
    ]
    both = [number for number in claims if all(number in answered for answered in answers)]
    summary: dict[str, Any] = {"first": first, "second": second, "claims": len(both)}
    if not both:
        return summary
    asked = [claims[number] for number in both]
    one, other = (
        score_matrix(asked, [answered[number] for number in both]) for answered in answers
    )
    differences = figures_of(one) - figures_of(other)
    chances = paired_p_values(one, other, [claim.group for claim in asked])
    return summary | {
        "differences": dict(zip(FIGURES, map(_number, differences), strict=True)),
        "p_values": dict(zip(FIGURES, map(_number, chances), strict=True)),
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
