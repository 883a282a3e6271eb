"""The figures of the prover: whether it recognises sufficient evidence, and its labels.

There are no annotated operators; whether the evidence suffices follows from the annotations of the
dev claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from research.training.data import TrainingData
from research.training.evidence_sets import EvidenceSet, claim_sets
from research.training.read_texts import Offsets
from retrieval.proof import cut, label_of
from retrieval.stages.decide.proof import operator_of
from retrieval.text.english import EnglishParser
from retrieval.types import INDEPENDENCE, NOT_ENOUGH_INFO, OPERATORS

Opinion: TypeAlias = NDArray[np.float32]
"""The probabilities of a claim's spans, shape ``(spans, 4)``, in the order of ``OPERATORS``."""

_INDEPENDENCE = OPERATORS.index(INDEPENDENCE)
_CUTOFFS = tuple(step / 20 for step in range(1, 20))
_TEMPERATURES = tuple(0.5 + step / 20 for step in range(71))


@dataclass(frozen=True, slots=True)
class DevSets:
    """Evidence sets of development claims, and the spans of each claim."""

    sets: Sequence[EvidenceSet]
    spans: Sequence[Sequence[Offsets]]

    @classmethod
    def of(cls, data: TrainingData, part: tuple[int, tuple[int, ...]], seed: int) -> DevSets:
        """Return sets of those of every ``part[0]`` dev claims at the positions ``part[1]``.

        They are made as for training, from the gold sentences, others of their pages and retrieved
        ones; a claim that cannot be cut is left out.
        """
        every, places = part
        claims = [claim for number, claim in enumerate(data.dev) if number % every in places]
        parser = EnglishParser()
        spans = {claim.text: cut(parser.parse(claim.text)) for claim in claims}
        sets = [one for one in claim_sets(claims, data.dev_pool, seed) if spans[one.claim]]
        return cls(sets, [spans[one.claim] for one in sets])


def openness(opinion: Opinion) -> float:
    """Return the highest probability of any span that it is open."""
    return float(opinion[:, _INDEPENDENCE].max())


def sufficiency_figures(
    opinions: Sequence[Opinion], dev: DevSets, cutoff: float
) -> dict[str, float]:
    """Return how often the prover is right, in %.

    ``balanced``: the mean share of sets that suffice, and of sets that do not, that are classified
    correctly. ``open_precision``, ``open_recall``: of the sets that do not suffice. ``two_pages``:
    as ``balanced``, of claims that need two pages, whole sets against those with a sentence left
    out. ``label``: sets that suffice whose proof gives the claim's label.
    """
    labels = [
        label_of(operator_of(row, cutoff) for row in opinion.tolist()) for opinion in opinions
    ]
    predicted = np.array([openness(opinion) >= cutoff for opinion in opinions])
    truth = np.array([one.label == NOT_ENOUGH_INFO for one in dev.sets])
    two = np.array([one.two_pages and (bool(one.gold)) for one in dev.sets])
    right = [label == one.label for label, one in zip(labels, dev.sets, strict=True)]
    return {
        "balanced": _balanced(predicted, truth),
        "open_precision": 100 * float((predicted & truth).sum() / max(1, predicted.sum())),
        "open_recall": 100 * float((predicted & truth).sum() / max(1, truth.sum())),
        "two_pages": _balanced(predicted[two], truth[two]),
        "label": 100 * float(np.array(right)[~truth].sum() / max(1, (~truth).sum())),
    }


def scaled(opinion: Opinion, temperature: float) -> Opinion:
    """Return the opinion at another temperature (Guo et al. 2017, 4.2)."""
    powers = np.maximum(opinion, 1e-9) ** (1 / temperature)
    probabilities: Opinion = powers / powers.sum(axis=1, keepdims=True)
    return probabilities


def fitted_temperature(opinions: Sequence[Opinion], dev: DevSets) -> float:
    """Return the temperature at which ``openness`` makes the labels of the sets most likely."""
    truth = np.array([one.label == NOT_ENOUGH_INFO for one in dev.sets])

    def log_loss(temperature: float) -> float:
        predicted = np.array([openness(scaled(opinion, temperature)) for opinion in opinions])
        return float(-np.log(np.clip(np.where(truth, predicted, 1 - predicted), 1e-6, 1)).mean())

    return min(_TEMPERATURES, key=log_loss)


def fitted_cutoff(opinions: Sequence[Opinion], dev: DevSets) -> float:
    """Return the cutoff of ``openness`` that best separates sufficient sets from others."""
    truth = np.array([one.label == NOT_ENOUGH_INFO for one in dev.sets])
    predicted = np.array([openness(opinion) for opinion in opinions])
    return max(_CUTOFFS, key=lambda cutoff: _balanced(predicted >= cutoff, truth))


def _balanced(predicted: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Return the mean share, in %, of true and of false cases that are classified correctly.

    If there is only one kind, it is the share of that kind; without cases it is 0.
    """
    right = [predicted[truth], ~predicted[~truth]]
    shares = [float(kind.mean()) for kind in right if len(kind)]
    return 100 * sum(shares) / max(1, len(shares))
