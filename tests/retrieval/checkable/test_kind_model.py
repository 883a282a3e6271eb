"""The model of kinds beside the rules."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from retrieval.checkable.kind_rules import WEIGHTS, KindModel, read_model
from retrieval.errors import ModelUnavailable

MODEL = KindModel(
    ("fact", "opinion", "question"), np.eye(3, dtype=np.float32), np.zeros(3, np.float32)
)


def likely(fact: float, opinion: float, question: float) -> np.ndarray:
    return np.array([fact, opinion, question], np.float32)


def test_the_model_overrules_the_rules_only_where_it_is_sure() -> None:
    assert MODEL.corrected("fact", likely(0.1, 0.7, 0.2)) == "opinion"
    assert MODEL.corrected("fact", likely(0.3, 0.7, 0.0)) == "fact"
    assert MODEL.corrected("opinion", likely(0.95, 0.05, 0.0)) == "fact"
    assert MODEL.corrected("opinion", likely(0.8, 0.1, 0.1)) == "opinion"


def test_the_form_of_a_question_decides_alone() -> None:
    assert MODEL.corrected("question", likely(0.99, 0.01, 0.0)) == "question"
    assert MODEL.corrected("fact", likely(0.1, 0.2, 0.7)) == "opinion"


def test_probabilities_are_those_of_the_likeliest_scores() -> None:
    shares = MODEL.probabilities(np.array([[np.log(2), 0, 0]], np.float32))
    assert shares[0] == pytest.approx([0.5, 0.25, 0.25])


def test_a_missing_and_a_damaged_file_say_how_to_restore_it(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="missing"):
        read_model(tmp_path)
    (tmp_path / WEIGHTS).write_text("{}")
    with pytest.raises(ModelUnavailable, match="damaged"):
        read_model(tmp_path)
