from __future__ import annotations

import random
from pathlib import Path

import pytest

from research.evaluation.claims import AnnotatedClaim
from research.training.claims import PageClaim
from research.training.dense_examples import (
    DenseExample,
    claim_examples,
    composed_examples,
    page_claim_examples,
    page_examples,
)
from research.training.sentence_pool import SentencePool
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS
from tests.research.training.pages import pool_of
from tests.support.encoders import WordEncoder

PAGES = {
    "Elm_Pier": ["Elm Pier is a pier of oak .", "It burnt down in a storm ."],
    "Ash_Lamp": ["Ash Lamp is a lamp on Elm Pier .", "Its light is green and weak today ."],
    "Fir_Boat": ["Fir Boat is a boat of pine ."],
}
SUPPORTED, REFUTED = LABELS.index(SUPPORTS), LABELS.index(REFUTES)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> SentencePool:
    return pool_of(PAGES, WordEncoder(), tmp_path_factory.mktemp("pages"))


def made(
    claim: AnnotatedClaim, pool: SentencePool, ignored: dict[str, list[int]] | None = None
) -> list[DenseExample]:
    return claim_examples([claim], ignored or {}, pool, random.Random(0))


def test_a_claim_wants_its_gold_sentences_and_ignores_what_is_likely_evidence(
    pool: SentencePool,
) -> None:
    claim = AnnotatedClaim("Elm Pier is old.", REFUTES, ((("Elm_Pier", 1),), (("Fir_Boat", 0),)))
    examples = made(claim, pool, {claim.text: [4, 3, 1], "Another.": [0]})
    (example,) = examples
    assert example.query == ("Elm Pier is old.", ())
    assert example.wanted == (1, 4)
    assert example.ignored == (3,)
    assert example.verdict in {(1, REFUTED), (4, REFUTED)}


def test_evidence_on_two_pages_makes_a_step_from_each_to_the_other(pool: SentencePool) -> None:
    claim = AnnotatedClaim(
        "The lamp's pier burnt.", SUPPORTS, ((("Ash_Lamp", 0), ("Elm_Pier", 1)),)
    )
    alone, *steps = made(claim, pool, {claim.text: [4]})
    assert (alone.path, alone.wanted, alone.ignored) == ((), (1, 2), (4,))
    by_lead = {step.path: step for step in steps}
    from_lamp = by_lead[(("Ash Lamp", "Ash Lamp is a lamp on Elm Pier."),)]
    # The page of the sentence that leads on is read already.
    assert (from_lamp.wanted, from_lamp.ignored) == ((1,), (2, 3, 4))
    assert from_lamp.verdict == (1, SUPPORTED)
    from_pier = by_lead[(("Elm Pier", "It burnt down in a storm."),)]
    assert (from_pier.wanted, from_pier.ignored) == ((2,), (0, 1, 4))
    assert len(steps) == 2


def test_an_undecided_claim_is_classified_with_the_most_similar_sentence_and_has_no_gold_one(
    pool: SentencePool,
) -> None:
    claim = AnnotatedClaim("Fir Boat is a boat of oak.", NOT_ENOUGH_INFO, ())
    assert made(claim, pool) == [
        DenseExample(claim.text, (), (), (), (4, LABELS.index(NOT_ENOUGH_INFO)))
    ]


def test_a_claim_whose_evidence_is_not_in_the_pool_teaches_nothing(pool: SentencePool) -> None:
    assert made(AnnotatedClaim("It is far.", SUPPORTS, ((("Oak_Well", 0),),)), pool) == []


def test_a_composed_claim_leads_to_its_first_sentence_and_from_there_to_its_second(
    pool: SentencePool,
) -> None:
    claim = AnnotatedClaim("A lamp's pier burnt.", SUPPORTS, ((("Ash_Lamp", 0), ("Elm_Pier", 1)),))
    assert composed_examples([claim], pool) == [
        DenseExample(claim.text, (), (2,), (1,)),
        DenseExample(claim.text, (("Ash Lamp", "Ash Lamp is a lamp on Elm Pier."),), (1,), (2, 3)),
    ]


def test_claims_with_a_page_of_their_own_want_its_gold_rows() -> None:
    claims = [
        PageClaim("One.", SUPPORTS, "Well", ("a", "b"), ("c", "d", "e")),
        PageClaim("Two.", REFUTES, "Hill", ("f",), ("g",)),
        PageClaim("Three.", REFUTES, "Dale", ("h",), ()),
    ]
    assert page_claim_examples(claims, 100) == [
        DenseExample("One.", (), (100, 101)),
        DenseExample("Two.", (), (105,)),
        DenseExample("Three.", (), (107,)),
    ]


def test_pages_give_pieces_of_sentences_and_mentions_of_titles(pool: SentencePool) -> None:
    examples = page_examples(pool, 100, random.Random(0))
    mentions = [example for example in examples if example.ignored]
    # Only one sentence names another page; its page's first sentence is wanted.
    assert mentions == [DenseExample("Ash Lamp is a lamp on Elm Pier.", (), (0,), (2,))]
    pieces = {example.wanted: example.claim for example in examples if not example.ignored}
    assert len(pieces) == len(examples) - 1
    for (row,), text in pieces.items():
        sentence = pool.sentences[row]
        assert text.startswith(sentence.title)
        piece = text.removeprefix(sentence.title).strip()
        assert piece in sentence.text
        assert len(piece.split()) == len(sentence.text.split()) // 2


def test_a_one_word_title_is_not_taken_for_a_mention(tmp_path: Path) -> None:
    pages = {"Lamp": ["A lamp gives light ."], "Oak_Pier": ["The pier has a lamp ."]}
    examples = page_examples(pool_of(pages, WordEncoder(), tmp_path), 10, random.Random(0))
    assert not [example for example in examples if example.ignored]


def test_what_pages_give_is_bounded_and_depends_on_the_seed_alone(pool: SentencePool) -> None:
    assert len(page_examples(pool, 2, random.Random(3))) == 2
    assert page_examples(pool, 9, random.Random(3)) == page_examples(pool, 9, random.Random(3))
