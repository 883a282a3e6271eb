from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from research.benchmarks.language_model.claims import Given
from research.benchmarks.language_model.figures import difference, figures
from research.benchmarks.language_model.fitting import crossed, fitted
from research.benchmarks.language_model.model import Answer, KeptModel
from research.benchmarks.language_model.prompts import WORDINGS
from research.benchmarks.language_model.systems import Labelled
from retrieval.llm_judge.local_model import EXAMPLES
from retrieval.types import LABELS
from tests.support.json_lines import write_json_lines

TRUTH = np.arange(300) % 3


def opinions(skill: float, seed: int) -> np.ndarray:
    """Return probabilities that lean to the true label."""
    logits = np.random.default_rng(seed).normal(size=(len(TRUTH), 3)) + skill * np.eye(3)[TRUTH]
    odds = np.exp(logits)
    return odds / odds.sum(axis=1, keepdims=True)


def test_a_model_that_knows_nothing_weighs_next_to_nothing_in_the_pool() -> None:
    weights = fitted([opinions(3, 1), opinions(0, 2)], TRUTH).weights
    assert weights[0] > 0.5
    assert weights[1] < 0.2


def test_a_bias_against_a_label_is_undone() -> None:
    unbiased = opinions(2, 1)
    biased = unbiased * (1, 1, 50)
    biased /= biased.sum(axis=1, keepdims=True)
    scaled = fitted([biased], TRUTH).of([biased])
    assert figures(biased, TRUTH).accuracy < 60
    assert figures(scaled, TRUTH).accuracy == pytest.approx(
        figures(unbiased, TRUTH).accuracy, abs=3
    )


def test_a_half_is_never_measured_by_a_fit_to_itself() -> None:
    first = np.arange(len(TRUTH)) % 2 == 0
    model = opinions(2, 1)
    before = crossed([model], TRUTH, first)
    changed = np.where(first, (TRUTH + 1) % 3, TRUTH)
    after = crossed([model], changed, first)
    assert np.array_equal(before[first], after[first])
    assert not np.allclose(before[~first], after[~first])


def test_supported_against_refuted_ignores_the_third_label() -> None:
    said = np.array([[0.3, 0.1, 0.6], [0.1, 0.3, 0.6], [0.5, 0.4, 0.1]])
    found = figures(said, np.array([0, 1, 2]))
    assert (found.accuracy, found.decided) == (0, 100)
    assert found.predicted == (1, 0, 2)


def test_a_difference_counts_the_claims_that_only_one_labels_right() -> None:
    first = np.array([True] * 9 + [False])
    second = np.array([False] * 4 + [True] * 5 + [True])
    found = difference(first, second)
    assert (found.better, found.worse) == (4, 1)
    assert found.points == pytest.approx(30)
    assert found.low < 30 < found.high
    assert found.p_value == pytest.approx(0.375)  # two-sided: at most one of five


def test_the_examples_are_balanced_and_absent_from_a_prompt_without_examples() -> None:
    labels = [label for _, _, label in EXAMPLES]
    assert {label: labels.count(label) for label in LABELS} == dict.fromkeys(LABELS, 2)
    for wording in WORDINGS:
        prompt = wording.prompt("Claims are short.", [("Claim", "A claim is short.")])
        assert prompt.endswith("<|im_start|>assistant\n")
        assert ("Terrin" in prompt) == wording.examples


def test_the_same_prompt_is_not_asked_again(tmp_path: Path) -> None:
    given = Given("A claim.", LABELS[0], "paraphrase", (("Title", "A sentence."),))
    prompt = WORDINGS[0].prompt(given.claim, given.sentences)
    line = {
        "prompt": sha256(prompt.encode()).hexdigest(),
        "probabilities": [0.5, 0.3, 0.2],
        "covered": 0.9,
        "seconds": 1.0,
        "processor": 0.5,
        "memory": 1,
    }
    write_json_lines(tmp_path / "answers.jsonl", line)
    (answer,) = KeptModel(tmp_path).answers(WORDINGS[0], [given])
    assert isinstance(answer, Answer)
    assert answer.probabilities == [0.5, 0.3, 0.2]


def test_halves_have_as_many_claims_of_each_kind_and_label() -> None:
    kinds = tuple("date" if row < 150 else "place" for row in range(len(TRUTH)))
    model = opinions(1, 1)
    first = Labelled(kinds, TRUTH, model, (model,)).halves(range(len(TRUTH)))
    for kind in ("date", "place"):
        for label in range(3):
            of_group = (np.array(kinds) == kind) & (label == TRUTH)
            assert first[of_group].sum() * 2 == of_group.sum()
