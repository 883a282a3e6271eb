from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from research.evaluation.claims import AnnotatedClaim
from research.training.claims import PageClaim
from research.training.contrast import Contrast
from research.training.loop import Example
from research.training.reading_examples import reading_examples
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS
from tests.research.training.pages import data_of, label_of, pool_of
from tests.support.encoders import WordEncoder

PAGES = {
    "Pier": ["The pier is long.", "It was opened in 1931.", "The pier is made of oak."],
    "Lamp": ["The lamp is red.", "The lamp of the pier is bright."],
    "Boat": ["The boat is blue."],
}
LONG = AnnotatedClaim("The pier is long.", SUPPORTS, ((("Pier", 0),),))
OPENED = AnnotatedClaim("A long pier opened in 1931.", SUPPORTS, ((("Pier", 0), ("Pier", 1)),))
OLD = AnnotatedClaim("The lamp is old.", NOT_ENOUGH_INFO, ())
IRON = Contrast(
    AnnotatedClaim("The pier is made of iron.", REFUTES, ((("Pier", 0),), (("Pier", 2),))),
    original="The pier is made of oak.",
    old="oak",
    new="iron",
)
BUILT = AnnotatedClaim("The long pier was built in 1928.", REFUTES, ((("Pier", 0),),))


def examples_of(
    folder: Path,
    *train: AnnotatedClaim,
    seed: int = 0,
    limit: int = 100,
    **others: Any,
) -> list[Example]:
    data = data_of(pool_of(PAGES, WordEncoder(), folder), *train, **others)
    return reading_examples(data, seed, limit)


@pytest.mark.parametrize("seed", range(6))
def test_only_examples_with_the_gold_sentence_have_the_label(tmp_path: Path, seed: int) -> None:
    for example in examples_of(tmp_path, LONG, seed=seed):
        has_gold = "Pier : The pier is long." in example.evidence
        assert label_of(example) == (SUPPORTS if has_gold else NOT_ENOUGH_INFO)


@pytest.mark.parametrize("seed", range(6))
def test_a_claim_that_needs_two_sentences_is_read_with_both(tmp_path: Path, seed: int) -> None:
    together = [e for e in examples_of(tmp_path, OPENED, seed=seed) if "[SEP]" in e.evidence]
    assert len(together) == 1
    assert "The pier is long." in together[0].evidence
    assert "It was opened in 1931." in together[0].evidence
    assert label_of(together[0]) == SUPPORTS


def test_an_undecided_claim_is_read_with_the_sentences_found_for_it(tmp_path: Path) -> None:
    examples = examples_of(tmp_path, OLD)
    assert {label_of(example) for example in examples} == {NOT_ENOUGH_INFO}
    # Both sentences that are most like it come alone.
    alone = {example.evidence for example in examples if "[SEP]" not in example.evidence}
    assert {"Lamp : The lamp is red.", "Lamp : The lamp of the pier is bright."} <= alone


def test_where_evidence_is_changed_as_the_claim_was_their_labels_change_places(
    tmp_path: Path,
) -> None:
    made = [examples_of(tmp_path, contrasts=(IRON,), seed=seed)[1:] for seed in range(6)]
    flipped = [(e.claim, e.evidence, label_of(e)) for e in next(filter(None, made))]
    assert flipped == [
        ("The pier is made of iron.", "Pier : The pier is made of iron.", SUPPORTS),
        ("The pier is made of oak.", "Pier : The pier is made of iron.", REFUTES),
    ]
    assert not all(made)  # half of them are left as they are


@pytest.mark.parametrize("seed", range(6))
def test_a_claim_with_a_year_is_always_read_with_another_year_of_its_page(
    tmp_path: Path, seed: int
) -> None:
    examples = examples_of(tmp_path, BUILT, seed=seed)
    assert ("Pier : It was opened in 1931.", NOT_ENOUGH_INFO) in [
        (example.evidence, label_of(example)) for example in examples
    ]


def test_a_claim_of_one_page_is_read_with_all_its_gold_sentences(tmp_path: Path) -> None:
    claim = PageClaim("The mole is old.", SUPPORTS, "Mole", ("It is old.", "It was built."), ())
    (example,) = examples_of(tmp_path, page_claims=(claim,))
    assert example.evidence == "Mole : It is old. [SEP] Mole : It was built."
    assert label_of(example) == SUPPORTS
