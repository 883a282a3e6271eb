"""Whether a system knows that its evidence is not enough yet (AdMIRaL, section 5.3).

Measured after the first hop of claims that need several pages: does the system continue
exactly if the best sentences contain no whole evidence set?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from research.evaluation.claims import FeverClaim
from research.evaluation.measures.scores import keys
from research.evaluation.measures.significance import RESAMPLES, SEED, group_members
from research.evaluation.predictions import Answer
from retrieval.types import NOT_ENOUGH_INFO


@dataclass(frozen=True, slots=True)
class Insufficiency:
    """Precision and recall of calling evidence insufficient, 0..1.

    Both with the ends of their 95% intervals; ``None`` if no evidence is called
    insufficient, or none is.
    """

    precision: float | None
    precision_interval: tuple[float, float] | None
    recall: float | None
    recall_interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """Figures of ``claims`` that need several pages; ``insufficient``: after the first hop.

    ``own``: the system's own decision. ``verdict``: a plain classifier, the
    label of the best sentences. ``always``, ``never``: a system that always continues,
    and one that never does.
    """

    claims: int
    insufficient: int
    own: Insufficiency
    verdict: Insufficiency
    always: Insufficiency
    never: Insufficiency


def mean_hops(answers: Sequence[Answer]) -> float | None:
    """Return the mean number of hops of an answer; ``None`` for systems without hops."""
    taken = [len(answer.hops) for answer in answers if answer.hops]
    return float(np.mean(taken)) if taken else None


def sufficiency(claims: Sequence[FeverClaim], answers: Sequence[Answer]) -> Sufficiency | None:
    """Return the figures; ``None`` where no claim needs several pages or no hop was taken."""
    asked = [
        (claim, answer.hops[0])
        for claim, answer in zip(claims, answers, strict=True)
        if claim.needs_several_pages and answer.hops
    ]
    if not asked:
        return None
    short = np.array(
        [
            not any(set(keys(hop.best)).issuperset(group) for group in claim.evidence)
            for claim, hop in asked
        ]
    )
    groups = group_members([claim.group for claim, _ in asked])
    everything = np.ones(len(asked), dtype=bool)
    return Sufficiency(
        claims=len(asked),
        insufficient=int(short.sum()),
        own=_told(np.array([not hop.sufficient for _, hop in asked]), short, groups),
        verdict=_told(np.array([hop.label == NOT_ENOUGH_INFO for _, hop in asked]), short, groups),
        always=_told(everything, short, groups),
        never=_told(~everything, short, groups),
    )


def _told(
    called: NDArray[np.bool_], short: NDArray[np.bool_], groups: Sequence[NDArray[np.intp]]
) -> Insufficiency:
    random = np.random.default_rng(SEED)
    drawn = []
    for _ in range(RESAMPLES):
        chosen = np.concatenate([groups[g] for g in random.integers(0, len(groups), len(groups))])
        drawn.append((_share(called[chosen], short[chosen]), _share(short[chosen], called[chosen])))
    precision, recall = _share(called, short), _share(short, called)
    return Insufficiency(
        precision,
        _interval([p for p, _ in drawn if p is not None]) if precision is not None else None,
        recall,
        _interval([r for _, r in drawn if r is not None]) if recall is not None else None,
    )


def _share(of: NDArray[np.bool_], that_are: NDArray[np.bool_]) -> float | None:
    return float(that_are[of].mean()) if of.any() else None


def _interval(drawn: Sequence[float]) -> tuple[float, float]:
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)
