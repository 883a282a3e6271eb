"""The report's table on the four claims of ``answers.py``."""

from __future__ import annotations

import pytest

from evaluation.measures.esoteric_table import Ratio, esoteric_table
from tests.evaluation.answers import ANSWERS, CLAIMS

TABLE = esoteric_table(CLAIMS, ANSWERS)


def test_documents_are_counted_over_all_decided_claims_together() -> None:
    # Relevant: A B, C D, E. Retrieved: X A B, C Y Z Z2 Z3 D, E.
    assert TABLE.document == Ratio(recall=5 / 5, precision=5 / 10)


def test_combined_counts_every_annotated_sentence_and_every_sentence_given() -> None:
    # Relevant: A0 A1 B0, C2 D0, E1. Given: X0 A0 B0, C2 C0, E1.
    assert TABLE.combined == Ratio(recall=4 / 6, precision=4 / 6)
    assert TABLE.combined.f1 == pytest.approx(4 / 6)


def test_passages_are_judged_on_relevant_retrieved_documents_alone() -> None:
    # X0 goes, for X is not relevant.
    assert TABLE.passage == Ratio(recall=4 / 6, precision=4 / 5)


def test_oracles_ask_for_whole_sets() -> None:
    assert TABLE.document_oracle == 1.0
    assert TABLE.combined_oracle == 2 / 3
    assert TABLE.passage_oracle == 2 / 3


def test_without_decided_claims_every_row_is_nought() -> None:
    assert esoteric_table(CLAIMS[2:3], ANSWERS[2:3]).document == Ratio(0, 0)
    assert Ratio(0, 0).f1 == 0
