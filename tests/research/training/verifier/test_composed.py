"""Readings of composed claims: both sentences settle the claim, one alone does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.evaluation.claims import AnnotatedClaim
from research.training.compositions import Composition
from research.training.compositions.composition import Kind
from research.training.loop import Example
from research.training.sentence_pool import SentencePool
from research.training.verifier.composed import composed_examples
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, Label
from tests.research.training.pages import pool_of
from tests.support.encoders import WordEncoder

PAGES = {
    "Tides": ["Tides is a film by Ada Orn."],
    "Ada Orn": ["Ada Orn was born in Selm."],
    "Selm": ["Selm is a town with a film festival."],
}
FILM, PERSON = "Tides : Tides is a film by Ada Orn.", "Ada Orn : Ada Orn was born in Selm."
CLAIM = "The maker of the film Tides was born in Lode."


@pytest.fixture
def pool(tmp_path: Path) -> SentencePool:
    return pool_of(PAGES, WordEncoder(), tmp_path)


def readings(pool: SentencePool, kind: Kind) -> list[tuple[frozenset[str], Label]]:
    claim = AnnotatedClaim(CLAIM, REFUTES, ((("Tides", 0), ("Ada Orn", 0)),))
    one = Composition(claim, kind, "Ada Orn", (((0, 5),), ((6, 9),)))
    return [(sentences_of(e), label_of(e)) for e in composed_examples([one] * 20, pool, 0)]


def sentences_of(example: Example) -> frozenset[str]:
    return frozenset(example.evidence.split(" [SEP] "))


def label_of(example: Example) -> Label:
    return LABELS[example.target.index(1.0)]


def test_both_sentences_give_the_label_and_less_settles_nothing(pool: SentencePool) -> None:
    for sentences, label in readings(pool, "description"):
        assert label == (REFUTES if {FILM, PERSON} <= sentences else NOT_ENOUGH_INFO)


def test_a_part_is_read_alone_and_beside_a_wrong_sentence(pool: SentencePool) -> None:
    read = {sentences for sentences, _ in readings(pool, "description")}
    assert {frozenset([FILM]), frozenset([PERSON])} <= read
    assert any(len(sentences) == 2 and not {FILM, PERSON} <= sentences for sentences in read)


def test_a_claim_that_names_the_page_between_is_read_with_both_sentences_only(
    pool: SentencePool,
) -> None:
    assert {label for _, label in readings(pool, "apposition")} == {REFUTES}
