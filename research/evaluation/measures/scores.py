"""FEVER's measures, claim by claim, and their means (Thorne et al. 2018, sections 4 and 5).

A claim's scores are one row of a matrix; a figure is computed from rows. So the
same code computes the figures, their confidence intervals and the comparison of
two systems (``significance.py``). NaN means that a claim does not count for a
measure: undecided claims have no evidence to find.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim, SentenceKey, page_key
from research.evaluation.predictions import MOST_EVIDENCE, Answer
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
