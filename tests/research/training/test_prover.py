"""The prover: the proofs that it is trained on, its network and its figures."""

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import torch

from research.training import prover
from research.training.evidence_sets import EvidenceSet, Exchange
from research.training.lexicon import Lexicon, Word, number_of
from research.training.loop import Hyperparameters, train
from research.training.networks.encoders import row_tokenizer
from research.training.proofs import ProofExample, proofs
from research.training.read_texts import MiniLMTokens
from research.training.sentence_pool import SentencePool
from retrieval import types
from retrieval.errors import BadSource
from retrieval.types import (
    ALTERNATION,
    EQUIVALENCE,
    INDEPENDENCE,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
)
from settings import CHECKOUT
from tests.research.training.pages import WORDNET, pool_of
from tests.support.cases import rules
from tests.support.encoders import WordEncoder

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


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> SentencePool:
    return pool_of(PAGES, WordEncoder(), tmp_path_factory.mktemp("pages"))


Step: TypeAlias = tuple[str, types.Operator, str | None]
LEXICON = Lexicon(WORDNET)


def steps(example: ProofExample) -> list[Step]:
    """A proof as one reads it: words of the claim, operator, words of the evidence."""
    places = [None if one is None else example.evidence[slice(*one)] for one in example.aligned]
    words = [example.claim[slice(*span)] for span in example.spans]
    operators = [types.OPERATORS[operator] for operator in example.operators]
    return list(zip(words, operators, places, strict=True))


def by_keys(pool: SentencePool, claim: str, label: types.Label, keys: list[Any]) -> EvidenceSet:
    """A claim and sentences of the pool, the first of which is the gold one."""
    sentences = (pool.sentences[pool.position[page, number]] for page, number in keys)
    pairs = tuple((one.title, one.text) for one in sentences)
    return EvidenceSet(claim, label, pairs, () if label == NOT_ENOUGH_INFO else (0,))


def given(
    _: SentencePool,
    claim: str,
    label: types.Label,
    evidence: list[Any],
    gold: list[int],
    exchange: list[Any] | None,
    missing: list[Any],
    open_parts: list[Any],
) -> EvidenceSet:
    pairs, lacks, parts = (tuple(map(tuple, some)) for some in (evidence, missing, open_parts))
    other = Exchange(*exchange) if exchange else None
    return EvidenceSet(claim, label, pairs, tuple(gold), other, lacks, parts)


@pytest.mark.models
@rules(
    ("training_proofs", "claim label sentences", "proof", by_keys),
    ("training_proofs", "claim label evidence gold exchange missing open", "proof", given),
)
def test_each_part_of_a_claim_has_the_operator_that_the_evidence_gives_it(
    rule: Any, given: list[Any], expected: list[list[str | None]] | None, pool: SentencePool
) -> None:
    examples = proofs([rule(pool, *given)], LEXICON, MiniLMTokens())
    if expected is None:
        assert examples == []
        return
    (example,) = examples
    found = [list(step)[: len(e)] for step, e in zip(steps(example), expected, strict=True)]
    assert found == expected


def relations(claim: str, evidence: str, kind: str, parts: str) -> list[str]:
    ours, theirs = (
        Word(text, text.lower(), part, kind)
        for text, part in zip((claim, evidence), parts or ("", ""), strict=True)
    )
    return [LEXICON.relation(ours, theirs), LEXICON.relation(theirs, ours)]


@rules(
    ("lexicon", "claim evidence kind parts", "relation back", relations),
    ("number_words", "text", "value", number_of),
)
def test_words_are_related_as_in_wordnet(rule: Any, given: list[str], expected: object) -> None:
    assert rule(*given) == expected


def test_a_folder_without_wordnet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"index\.noun cannot be read"):
        Lexicon(tmp_path)


RELEVANCE_MODEL = CHECKOUT / "models" / "relevance"
RECIPE = Hyperparameters(epochs=4, batch_size=2, learning_rate=2e-4, warmup=0.1, max_tokens=48)
OPENED_CLAIM = "The pier was opened in 1941."
SPANS = ((0, 8), (9, 19), (20, 27))
OPENED = "Pier : The pier was opened in 1931."
EXAMPLES = [
    # "The pier", "opened" and "1931" of the evidence.
    ProofExample(OPENED_CLAIM, SPANS, OPENED, (0, 0, 2), ((7, 15), (20, 26), (30, 34))),
    ProofExample(OPENED_CLAIM, SPANS, "Lamp : The lamp is red.", (3, 3, 3), (None, None, None)),
    ProofExample(OPENED_CLAIM, SPANS, "Pier : The pier is long.", (0, 3, 3), ((7, 15), None, None)),
]


@pytest.mark.models
@pytest.mark.rare
def test_it_learns_from_a_few_proofs(tmp_path: Path) -> None:
    network, tokenizer = prover.network_from_relevance_model(RELEVANCE_MODEL), row_tokenizer(64)
    loss_of = prover.proof_loss(network, tokenizer, RECIPE.max_tokens)
    with torch.inference_mode():
        before = float(loss_of(EXAMPLES))
    train(network, EXAMPLES, loss_of, RECIPE, tmp_path, dict)
    with torch.inference_mode():
        after = float(loss_of(EXAMPLES))
    assert after < before - 0.3


def opinion(*spans: tuple[types.Operator, float]) -> prover.Opinion:
    """Spans with their most probable operator and its probability; the rest is shared."""

    def share(known: str, likely: str, probability: float) -> float:
        return probability if known == likely else (1 - probability) / 3

    rows = [[share(known, *span) for known in types.OPERATORS] for span in spans]
    return np.array(rows, dtype=np.float32)


def one_set(label: types.Label, two_pages: bool = False) -> EvidenceSet:
    return EvidenceSet(OPENED_CLAIM, label, (("Pier", "It is old."),), (0,), two_pages=two_pages)


TWO = [one_set(NOT_ENOUGH_INFO, two_pages=True)] * 2
SETS = [one_set(SUPPORTS, two_pages=True), one_set(REFUTES), one_set(SUPPORTS), *TWO]
DEV = prover.DevSets(SETS, [((0, 8), (9, 19))] * 5)
OPINIONS = [
    opinion((EQUIVALENCE, 0.9), (EQUIVALENCE, 0.8)),
    opinion((EQUIVALENCE, 0.9), (ALTERNATION, 0.7)),
    opinion((EQUIVALENCE, 0.9), (INDEPENDENCE, 0.6)),  # wrongly open
    opinion((INDEPENDENCE, 0.9), (EQUIVALENCE, 0.7)),
    opinion((EQUIVALENCE, 0.7), (ALTERNATION, 0.7)),  # wrongly labelled as sufficient
]


def test_figures_of_five_sets_with_a_fitted_cutoff_and_temperature() -> None:
    wanted = {"balanced": 100 * (2 / 3 + 1 / 2) / 2, "open_precision": 50.0, "open_recall": 50.0}
    wanted |= {"two_pages": 100 * (1 + 1 / 2) / 2, "label": 100 * 2 / 3}
    assert prover.sufficiency_figures(OPINIONS, DEV, cutoff=0.5) == pytest.approx(wanted)
    # 0.6 suffices, 0.9 does not: the least cutoff between them.
    assert (
        prover.fitted_cutoff(OPINIONS[2:4], prover.DevSets(DEV.sets[2:4], DEV.spans[2:4])) == 0.65
    )
    assert prover.fitted_temperature(OPINIONS, DEV) > 1  # they are surer than they are right
    assert (
        prover.fitted_temperature(OPINIONS[:2], prover.DevSets(DEV.sets[:2], DEV.spans[:2])) == 0.5
    )
    hot = prover.scaled(OPINIONS[0], 0.5)
    # 0.9 and three times 1/30, squared: 0.81 of 0.81 + 3 / 900.
    assert hot[0, 0] == pytest.approx(0.81 / (0.81 + 3 / 900))
