"""What the relevance model and the verifier read, apart from what ``test_examples`` shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim, CorpusClaim
from research.training.compositions import Composition
from research.training.contrast import Contrast
from research.training.data import EverydayData
from research.training.loop import Example, labelled
from research.training.relevance import distilled, reading_examples
from research.training.sentence_pool import SentencePool
from research.training.verifier.by_rule import made_by_rule
from research.training.verifier.pairs import pair_examples
from research.training.verifier.retrieved import (
    AGREES,
    composed_examples,
    misread_examples,
    retrieved_examples,
)
from research.training.verifier.train import Mix
from retrieval.errors import BadSource
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label, Opinion
from tests.research.training.pages import data_of, label_of, pool_of
from tests.support.encoders import WordEncoder
from tests.support.json_lines import write_json_lines

PAGES = {
    "Pier": ["The pier is long.", "It was opened in 1931.", "The pier is made of oak."],
    "Lamp": ["The lamp is red.", "The lamp of the pier is bright."],
    "Quay": ["The quay is made of stone."],
    "Ada Orn": ["Ada Orn was mayor of Selm from 1901 to 1909."],
}
OAK, STONE = "Pier : The pier is made of oak.", "Quay : The quay is made of stone."


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> SentencePool:
    return pool_of(PAGES, WordEncoder(), tmp_path_factory.mktemp("pages"))


IRON = Contrast(
    AnnotatedClaim("The pier is made of iron.", REFUTES, ((("Pier", 0),), (("Pier", 2),))),
    original="The pier is made of oak.",
    old="oak",
    new="iron",
)
BUILT = AnnotatedClaim("The long pier was built in 1928.", REFUTES, ((("Pier", 0),),))


def test_where_evidence_is_changed_as_the_claim_was_their_labels_change_places(
    pool: SentencePool,
) -> None:
    data = data_of(pool, contrasts=[IRON])
    made = [reading_examples(data, seed, 100)[1:] for seed in range(6)]
    flipped = [(e.claim, e.evidence, label_of(e)) for e in next(filter(None, made))]
    assert flipped == [
        ("The pier is made of iron.", "Pier : The pier is made of iron.", SUPPORTS),
        ("The pier is made of oak.", "Pier : The pier is made of iron.", REFUTES),
    ]
    assert not all(made)  # half of them are left as they are


@pytest.mark.parametrize("seed", range(6))
def test_a_claim_with_a_year_is_always_read_with_another_year_of_its_page(
    pool: SentencePool, seed: int
) -> None:
    read = [(e.evidence, label_of(e)) for e in reading_examples(data_of(pool, BUILT), seed, 100)]
    assert ("Pier : It was opened in 1931.", NOT_ENOUGH_INFO) in read


def test_a_target_is_seven_tenths_opinion_and_three_tenths_label() -> None:
    example = labelled("The pier is made of iron.", "Pier : It is made of wood.", REFUTES)
    (taught,) = distilled([example], np.array([[0.2, 0.5, 0.3]], dtype=np.float32))
    assert (taught.claim, taught.evidence) == (example.claim, example.evidence)
    # 0.7 * 0.2, 0.7 * 0.5 + 0.3, 0.7 * 0.3
    assert taught.target == pytest.approx((0.14, 0.65, 0.21))


class Says:
    """A model that has an opinion of evidence with these words, and settles no other."""

    def __init__(self, words: str, opinion: Opinion) -> None:
        self._words, self._opinion = words, opinion

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        rows = [self._opinion if self._words in text else (0, 0, 1) for _, text in pairs]
        return np.array(rows, dtype=np.float32).reshape(-1, 3)


@pytest.mark.parametrize(
    ("opinion", "dropped"),
    [
        ((AGREES + 0.01, 0.0, 0.39), True),
        ((AGREES - 0.01, 0.0, 0.41), False),
        ((0.0, 1.0, 0.0), False),  # no evidence for the label, whatever else it is
    ],
)
def test_a_wrong_sentence_that_gives_the_claims_label_is_no_example(
    pool: SentencePool, opinion: Opinion, dropped: bool
) -> None:
    wood = CorpusClaim("It is made of wood.", SUPPORTS, ((("Pier", 2),),), "", (), None)
    read = [
        example.evidence
        for seed in range(40)
        for example in retrieved_examples([wood], pool, Says("stone", opinion), seed, 0.0)
    ]
    assert OAK in read
    assert any(STONE in evidence for evidence in read) is not dropped


LONG = AnnotatedClaim("The pier is long.", SUPPORTS, ((("Pier", 0),),))
TALL = AnnotatedClaim("The pier is tall.", NOT_ENOUGH_INFO, ())


def misread(claim: AnnotatedClaim, pool: SentencePool, words: str, label: Label) -> list[Example]:
    opinion = tuple(float(one == label) for one in LABELS)
    says = Says(words, (opinion[0], opinion[1], opinion[2]))
    return [one for seed in range(9) for one in misread_examples([claim], pool, says, seed)]


def test_what_a_model_misreads_becomes_an_undecided_example(pool: SentencePool) -> None:
    examples = misread(TALL, pool, "oak", REFUTES)
    assert examples
    assert all("oak" in e.evidence and label_of(e) == NOT_ENOUGH_INFO for e in examples)


def test_for_a_decided_claim_only_the_opposite_label_is_wrong_and_its_evidence_is_not_read(
    pool: SentencePool,
) -> None:
    assert misread(LONG, pool, "", SUPPORTS) == []
    examples = misread(LONG, pool, "", REFUTES)
    assert {label_of(example) for example in examples} == {NOT_ENOUGH_INFO}
    assert not [e for e in examples if "The pier is long." in e.evidence]


def test_a_claim_that_names_the_page_between_is_read_with_both_sentences_only(
    pool: SentencePool,
) -> None:
    claim = AnnotatedClaim("The mayor's pier is long.", REFUTES, ((("Pier", 0), ("Ada Orn", 0)),))
    one = Composition(claim, "apposition", "Ada Orn", (((0, 5),), ((6, 9),)))
    assert {label_of(e) for e in composed_examples([one] * 20, pool, 0)} == {REFUTES}


def test_no_term_of_a_page_that_is_measured_on_is_read(pool: SentencePool, tmp_path: Path) -> None:
    for source in ("vitaminc", "infotabs", "fever", "feverous"):
        write_json_lines(tmp_path / f"{source}.jsonl")
    measured = CorpusClaim("A claim.", SUPPORTS, ((("Ada Orn", 0),),), "date", (), None)
    for dev, read in (([], True), ([measured], False)):
        readings = made_by_rule(EverydayData([], [], dev, pool, {}), [], tmp_path, 0, 9)
        assert bool(readings) == read


def house(page: int, year: int, label: Label) -> dict[str, Any]:
    title = f"House {page}"
    told = {"evidence": f"It was built in {year}.", "title": title}
    return {"claim": f"{title} is old.", "label": label, **told}


@pytest.mark.parametrize("seed", range(8))
def test_the_pairs_of_one_page_are_drawn_together(tmp_path: Path, seed: int) -> None:
    both = ((1610, SUPPORTS), (2010, REFUTES))
    houses = [house(page, *of_year) for page in range(6) for of_year in both]
    write_json_lines(tmp_path / "houses.jsonl", *houses)
    drawn = [(e.claim, label_of(e)) for e in pair_examples(tmp_path, seed, {"houses": 4})]
    first, second = drawn[0][0], drawn[2][0]
    assert first != second
    assert drawn == [(one, label) for one in (first, second) for label in (SUPPORTS, REFUTES)]


def test_a_source_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"houses\.jsonl cannot be read"):
        pair_examples(tmp_path, 0, {"houses": 4})


def test_a_card_names_exactly_the_kinds_of_a_mix() -> None:
    kinds = {"everyday": 20, "fever": 10, "misread": 30, "by_rule": 40, "composed": 50}
    whole, alone = Mix({"boats": 5}, **kinds, assertions=2).described, Mix({"boats": 5}).described
    assert all(str(number) in whole for number in kinds.values())
    for word in ("everyday", "FEVER", "composed"):
        assert (word in whole, word in alone) == (True, False)
