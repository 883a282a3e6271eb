"""The prover: the proofs that it is trained on, its network and its figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
import torch

from research.evaluation.claims import AnnotatedClaim, FeverClaim, SentenceKey
from research.training.compositions import Composition
from research.training.contrast import Contrast
from research.training.evidence_sets import (
    EvidenceSet,
    Exchange,
    claim_sets,
    composition_sets,
    contrast_sets,
)
from research.training.lexicon import Lexicon, Word, number_of
from research.training.loop import Hyperparameters, train
from research.training.networks.encoders import row_tokenizer
from research.training.proofs import ProofExample, proofs
from research.training.prover import (
    DevSets,
    Opinion,
    fitted_cutoff,
    fitted_temperature,
    network_from_relevance_model,
    proof_loss,
    scaled,
    sufficiency_figures,
)
from research.training.read_texts import MiniLMTokens
from research.training.sentence_pool import SentencePool
from retrieval.errors import BadSource
from retrieval.models.encoders import MiniLMEncoder
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
from settings import CHECKOUT
from tests.research.training.pages import WORDNET, pool_of
from tests.support.cases import cases, rows

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


def fever(text: str, label: Label, *evidence: Sequence[SentenceKey]) -> FeverClaim:
    return FeverClaim(text, label, tuple(tuple(group) for group in evidence), 1, "line 1")


Step: TypeAlias = tuple[str, Operator, str | None]
Prove: TypeAlias = Callable[..., list[list[Step]]]
LEXICON = Lexicon(WORDNET)


def pair(pool: SentencePool, key: SentenceKey) -> tuple[str, str]:
    sentence = pool.sentences[pool.position[key]]
    return sentence.title, sentence.text


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
def prove() -> Prove:
    encoder = MiniLMTokens()
    return lambda *sets: [steps(example) for example in proofs(sets, LEXICON, encoder)]


@pytest.mark.models
@cases("training_proofs", "claim", "label", "sentences", "proof")
def test_each_part_of_a_claim_has_the_operator_that_the_evidence_gives_it(
    claim: str,
    label: Label,
    sentences: list[tuple[str, int]],
    proof: list[list[str | None]] | None,
    pool: SentencePool,
    prove: Prove,
) -> None:
    told = tuple(pair(pool, (page, number)) for page, number in sentences)
    gold = () if label == NOT_ENOUGH_INFO else (0,)
    found = prove(EvidenceSet(claim, label, told, gold))
    if proof is None:
        assert found == []
    else:
        (steps,) = found
        assert [list(step)[: len(e)] for step, e in zip(steps, proof, strict=True)] == proof


@pytest.mark.models
def test_parts_that_a_missing_sentence_states_are_open(pool: SentencePool, prove: Prove) -> None:
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
def test_an_exchanged_fact_is_alternated_with_the_other(pool: SentencePool, prove: Prove) -> None:
    seen = set()
    for seed in range(4):
        first, *flipped = contrast_sets([CONTRAST], pool, seed)
        assert first.exchange == Exchange(15, 22, "Norway")
        assert prove(first)[0][-1] == ("in Denmark", ALTERNATION, "Norway")
        seen.add(len(flipped))
        if flipped:
            supported, refuted = flipped
            assert prove(supported)[0][-1] == ("in Denmark", EQUIVALENCE, "Denmark")
            assert prove(refuted)[0][-1] == ("in Norway", ALTERNATION, "Denmark")
    assert 2 in seen


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
def test_a_part_of_a_composition_may_miss_its_sentence(pool: SentencePool, prove: Prove) -> None:
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


@cases("lexicon", "claim", "evidence", "kind", "parts", "relation", "back")
def test_two_words_are_related_as_wordnet_and_numbers_say(
    claim: str, evidence: str, kind: str, parts: str, relation: str, back: str
) -> None:
    ours, theirs = (
        Word(text, text.lower(), part, kind)
        for text, part in zip((claim, evidence), parts or ("", ""), strict=True)
    )
    assert LEXICON.relation(ours, theirs) == relation
    assert LEXICON.relation(theirs, ours) == back


def test_numbers_in_digits_and_in_words_and_a_folder_without_wordnet(tmp_path: Path) -> None:
    for why, (text,), value in rows("number_words", ["text"], "value"):
        assert number_of(text) == value, why
    with pytest.raises(BadSource, match=r"index\.noun cannot be read"):
        Lexicon(tmp_path)


RELEVANCE_MODEL = CHECKOUT / "models" / "relevance"
RECIPE = Hyperparameters(epochs=4, batch_size=2, learning_rate=2e-4, warmup=0.1, max_tokens=48)
OPENED_CLAIM = "The pier was opened in 1941."
SPANS = ((0, 8), (9, 19), (20, 27))
TOLD = "Pier : The pier was opened in 1931."
EXAMPLES = [
    # "The pier", "opened" and "1931" of the evidence.
    ProofExample(OPENED_CLAIM, SPANS, TOLD, (0, 0, 2), ((7, 15), (20, 26), (30, 34))),
    ProofExample(OPENED_CLAIM, SPANS, "Lamp : The lamp is red.", (3, 3, 3), (None, None, None)),
    ProofExample(OPENED_CLAIM, SPANS, "Pier : The pier is long.", (0, 3, 3), ((7, 15), None, None)),
]


@pytest.mark.models
@pytest.mark.rare
def test_it_learns_from_a_few_proofs(tmp_path: Path) -> None:
    network, tokenizer = network_from_relevance_model(RELEVANCE_MODEL), row_tokenizer(64)
    loss_of = proof_loss(network, tokenizer, RECIPE.max_tokens)
    with torch.inference_mode():
        before = float(loss_of(EXAMPLES))
    train(network, EXAMPLES, loss_of, RECIPE, tmp_path, dict)
    with torch.inference_mode():
        after = float(loss_of(EXAMPLES))
    assert after < before - 0.3


def opinion(*spans: tuple[Operator, float]) -> Opinion:
    """Spans with their most probable operator and its probability; the rest is shared."""
    return np.array(
        [
            [probability if known == operator else (1 - probability) / 3 for known in OPERATORS]
            for operator, probability in spans
        ],
        dtype=np.float32,
    )


def one_set(label: Label, two_pages: bool = False) -> EvidenceSet:
    return EvidenceSet(OPENED_CLAIM, label, (("Pier", "It is old."),), (0,), two_pages=two_pages)


DEV = DevSets(
    [
        one_set(SUPPORTS, two_pages=True),
        one_set(REFUTES),
        one_set(SUPPORTS),
        one_set(NOT_ENOUGH_INFO, two_pages=True),
        one_set(NOT_ENOUGH_INFO, two_pages=True),
    ],
    [((0, 8), (9, 19))] * 5,
)
OPINIONS = [
    opinion((EQUIVALENCE, 0.9), (EQUIVALENCE, 0.8)),
    opinion((EQUIVALENCE, 0.9), (ALTERNATION, 0.7)),
    opinion((EQUIVALENCE, 0.9), (INDEPENDENCE, 0.6)),  # wrongly open
    opinion((INDEPENDENCE, 0.9), (EQUIVALENCE, 0.7)),
    opinion((EQUIVALENCE, 0.7), (ALTERNATION, 0.7)),  # wrongly told to suffice
]


def test_figures_of_five_sets_with_a_fitted_cutoff_and_temperature() -> None:
    assert sufficiency_figures(OPINIONS, DEV, cutoff=0.5) == pytest.approx(
        {
            "balanced": 100 * (2 / 3 + 1 / 2) / 2,
            "open_precision": 50.0,
            "open_recall": 50.0,
            "two_pages": 100 * (1 + 1 / 2) / 2,
            "label": 100 * 2 / 3,
        }
    )
    # 0.6 suffices, 0.9 does not: the least cutoff between them.
    assert fitted_cutoff(OPINIONS[2:4], DevSets(DEV.sets[2:4], DEV.spans[2:4])) == 0.65
    assert fitted_temperature(OPINIONS, DEV) > 1  # they are surer than they are right
    assert fitted_temperature(OPINIONS[:2], DevSets(DEV.sets[:2], DEV.spans[:2])) == 0.5
    hot = scaled(OPINIONS[0], 0.5)
    # 0.9 and three times 1/30, squared: 0.81 of 0.81 + 3 / 900.
    assert hot[0, 0] == pytest.approx(0.81 / (0.81 + 3 / 900))
