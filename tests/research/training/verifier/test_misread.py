"""Which sentences that settle nothing the verifier is trained on again: those that it misreads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim
from research.training.loop import Example
from research.training.sentence_pool import SentencePool
from research.training.verifier import misread
from research.training.verifier.misread import misread_examples
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label
from tests.research.training.pages import pool_of
from tests.support.encoders import WordEncoder

PAGES = {
    "Pier": ["The pier is long.", "The pier is made of oak."],
    "Lamp": ["The lamp of the pier is bright.", "The lamp is red."],
}
LONG = AnnotatedClaim("The pier is long.", SUPPORTS, ((("Pier", 0),),))
TALL = AnnotatedClaim("The pier is tall.", NOT_ENOUGH_INFO, ())


@pytest.fixture
def pool(tmp_path: Path) -> SentencePool:
    return pool_of(PAGES, WordEncoder(), tmp_path)


@pytest.fixture(autouse=True)
def _every_decided_claim_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(misread, "DECIDED", 1)


def says(label: Label, of: str = "") -> Callable[[Sequence[tuple[str, str]]], NDArray[np.float32]]:
    """A model that gives this label to evidence that holds the words, and settles no other."""

    def classify(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        labels = [label if of in evidence else NOT_ENOUGH_INFO for _, evidence in pairs]
        return np.array([[float(one == own) for one in LABELS] for own in labels], dtype=np.float32)

    return classify


def undecided(example: Example) -> bool:
    return example.target == tuple(float(label == NOT_ENOUGH_INFO) for label in LABELS)


def test_a_sentence_that_decides_an_undecided_claim_becomes_an_undecided_example(
    pool: SentencePool,
) -> None:
    examples = misread_examples([TALL], pool, says(REFUTES, "oak"), 0)
    assert examples
    assert all("oak" in example.evidence for example in examples)
    assert all(undecided(example) for example in examples)


def test_for_a_decided_claim_only_the_opposite_label_is_certainly_wrong(pool: SentencePool) -> None:
    assert misread_examples([LONG], pool, says(SUPPORTS), 0) == []
    (example,) = misread_examples([LONG], pool, says(REFUTES), 0)
    assert undecided(example)


def test_what_is_marked_as_evidence_is_never_read(pool: SentencePool) -> None:
    for seed in range(20):
        (example,) = misread_examples([LONG], pool, says(REFUTES), seed)
        assert "The pier is long." not in example.evidence


def test_pairs_are_of_two_pages(pool: SentencePool) -> None:
    for seed in range(20):
        examples = misread_examples([TALL], pool, says(SUPPORTS), seed)
        pairs = [example.evidence for example in examples if " [SEP] " in example.evidence]
        assert len(pairs) == misread.PAIRS
        assert all("Pier :" in pair and "Lamp :" in pair for pair in pairs)
