"""The proofs that the prover is trained on, and the lexicon that they are made with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from research.evaluation.claims import AnnotatedClaim, FeverClaim, SentenceKey
from research.training.compositions import Composition
from research.training.contrast import Contrast
from research.training.data import PageClaim, TrainingData
from research.training.evidence_sets import (
    EvidenceSet,
    Exchange,
    claim_sets,
    composition_sets,
    contrast_sets,
)
from research.training.lexicon import Lexicon, Word, number_of
from research.training.proofs import ProofExample, proof_examples, proofs
from research.training.read_texts import MiniLMTokens
from research.training.sentence_pool import SentencePool
from retrieval.errors import BadSource
from retrieval.models.encoders import MiniLMEncoder
from retrieval.stages.decide.proof import label_of
from retrieval.types import (
    ALTERNATION,
    EQUIVALENCE,
    INDEPENDENCE,
    NOT_ENOUGH_INFO,
    OPERATORS,
    REFUTES,
    SUPPORTS,
    Label,
    Operator,
)
from tests.research.cases import cases
from tests.research.training.pages import data_of, pool_of
from tests.research.training.wordnet_files import write_wordnet

PAGES = {
    "Elm_Pier": [
        "Elm Pier is a pier of oak in Norway .",
        "It was opened in 1931 .",
        "It was designed by Ida Holm .",
    ],
    "Ida_Holm": ["Ida Holm is a Danish painter .", "She lived by the sea ."],
    "Ash_Lamp": ["Ash Lamp is a green lamp ."],
    "Fir_Boat": ["Fir Boat carried wool ."],
}


PIER, OPENED, DESIGNED = (("Elm_Pier", number) for number in range(3))


PAINTER = ("Ida_Holm", 0)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> SentencePool:
    return pool_of(PAGES, MiniLMEncoder(), tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> Lexicon:
    return Lexicon(write_wordnet(tmp_path_factory.mktemp("wordnet")))


@pytest.fixture(scope="module")
def encoder() -> MiniLMTokens:
    return MiniLMTokens()


def fever(text: str, label: Label, *evidence: Sequence[SentenceKey]) -> FeverClaim:
    return FeverClaim(text, label, tuple(tuple(group) for group in evidence), 1, "line 1")


def pair(pool: SentencePool, key: SentenceKey) -> tuple[str, str]:
    sentence = pool.sentences[pool.position[key]]
    return sentence.title, sentence.text


def known(
    pool: SentencePool, claim: str, label: Label, *keys: SentenceKey, gold: int = 1
) -> EvidenceSet:
    """A set of these sentences, of which the first ones are gold."""
    return EvidenceSet(claim, label, tuple(pair(pool, key) for key in keys), tuple(range(gold)))


Step: TypeAlias = tuple[str, Operator, str | None]


Prove: TypeAlias = Callable[..., list[list[Step]]]


def steps(example: ProofExample) -> list[Step]:
    """A proof as one reads it: words of the claim, operator, words of the evidence."""
    return [
        (
            example.claim[slice(*span)],
            OPERATORS[operator],
            None if place is None else example.evidence[slice(*place)],
        )
        for span, operator, place in zip(
            example.spans, example.operators, example.aligned, strict=True
        )
    ]


@pytest.fixture(scope="module")
def prove(lexicon: Lexicon, encoder: MiniLMTokens) -> Prove:
    def proved(*sets: EvidenceSet) -> list[list[Step]]:
        return [steps(example) for example in proofs(sets, lexicon, encoder)]

    return proved


@pytest.mark.models
@pytest.mark.parametrize("case", cases("proofs"))
def test_each_part_of_a_claim_has_the_operator_that_the_evidence_gives_it(
    case: dict[str, Any], pool: SentencePool, prove: Prove
) -> None:
    label = case["label"]
    sentences = [tuple(key) for key in case["sentences"]]
    gold = int(label != NOT_ENOUGH_INFO)
    proofs_found = prove(known(pool, case["claim"], label, *sentences, gold=gold))
    if case["proof"] is None:
        assert proofs_found == []
        return
    (proof,) = proofs_found
    expected = case["proof"]
    assert [list(step)[: len(e)] for step, e in zip(proof, expected, strict=True)] == expected


@pytest.mark.models
def test_parts_that_only_the_missing_sentence_states_are_open(
    pool: SentencePool, prove: Prove
) -> None:
    claim = fever("Elm Pier was designed by a Danish painter.", SUPPORTS, (DESIGNED, PAINTER))
    whole, *parts = claim_sets([claim], pool, seed=0)
    assert whole.label == SUPPORTS
    assert {one.missing for one in parts} == {((pair(pool, DESIGNED)),), ((pair(pool, PAINTER)),)}
    (proof,) = prove(whole)
    assert {step[1] for step in proof} == {EQUIVALENCE}
    for part in parts:
        (proof,) = prove(part)
        is_open = [step[0] for step in proof if step[1] == INDEPENDENCE]
        if part.missing[0][0] == "Ida Holm":
            assert is_open == ["by a Danish painter"]
        else:
            assert is_open == ["Elm Pier", "was designed"]


CONTRAST = Contrast(
    AnnotatedClaim("Elm Pier is in Denmark.", REFUTES, ((PIER,),)),
    original="Elm Pier is in Norway.",
    old="Norway",
    new="Denmark",
)


@pytest.mark.models
def test_an_exchanged_fact_is_alternated_with_what_it_was_exchanged_for(
    pool: SentencePool, prove: Prove
) -> None:
    for seed in range(4):
        first, *flipped = claim_and_flipped(pool, seed)
        assert prove(first)[0][-1] == ("in Denmark", ALTERNATION, "Norway")
        if flipped:
            supported, refuted = flipped
            assert prove(supported)[0][-1] == ("in Denmark", EQUIVALENCE, "Denmark")
            assert prove(refuted)[0][-1] == ("in Norway", ALTERNATION, "Denmark")


def claim_and_flipped(pool: SentencePool, seed: int) -> list[EvidenceSet]:
    sets = contrast_sets([CONTRAST], pool, seed)
    assert sets[0].exchange == Exchange(15, 22, "Norway")
    return sets


COMPOSED = Composition(
    claim=AnnotatedClaim(
        "Elm Pier was designed by a Norwegian painter.", REFUTES, ((DESIGNED, PAINTER),)
    ),
    kind="description",
    bridge="Ida Holm",
    parts=(((0, 8), (13, 21)), ((27, 44),)),
    flipped=(27, 36),
    in_evidence="Danish",
)


@pytest.mark.models
def test_each_part_of_a_composition_is_open_where_its_sentence_is_missing(
    pool: SentencePool, prove: Prove
) -> None:
    whole, first_missing, second_missing = composition_sets([COMPOSED], pool, seed=0)
    (proof,) = prove(whole)
    assert [step[1] for step in proof] == [EQUIVALENCE, EQUIVALENCE, ALTERNATION]
    assert proof[-1] == ("by a Norwegian painter", ALTERNATION, "Danish")
    (proof,) = prove(first_missing)
    assert proof == [
        ("Elm Pier", INDEPENDENCE, None),
        ("was designed", INDEPENDENCE, None),
        ("by a Norwegian painter", ALTERNATION, "Danish"),
    ]
    (proof,) = prove(second_missing)
    assert proof == [
        ("Elm Pier", EQUIVALENCE, "Elm Pier"),
        ("was designed", EQUIVALENCE, "designed"),
        ("by a Norwegian painter", INDEPENDENCE, None),
    ]


def training_data(pool: SentencePool) -> TrainingData:
    train = [
        fever("Elm Pier is a Norwegian pier.", SUPPORTS, (PIER,)),
        fever("Elm Pier was opened in 1941.", REFUTES, (OPENED,)),
        fever("Elm Pier was designed by a Danish painter.", SUPPORTS, (DESIGNED, PAINTER)),
        fever("Ash Lamp was made by Per Lund.", NOT_ENOUGH_INFO),
        fever("Fir Boat never carried wool.", REFUTES, (("Fir_Boat", 0),)),
    ]
    page_claim = PageClaim("The mole is old.", SUPPORTS, "Mole", ("It is very old.",), ())
    return data_of(pool, *train, contrasts=[CONTRAST], page_claims=[page_claim])


@pytest.mark.models
def test_every_proof_has_the_label_of_its_evidence(
    pool: SentencePool, lexicon: Lexicon, encoder: MiniLMTokens
) -> None:
    examples = proof_examples(training_data(pool), [COMPOSED], lexicon, encoder, seed=0, limit=100)
    assert len(examples) > 10
    labels = {label_of(OPERATORS[o] for o in example.operators) for example in examples}
    assert labels == {SUPPORTS, REFUTES, NOT_ENOUGH_INFO}
    for example in examples:
        assert 1 <= len(example.evidence.split(" [SEP] ")) <= 5
        assert len(example.spans) == len(example.operators) == len(example.aligned)
        for place in filter(None, example.aligned):
            assert example.evidence[slice(*place)].strip() == example.evidence[slice(*place)] != ""


@pytest.mark.parametrize("case", cases("lexicon"))
def test_two_words_are_related_as_wordnet_and_numbers_say(
    case: dict[str, Any], lexicon: Lexicon
) -> None:
    kind, parts = case.get("kind", ""), case.get("parts") or ("", "")
    claim, evidence = (
        Word(text, text.lower(), part, kind)
        for text, part in zip((case["claim"], case["evidence"]), parts, strict=True)
    )
    assert lexicon.relation(claim, evidence) == case["relation"]
    if "back" in case:
        assert lexicon.relation(evidence, claim) == case["back"]


@pytest.mark.parametrize("case", cases("numbers"))
def test_numbers_in_digits_and_in_words(case: dict[str, Any]) -> None:
    assert number_of(case["text"]) == case["value"]


def test_a_folder_without_wordnet_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"index\.noun cannot be read"):
        Lexicon(tmp_path)
