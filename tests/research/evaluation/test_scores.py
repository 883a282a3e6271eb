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


def test_label_accuracy_is_the_share_of_right_labels() -> None:
    assert FIGURE["label_accuracy"] == 3 / 4


def test_the_fever_score_asks_for_a_whole_set_unless_the_claim_is_undecided() -> None:
    assert FIGURE["fever_score"] == 2 / 4  # claim 1, and claim 3 without regard to evidence


def test_evidence_precision_is_a_mean_over_decided_claims() -> None:
    assert FIGURE["evidence_precision"] == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)


def test_evidence_recall_counts_claims_with_a_whole_set_even_if_the_label_is_wrong() -> None:
    assert FIGURE["evidence_recall"] == 2 / 3  # claims 1 and 4


def test_evidence_f1_is_of_the_two_means() -> None:
    precision, recall = 13 / 18, 2 / 3
    assert FIGURE["evidence_f1"] == pytest.approx(2 * precision * recall / (precision + recall))


def test_ofever_asks_for_the_pages_of_a_whole_set_and_takes_undecided_claims_as_right() -> None:
    assert FIGURE["ofever"] == 1.0


def test_page_recall_grows_with_k() -> None:
    # Claim 1 has A second, claim 2 has D sixth, claim 4 has E first.
    assert FIGURE["page_recall@1"] == 1 / 3
    assert FIGURE["page_recall@5"] == 2 / 3
    assert FIGURE["page_recall@10"] == 1.0


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
