from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from research.evaluation.claims import AnnotatedClaim, FeverClaim
from research.training.compositions import Composition
from research.training.loop import Example
from research.training.path_examples import path_examples
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS
from tests.research.training.pages import data_of, label_of, pool_of
from tests.support.encoders import WordEncoder

PAGES = {
    "Pier": ["The pier was built by Ann Lee.", "The pier is made of oak."],
    "Ann Lee": ["Ann Lee was born in Oslo.", "Ann Lee kept bees."],
    "Boat": ["The boat is blue."],
    "Lamp": ["The lamp is red.", "The lamp is old."],
    "Rock": ["The rock is grey."],
}
BUILDER = "Pier : The pier was built by Ann Lee."
BEES = "Ann Lee : Ann Lee kept bees."
TWO_PAGES = FeverClaim(
    "The builder of the pier kept bees.", SUPPORTS, ((("Pier", 0), ("Ann Lee", 1)),), 1, "line 1"
)
ONE_PAGE = AnnotatedClaim("The pier is made of iron.", REFUTES, ((("Pier", 1),),))
OLD = AnnotatedClaim("The boat is old.", NOT_ENOUGH_INFO, ())


def examples_of(
    folder: Path,
    *train: AnnotatedClaim,
    composed: Sequence[Composition] = (),
    seed: int = 0,
    limit: int = 100,
) -> list[Example]:
    data = data_of(pool_of(PAGES, WordEncoder(), folder), *train)
    return path_examples(data, composed, seed, limit)


@pytest.mark.parametrize("seed", range(6))
def test_a_path_over_both_pages_has_the_label_and_no_other_has(tmp_path: Path, seed: int) -> None:
    examples = examples_of(tmp_path, TWO_PAGES, seed=seed)
    assert {label_of(example) for example in examples} == {SUPPORTS, NOT_ENOUGH_INFO}
    for example in examples:
        candidate, *path = example.evidence.split(" [SEP] ")
        complete = {BUILDER, BEES} == {candidate, *path}
        assert (label_of(example) == SUPPORTS) == complete, example.evidence


@pytest.mark.parametrize("seed", range(6))
def test_a_sufficient_sentence_is_sufficient_after_any_path(tmp_path: Path, seed: int) -> None:
    examples = examples_of(tmp_path, ONE_PAGE, seed=seed)
    assert len(examples) >= 2
    for example in examples:
        candidate = example.evidence.split(" [SEP] ")[0]
        gold = candidate == "Pier : The pier is made of oak."
        assert label_of(example) == (REFUTES if gold else NOT_ENOUGH_INFO)


def test_composed_claims_are_read_as_annotated_ones_are(tmp_path: Path) -> None:
    claim = AnnotatedClaim(TWO_PAGES.text, SUPPORTS, TWO_PAGES.evidence)
    made = Composition(claim, "role", "Ann Lee", (((0, 11),), ((24, 33),)))
    examples = examples_of(tmp_path, composed=[made])
    assert sum(label_of(example) == SUPPORTS for example in examples) == 1


def test_the_seed_alone_decides_and_the_limit_holds(tmp_path: Path) -> None:
    claims = (TWO_PAGES, ONE_PAGE, OLD)
    assert examples_of(tmp_path, *claims) == examples_of(tmp_path, *claims)
    assert len(examples_of(tmp_path, *claims, limit=3)) == 3
