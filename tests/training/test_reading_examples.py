from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.claims import AnnotatedClaim
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS
from tests.encoders import WordEncoder
from tests.training.pages import pool_of
from training.claims import PageClaim
from training.data import TrainingData
from training.loop import Example
from training.reading_examples import reading_examples

PAGES = {
    "Pier": ["The pier is long.", "It was opened in 1931.", "The pier is made of oak."],
    "Lamp": ["The lamp is red.", "The lamp of the pier is bright."],
    "Boat": ["The boat is blue."],
}
LONG = AnnotatedClaim("The pier is long.", SUPPORTS, ((("Pier", 0),),))
OPENED = AnnotatedClaim("A long pier opened in 1931.", SUPPORTS, ((("Pier", 0), ("Pier", 1)),))
OLD = AnnotatedClaim("The lamp is old.", NOT_ENOUGH_INFO, ())
IRON = AnnotatedClaim("The pier is made of iron.", REFUTES, ((("Pier", 2),),))


def examples_of(
    folder: Path,
    *train: AnnotatedClaim,
    contrasts: tuple[AnnotatedClaim, ...] = (),
    page_claims: tuple[PageClaim, ...] = (),
    seed: int = 0,
) -> list[Example]:
    pool = pool_of(PAGES, WordEncoder(), folder)
    data = TrainingData(list(train), list(contrasts), list(page_claims), [], pool, 0, {})
    return reading_examples(data, seed)


def label_of(example: Example) -> str:
    return LABELS[example.target.index(1.0)]


@pytest.mark.parametrize("seed", range(6))
def test_what_holds_the_gold_sentence_has_the_label_and_nothing_else_has(
    tmp_path: Path, seed: int
) -> None:
    for example in examples_of(tmp_path, LONG, seed=seed):
        has_gold = "Pier : The pier is long." in example.evidence
        assert label_of(example) == (SUPPORTS if has_gold else NOT_ENOUGH_INFO)


@pytest.mark.parametrize("seed", range(6))
def test_a_claim_that_needs_two_sentences_is_read_beside_both(tmp_path: Path, seed: int) -> None:
    together = [e for e in examples_of(tmp_path, OPENED, seed=seed) if "[SEP]" in e.evidence]
    assert len(together) == 1
    assert "The pier is long." in together[0].evidence
    assert "It was opened in 1931." in together[0].evidence
    assert label_of(together[0]) == SUPPORTS


def test_an_undecided_claim_is_read_beside_what_was_found_for_it(tmp_path: Path) -> None:
    examples = examples_of(tmp_path, OLD)
    assert {label_of(example) for example in examples} == {NOT_ENOUGH_INFO}
    # Both sentences that are most like it come alone.
    alone = {example.evidence for example in examples if "[SEP]" not in example.evidence}
    assert {"Lamp : The lamp is red.", "Lamp : The lamp of the pier is bright."} <= alone


def test_a_contrast_claim_is_read_beside_the_evidence_that_refutes_it(tmp_path: Path) -> None:
    (example,) = examples_of(tmp_path, contrasts=(IRON,))
    assert (example.evidence, label_of(example)) == ("Pier : The pier is made of oak.", REFUTES)


def test_a_claim_of_one_page_is_read_beside_its_gold_sentences_together(tmp_path: Path) -> None:
    claim = PageClaim("The mole is old.", SUPPORTS, "Mole", ("It is old.", "It was built."), ())
    (example,) = examples_of(tmp_path, page_claims=(claim,))
    assert example.evidence == "Mole : It is old. [SEP] Mole : It was built."
    assert label_of(example) == SUPPORTS
