"""FEVER's measures, claim by claim, and their means (Thorne et al. 2018, sections 4 and 5).

A claim's scores are one row of a matrix; a figure is computed from rows. So the same code computes
the figures, their confidence intervals and the comparison of two systems. NaN means that a claim
does not count for a measure: undecided claims have no evidence to find.

Claims about the same page tend to be right or wrong together, so intervals and comparisons draw
groups of claims: with single claims the results would be too optimistic.

The last part measures whether a system knows that its evidence is not enough yet (AdMIRaL, section
5.3), after the first hop of claims that need several pages: does the system continue exactly if the
best sentences contain no whole evidence set? And whether its confidence equals its accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim, FeverClaim, SentenceKey, page_key
from research.evaluation.run import MOST_EVIDENCE, Answer
from retrieval.types import NOT_ENOUGH_INFO

PAGE_RANKS = (1, 5, 10, 20)
SENTENCE_RANKS = (1, 5, 10, 20)
COLUMNS = (
    "label_accuracy",
    "fever_score",
    "evidence_precision",
    "evidence_recall",
    "ofever",
    *(f"page_recall@{k}" for k in PAGE_RANKS),
    *(f"sentence_recall@{k}" for k in SENTENCE_RANKS),
)
FIGURES = (*COLUMNS[:4], "evidence_f1", *COLUMNS[4:])
_NO_PART = float("nan")


def scores_of(claim: AnnotatedClaim, answer: Answer) -> list[float]:
    """Return the claim's row, in the order of ``COLUMNS``; each 0..1 or NaN.

    ``label_accuracy``: the label is right. ``fever_score``: and, for a decided
    claim, some whole evidence set is among the first five sentences.
    ``evidence_precision``: the share of the first five that is in any set; 1
    where none is given. ``evidence_recall``: some whole set is among the first
    five. ``ofever``: what the FEVER score could be if everything after the
    retrieval of documents were an oracle: some whole set is on the documents,
    and undecided claims count as right (their section 4, "oracle accuracy").
    ``…_recall@k``: some whole set is on the first ``k`` documents, or is
    among the first ``k`` ranked sentences.
    """
    right = float(answer.label == claim.label)
    if claim.label == NOT_ENOUGH_INFO:
        nothing = [_NO_PART] * (len(PAGE_RANKS) + len(SENTENCE_RANKS))
        return [right, right, _NO_PART, _NO_PART, 1.0, *nothing]
    given = keys(answer.evidence[:MOST_EVIDENCE])
    found = float(_holds_a_set(claim, set(given)))
    precision = sum(key in claim.gold for key in given) / len(given) if given else 1.0
    pages = [page_key(page) for page in answer.pages]
    ranked = keys([key for key, _ in answer.ranked])
    return [
        right,
        right * found,
        precision,
        found,
        float(_pages_hold_a_set(claim, set(pages))),
        *(float(_pages_hold_a_set(claim, set(pages[:k]))) for k in PAGE_RANKS),
        *(float(_holds_a_set(claim, set(ranked[:k]))) for k in SENTENCE_RANKS),
    ]


def score_matrix(
    claims: Sequence[AnnotatedClaim], answers: Sequence[Answer]
) -> NDArray[np.float64]:
    """Return the rows of all claims, shape ``(len(claims), len(COLUMNS))``."""
    rows = [scores_of(claim, answer) for claim, answer in zip(claims, answers, strict=True)]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(COLUMNS))


def figures_of(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``FIGURES`` of a score matrix: means over the claims that count for them.

    ``evidence_f1`` is the harmonic mean of the means of precision and recall,
    as in FEVER's scorer. NaN if no claim counts.
    """
    counted = ~np.isnan(scores)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(counted, scores, 0.0).sum(axis=0) / counted.sum(axis=0)
        precision, recall = means[2], means[3]
        f1 = 0.0 if precision + recall == 0 else 2 * precision * recall / (precision + recall)
    return np.insert(means, 4, f1)


def keys(sentences: Sequence[SentenceKey]) -> list[SentenceKey]:
    """Return the sentences with their page ids in NFC, for comparisons."""
    return [(page_key(page), number) for page, number in sentences]


def _holds_a_set(claim: AnnotatedClaim, sentences: set[SentenceKey]) -> bool:
    return any(sentences.issuperset(group) for group in claim.evidence)


def _pages_hold_a_set(claim: AnnotatedClaim, pages: set[str]) -> bool:
    return any(pages.issuperset(page for page, _ in group) for group in claim.evidence)


RESAMPLES = 1000
SHUFFLES = 2000
SEED = 0


def confidence_intervals(
    scores: NDArray[np.float64],
    groups: Sequence[Hashable],
    figures: Callable[[NDArray[np.float64]], NDArray[np.float64]] = figures_of,
) -> NDArray[np.float64]:
    """Return 95% intervals of what ``figures`` computes of the rows, shape ``(figures, 2)``.

    Percentile bootstrap (Efron & Tibshirani 1993, chapter 13) over groups of
    claims, from a fixed seed; ``groups`` names the group of each row.
    """
    random = np.random.default_rng(SEED)
    members = group_members(groups)
    resamples = (random.integers(0, len(members), len(members)) for _ in range(RESAMPLES))
    drawn = np.stack(
        [figures(scores[np.concatenate([members[g] for g in chosen])]) for chosen in resamples]
    )
    return np.stack(
        [
            np.quantile(column[~np.isnan(column)], (0.025, 0.975))
            if not np.isnan(column).all()
            else np.full(2, np.nan)
            for column in drawn.T
        ]
    )


def group_members(groups: Sequence[Hashable]) -> list[NDArray[np.intp]]:
    """Return the rows of each group, which ``groups`` names for each row."""
    number = _numbered(groups)
    return [np.flatnonzero(number == group) for group in range(number.max() + 1)]


def paired_p_values(
    first: NDArray[np.float64], second: NDArray[np.float64], groups: Sequence[Hashable]
) -> NDArray[np.float64]:
    """Return, for each of ``FIGURES``, how often chance alone differs as much, two-sided.

    Approximate randomisation over pairs of answers to the same claims (Noreen
    1989; Yeh 2000, "More accurate tests for the statistical significance of
    result differences"), from a fixed seed. Rows must belong to the same
    claims; ``groups`` names the group of each, whose pairs are swapped together.
    """
    random = np.random.default_rng(SEED)
    number = _numbered(groups)
    difference = np.abs(figures_of(first) - figures_of(second))
    as_much = np.ones(len(difference))
    for _ in range(SHUFFLES):
        exchanged = (random.random(number.max() + 1) < 0.5)[number, None]
        one = np.where(exchanged, second, first)
        other = np.where(exchanged, first, second)
        # A rounding error must not count as less than the difference itself.
        as_much += np.abs(figures_of(one) - figures_of(other)) >= difference - 1e-12
    return np.where(np.isnan(difference), np.nan, as_much / (SHUFFLES + 1))


def _numbered(groups: Sequence[Hashable]) -> NDArray[np.intp]:
    """Return the number of each row's group, counted from 0 in order of appearance."""
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(group, len(known)) for group in groups], dtype=np.intp)


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
        drawn.append(
            (
                _share_that_are(called[chosen], short[chosen]),
                _share_that_are(short[chosen], called[chosen]),
            )
        )
    precision, recall = _share_that_are(called, short), _share_that_are(short, called)
    return Insufficiency(
        precision,
        _interval([p for p, _ in drawn if p is not None]) if precision is not None else None,
        recall,
        _interval([r for _, r in drawn if r is not None]) if recall is not None else None,
    )


def _share_that_are(of: NDArray[np.bool_], that_are: NDArray[np.bool_]) -> float | None:
    return float(that_are[of].mean()) if of.any() else None


def _interval(drawn: Sequence[float]) -> tuple[float, float]:
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)


BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of similar confidence: their mean confidence and their accuracy."""

    low: float
    high: float
    answers: int
    confidence: float
    accuracy: float


def reliability(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> list[Bin]:
    """Return the reliability curve: ten bins of equal width, without the empty ones.

    Guo et al. (2017), "On Calibration of Modern Neural Networks", section 2.
    """
    numbers = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return [
        Bin(
            number / BINS,
            (number + 1) / BINS,
            int(chosen.sum()),
            float(confidence[chosen].mean()),
            float(right[chosen].mean()),
        )
        for number in range(BINS)
        if (chosen := numbers == number).any()
    ]


def calibration_error(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error over those bins, 0..1 (their equation 3)."""
    return sum(
        abs(part.confidence - part.accuracy) * part.answers / len(confidence)
        for part in reliability(confidence, right)
    )


def accuracy_of_most_confident(
    confidence: NDArray[np.float64], right: NDArray[np.bool_], share: float
) -> float:
    """Return the accuracy of the most confident ``share`` of the answers, 0..1.

    Of answers with equal confidence, earlier claims count first.
    """
    kept = np.argsort(-confidence, kind="stable")[: max(1, round(share * len(confidence)))]
    return float(right[kept].mean())
