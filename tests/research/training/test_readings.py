"""What the relevance model and the path model are trained on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from research.evaluation.claims import AnnotatedClaim, FeverClaim
from research.training.compositions import Composition
from research.training.contrast import Contrast
from research.training.loop import Example, labelled
from research.training.path_examples import path_examples
from research.training.reading_examples import reading_examples
from research.training.relevance import distilled
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
IRON = Contrast(
    AnnotatedClaim("The pier is made of iron.", REFUTES, ((("Pier", 0),), (("Pier", 2),))),
    original="The pier is made of oak.",
    old="oak",
    new="iron",
)


BUILT = AnnotatedClaim("The long pier was built in 1928.", REFUTES, ((("Pier", 0),),))


def readings_of(
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
    for example in readings_of(tmp_path, LONG, seed=seed):
        has_gold = "Pier : The pier is long." in example.evidence
        assert label_of(example) == (SUPPORTS if has_gold else NOT_ENOUGH_INFO)


@pytest.mark.parametrize("seed", range(6))
def test_a_claim_that_needs_two_sentences_is_read_with_both(tmp_path: Path, seed: int) -> None:
    together = [e for e in readings_of(tmp_path, OPENED, seed=seed) if "[SEP]" in e.evidence]
    assert len(together) == 1
    assert "The pier is long." in together[0].evidence
    assert "It was opened in 1931." in together[0].evidence
    assert label_of(together[0]) == SUPPORTS


def test_where_evidence_is_changed_as_the_claim_was_their_labels_change_places(
    tmp_path: Path,
) -> None:
    made = [readings_of(tmp_path, contrasts=(IRON,), seed=seed)[1:] for seed in range(6)]
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
    examples = readings_of(tmp_path, BUILT, seed=seed)
    assert ("Pier : It was opened in 1931.", NOT_ENOUGH_INFO) in [
        (example.evidence, label_of(example)) for example in examples
    ]


PATHS = {
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
OLD_BOAT = AnnotatedClaim("The boat is old.", NOT_ENOUGH_INFO, ())


def examples_of(
    folder: Path,
    *train: AnnotatedClaim,
    composed: Sequence[Composition] = (),
    seed: int = 0,
    limit: int = 100,
) -> list[Example]:
    data = data_of(pool_of(PATHS, WordEncoder(), folder), *train)
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


def test_the_seed_alone_decides_and_the_limit_holds(tmp_path: Path) -> None:
    claims = (TWO_PAGES, ONE_PAGE, OLD_BOAT)
    assert examples_of(tmp_path, *claims) == examples_of(tmp_path, *claims)
    assert len(examples_of(tmp_path, *claims, limit=3)) == 3


def test_a_target_is_seven_tenths_opinion_and_three_tenths_label() -> None:
    example = labelled("The pier is made of iron.", "Pier : It is made of wood.", REFUTES)
    (taught,) = distilled([example], np.array([[0.2, 0.5, 0.3]], dtype=np.float32))
    assert (taught.claim, taught.evidence) == (example.claim, example.evidence)
    # 0.7 * 0.2, 0.7 * 0.5 + 0.3, 0.7 * 0.3
    assert taught.target == pytest.approx((0.14, 0.65, 0.21))
