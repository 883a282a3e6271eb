"""The verifier's examples: pairs of public sources, and what retrieval brings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim, CorpusClaim
from research.training.compositions import Composition
from research.training.compositions.composition import Kind
from research.training.loop import Example
from research.training.sentence_pool import SentencePool
from research.training.verifier import retrieved as retrieved_module
from research.training.verifier.pairs import pair_examples
from research.training.verifier.retrieved import (
    AGREES,
    PAIRS,
    SET_LIMIT,
    composed_examples,
    misread_examples,
    retrieved_examples,
)
from retrieval.errors import BadSource
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label, Opinion
from tests.research.training.pages import label_of, pool_of
from tests.support.encoders import WordEncoder
from tests.support.json_lines import write_json_lines

SEEDS = range(8)


every_seed = pytest.mark.parametrize("seed", SEEDS)


def pair(claim: str, label: Label, evidence: str, title: str | None = None) -> dict[str, Any]:
    return {"claim": claim, "label": label, "evidence": evidence, "title": title}


def two_of(page: int) -> list[dict[str, Any]]:
    """Both sides of a contrast on one page, which differ in their evidence."""
    return [
        pair(f"House {page} is old.", SUPPORTS, "It was built in 1610.", f"House {page}"),
        pair(f"House {page} is old.", REFUTES, "It was built in 2010.", f"House {page}"),
    ]


HOUSES = [line for page in range(6) for line in two_of(page)]
BOATS = [pair(f"Boat {number} is blue.", SUPPORTS, f"Its colour {number}.") for number in range(6)]


def pairs_of(
    folder: Path,
    sources: Mapping[str, Sequence[dict[str, Any]]],
    quotas: Mapping[str, int],
    seed: int,
) -> list[Example]:
    for source, lines in sources.items():
        write_json_lines(folder / f"{source}.jsonl", *lines)
    return pair_examples(folder, seed, quotas)


def page_of(example: Example) -> str:
    return example.evidence.split(" : ")[0]


@every_seed
def test_the_pairs_of_one_page_are_drawn_together(tmp_path: Path, seed: int) -> None:
    examples = pairs_of(tmp_path, {"houses": HOUSES}, {"houses": 4}, seed)
    first, second = page_of(examples[0]), page_of(examples[2])
    assert first != second
    assert [(page_of(example), label_of(example)) for example in examples] == [
        (first, SUPPORTS),
        (first, REFUTES),
        (second, SUPPORTS),
        (second, REFUTES),
    ]


def test_the_seed_alone_decides_what_is_drawn_of_a_source(tmp_path: Path) -> None:
    sources = {"houses": HOUSES, "boats": BOATS}
    quotas = {"houses": 4, "boats": 3}
    drawn = [pairs_of(tmp_path, sources, quotas, seed) for seed in SEEDS]
    assert drawn == [pairs_of(tmp_path, sources, quotas, seed) for seed in SEEDS]
    assert len({tuple(example.claim for example in examples) for examples in drawn}) > 1
    # Whatever else is drawn from.
    assert drawn[0][4:] == pairs_of(tmp_path, sources, {"boats": 3}, 0)


def test_a_source_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"houses\.jsonl cannot be read"):
        pair_examples(tmp_path, 0, {"houses": 4})


PAGES = {
    "Pier": [
        "The pier is made of oak.",
        "The pier is made to last.",
        "It was opened in 1931.",
        "Ida Holm built it.",
    ],
    "Quay": ["The quay is made of stone."],
    "Ida Holm": ["Ida Holm kept bees.", "Ida Holm was a Dane."],
    "Boat": ["A boat sails."],
}


OAK = "Pier : The pier is made of oak."
LASTS = "Pier : The pier is made to last."
OPENED = "Pier : It was opened in 1931."
BUILT = "Pier : Ida Holm built it."
STONE = "Quay : The quay is made of stone."
BEES = "Ida Holm : Ida Holm kept bees."


def claim(
    text: str, label: Label, *evidence: Sequence[tuple[str, int]], tempting: Any = None
) -> CorpusClaim:
    sets = tuple(tuple(group) for group in evidence)
    return CorpusClaim(text, label, sets, kind="plain", texts=(), tempting=tempting)


WOOD = claim("The pier is made of oak wood.", SUPPORTS, [("Pier", 0)])
KEEPER = claim("Ida Holm, who built the pier, kept bees.", SUPPORTS, [("Pier", 3), ("Ida Holm", 0)])
OLD = claim("The pier is made of old iron.", NOT_ENOUGH_INFO, tempting=("Boat", 0))


class Classify:
    """Says what it is told of some texts; the others settle nothing."""

    def __init__(self, opinions: Mapping[str, Opinion] | None = None) -> None:
        self._opinions = opinions or {}
        self.asked: list[tuple[str, str]] = []

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        self.asked += pairs
        said = [self._opinions.get(text, (0.0, 0.0, 1.0)) for _, text in pairs]
        return np.array(said, dtype=np.float32).reshape(-1, 3)


def retrieved(
    folder: Path,
    *claims: CorpusClaim,
    seed: int = 0,
    classify: Classify | None = None,
    wrong_together: float = 0.0,
) -> list[tuple[list[str], str]]:
    """Return what is read together, sentence by sentence, with its label."""
    pool = pool_of(PAGES, WordEncoder(), folder)
    examples = retrieved_examples(
        claims, pool, classify or Classify(), seed, wrong_together=wrong_together
    )
    assert {example.claim for example in examples} <= {claim.text for claim in claims}
    return [(example.evidence.split(" [SEP] "), label_of(example)) for example in examples]


def alone(readings: Sequence[tuple[list[str], str]]) -> list[tuple[str, str]]:
    return [(texts[0], label) for texts, label in readings if len(texts) == 1]


def together(readings: Sequence[tuple[list[str], str]]) -> list[tuple[list[str], str]]:
    return [reading for reading in readings if len(reading[0]) > 1]


def test_evidence_has_its_label_and_a_sentence_near_it_settles_nothing(tmp_path: Path) -> None:
    drawn = set()
    for seed in range(40):
        first, wrong = alone(retrieved(tmp_path, WOOD, seed=seed))
        assert first == (OAK, SUPPORTS)
        assert wrong[1] == NOT_ENOUGH_INFO
        drawn.add(wrong[0])
    # The nearest two in words, and others of the page that holds the evidence.
    assert drawn == {LASTS, STONE, OPENED, BUILT}


@pytest.mark.parametrize(
    ("opinion", "dropped"),
    [
        ((AGREES + 0.01, 0.0, 0.39), True),
        ((AGREES - 0.01, 0.0, 0.41), False),
        ((0.0, 1.0, 0.0), False),  # no evidence for the label, whatever else it is
    ],
)
def test_a_wrong_sentence_that_gives_the_claims_label_is_no_example(
    tmp_path: Path, opinion: Opinion, dropped: bool
) -> None:
    classify = Classify({STONE: opinion})
    readings = [
        reading
        for seed in range(40)
        for reading in retrieved(tmp_path, WOOD, seed=seed, classify=classify)
    ]
    assert (STONE in {text for text, _ in alone(readings)}) is not dropped
    assert any(STONE in texts for texts, _ in together(readings)) is not dropped


@every_seed
def test_parts_of_evidence_in_two_sentences_settle_nothing(tmp_path: Path, seed: int) -> None:
    readings = retrieved(tmp_path, KEEPER, seed=seed)
    for texts, label in readings:
        assert label == (SUPPORTS if {BUILT, BEES} <= set(texts) else NOT_ENOUGH_INFO)
    assert set(readings[0][0]) == {BUILT, BEES}
    # Both among wrong ones, always; one of them alone, and one beside a wrong sentence.
    among = [texts for texts, label in readings[1:] if label == SUPPORTS]
    assert len(among) == 1
    assert 2 < len(among[0]) <= SET_LIMIT
    parts = [texts for texts, _ in readings if len({BUILT, BEES} & set(texts)) == 1]
    assert [len(texts) for texts in parts] == [1, 2]


@every_seed
def test_nothing_settles_an_undecided_claim_least_of_all_what_tempts(
    tmp_path: Path, seed: int
) -> None:
    *single, last = retrieved(tmp_path, OLD, seed=seed)
    assert single == [
        (["Boat : A boat sails."], NOT_ENOUGH_INFO),
        ([OAK], NOT_ENOUGH_INFO),
        ([LASTS], NOT_ENOUGH_INFO),
    ]
    assert 2 <= len(last[0]) <= SET_LIMIT
    assert last[1] == NOT_ENOUGH_INFO


FILMS = {
    "Tides": ["Tides is a film by Ada Orn."],
    "Ada Orn": ["Ada Orn was born in Selm."],
    "Selm": ["Selm is a town with a film festival."],
}


FILM, PERSON = "Tides : Tides is a film by Ada Orn.", "Ada Orn : Ada Orn was born in Selm."


MAKER = "The maker of the film Tides was born in Lode."


@pytest.fixture
def films(tmp_path: Path) -> SentencePool:
    return pool_of(FILMS, WordEncoder(), tmp_path)


def readings(films: SentencePool, kind: Kind) -> list[tuple[frozenset[str], Label]]:
    claim = AnnotatedClaim(MAKER, REFUTES, ((("Tides", 0), ("Ada Orn", 0)),))
    one = Composition(claim, kind, "Ada Orn", (((0, 5),), ((6, 9),)))
    return [(sentences_of(e), label_of(e)) for e in composed_examples([one] * 20, films, 0)]


def sentences_of(example: Example) -> frozenset[str]:
    return frozenset(example.evidence.split(" [SEP] "))


def test_both_sentences_give_the_label_and_less_settles_nothing(films: SentencePool) -> None:
    for sentences, label in readings(films, "description"):
        assert label == (REFUTES if {FILM, PERSON} <= sentences else NOT_ENOUGH_INFO)


def test_a_part_is_read_alone_and_beside_a_wrong_sentence(films: SentencePool) -> None:
    read = {sentences for sentences, _ in readings(films, "description")}
    assert {frozenset([FILM]), frozenset([PERSON])} <= read
    assert any(len(sentences) == 2 and not {FILM, PERSON} <= sentences for sentences in read)


def test_a_claim_that_names_the_page_between_is_read_with_both_sentences_only(
    films: SentencePool,
) -> None:
    assert {label for _, label in readings(films, "apposition")} == {REFUTES}


MISREAD_PAGES = {
    "Pier": ["The pier is long.", "The pier is made of oak."],
    "Lamp": ["The lamp of the pier is bright.", "The lamp is red."],
}


LONG = AnnotatedClaim("The pier is long.", SUPPORTS, ((("Pier", 0),),))
TALL = AnnotatedClaim("The pier is tall.", NOT_ENOUGH_INFO, ())


@pytest.fixture
def read_pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SentencePool:
    monkeypatch.setattr(retrieved_module, "DECIDED", 1)  # every decided claim is read once
    return pool_of(MISREAD_PAGES, WordEncoder(), tmp_path)


def says(label: Label, of: str = "") -> Callable[[Sequence[tuple[str, str]]], NDArray[np.float32]]:
    """A model that gives this label to evidence that holds the words, and settles no other."""

    def classify(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        labels = [label if of in evidence else NOT_ENOUGH_INFO for _, evidence in pairs]
        return np.array([[float(one == own) for one in LABELS] for own in labels], dtype=np.float32)

    return classify


def undecided(example: Example) -> bool:
    return example.target == tuple(float(label == NOT_ENOUGH_INFO) for label in LABELS)


def test_a_sentence_that_decides_an_undecided_claim_becomes_an_undecided_example(
    read_pool: SentencePool,
) -> None:
    examples = misread_examples([TALL], read_pool, says(REFUTES, "oak"), 0)
    assert examples
    assert all("oak" in example.evidence for example in examples)
    assert all(undecided(example) for example in examples)


def test_for_a_decided_claim_only_the_opposite_label_is_certainly_wrong(
    read_pool: SentencePool,
) -> None:
    assert misread_examples([LONG], read_pool, says(SUPPORTS), 0) == []
    (example,) = misread_examples([LONG], read_pool, says(REFUTES), 0)
    assert undecided(example)


def test_what_is_marked_as_evidence_is_never_read(read_pool: SentencePool) -> None:
    for seed in range(20):
        (example,) = misread_examples([LONG], read_pool, says(REFUTES), seed)
        assert "The pier is long." not in example.evidence


def test_pairs_are_of_two_pages(read_pool: SentencePool) -> None:
    for seed in range(20):
        examples = misread_examples([TALL], read_pool, says(SUPPORTS), seed)
        pairs = [example.evidence for example in examples if " [SEP] " in example.evidence]
        assert len(pairs) == PAIRS
        assert all("Pier :" in pair and "Lamp :" in pair for pair in pairs)
