"""FEVER's measures on four claims worked out by hand (``answers.py``)."""

from __future__ import annotations

import math

import pytest

from research.evaluation.measures.scores import (
    COLUMNS,
    FIGURES,
    figures_of,
    score_matrix,
    scores_of,
)
from retrieval.types import NOT_ENOUGH_INFO, SUPPORTS
from tests.research.evaluation.answers import ANSWERS, CLAIMS, answer, claim

FIGURE = dict(zip(FIGURES, figures_of(score_matrix(CLAIMS, ANSWERS)), strict=True))


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        ("label_accuracy", 3 / 4),
        # A whole set is asked for, unless the claim is undecided: claims 1 and 3.
        ("fever_score", 2 / 4),
        # Precision is a mean over decided claims; recall counts claims with a whole set, even if
        # the label is wrong: 1 and 4. F1 is of the two means.
        ("evidence_precision", (2 / 3 + 1 / 2 + 1) / 3),
        ("evidence_recall", 2 / 3),
        ("evidence_f1", 2 * 13 / 18 * 2 / 3 / (13 / 18 + 2 / 3)),
        # The pages of a whole set are asked for; undecided claims are taken as right.
        ("ofever", 1),
        # Claim 1 has A second, claim 2 has D sixth, claim 4 has E first.
        ("page_recall@1", 1 / 3),
        ("page_recall@5", 2 / 3),
        ("page_recall@10", 1),
    ],
)
def test_a_figure_is_that_counted_by_hand(figure: str, value: float) -> None:
    assert FIGURE[figure] == pytest.approx(value)


def test_sentence_recall_looks_at_the_ranking_and_not_at_the_evidence() -> None:
    known = claim(1, SUPPORTS, [("A", 9)])
    ranked = [("A", number) for number in range(12)]
    row = dict(
        zip(COLUMNS, scores_of(known, answer(SUPPORTS, ranked[:5], ranked=ranked)), strict=True)
    )
    assert (row["evidence_recall"], row["sentence_recall@5"], row["sentence_recall@10"]) == (
        0,
        0,
        1,
    )


def test_only_the_first_five_pieces_of_evidence_count() -> None:
    known = claim(1, SUPPORTS, [("A", 5)])
    late = answer(SUPPORTS, [("A", number) for number in range(6)], ["A"])
    assert scores_of(known, late)[:4] == [1.0, 0.0, 0.0, 0.0]


def test_no_evidence_has_the_precision_that_fevers_scorer_gives_it() -> None:
    assert scores_of(claim(1, SUPPORTS, [("A", 0)]), answer(SUPPORTS))[1:4] == [0.0, 1.0, 0.0]


def test_the_same_page_in_another_unicode_form_is_the_same_page() -> None:
    known = claim(1, SUPPORTS, [("Caf\u00e9", 0)])
    assert scores_of(known, answer(SUPPORTS, [("Cafe\u0301", 0)], ["Cafe\u0301"]))[1:5] == [
        1,
        1,
        1,
        1,
    ]


def test_a_figure_in_which_no_claim_has_a_part_is_no_number() -> None:
    figures = figures_of(score_matrix([claim(1, NOT_ENOUGH_INFO)], [answer(NOT_ENOUGH_INFO)]))
    assert dict(zip(FIGURES, figures, strict=True))["fever_score"] == 1.0
    assert math.isnan(dict(zip(FIGURES, figures, strict=True))["evidence_f1"])
