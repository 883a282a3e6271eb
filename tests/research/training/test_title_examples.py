from __future__ import annotations

import random

import pytest

from research.evaluation.claims import AnnotatedClaim
from research.training.compositions.bridges import Mention
from research.training.sentence_pool import SentencePool
from research.training.title_examples import (
    TitleExample,
    TitleStep,
    made_claims,
    steps_of,
    title_examples,
)
from retrieval.types import REFUTES, SUPPORTS
from tests.research.training.pages import pool_of
from tests.support.encoders import WordEncoder

PAGES = {
    "Red_Lamp": [
        "Red Lamp is a lighthouse in the north .",
        "It was designed by Ann Lee in 1931 .",
        "Its keeper kept two goats .",
    ],
    "Ann_Lee_-LRB-engineer-RRB-": ["Ann Lee is a Scottish engineer who was born in Dundee ."],
    "Old_Pier": ["Old Pier is a pier of oak .", "It has a green lamp ."],
    "Blue_Boat": ["Blue Boat is a ferry of the engineer Ann Lee .", "It has a green sail ."],
    "Yew_Hill": ["Yew Hill is a hill of chalk .", "Sheep graze there ."],
    "Ferry": ["A ferry is a boat that crosses water ."],
}
LEE = "Ann_Lee_-LRB-engineer-RRB-"
DESIGNED = AnnotatedClaim(
    "The lamp was designed by a Scot.", SUPPORTS, ((("Red_Lamp", 1), (LEE, 0)),)
)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> SentencePool:
    return pool_of(PAGES, WordEncoder(), tmp_path_factory.mktemp("pages"))


def test_each_page_of_a_claim_is_looked_for_from_the_others(pool: SentencePool) -> None:
    lamp, lee = pool.position["Red_Lamp", 1], pool.position[LEE, 0]
    gold = frozenset((lamp, lee))
    assert steps_of([DESIGNED], pool) == [
        TitleStep(DESIGNED.text, (lamp,), LEE, gold),
        TitleStep(DESIGNED.text, (lee,), "Red_Lamp", gold),
    ]


def test_of_three_sentences_two_lead_to_the_third(pool: SentencePool) -> None:
    group = (("Red_Lamp", 0), ("Red_Lamp", 1), (LEE, 0))
    steps = steps_of([AnnotatedClaim("A claim.", REFUTES, (group,))], pool)
    lamps = (pool.position["Red_Lamp", 0], pool.position["Red_Lamp", 1])
    assert [(step.leads, step.page) for step in steps] == [
        (lamps, LEE),
        ((pool.position[LEE, 0],), "Red_Lamp"),
    ]


@pytest.mark.parametrize(
    "group",
    [
        (("Red_Lamp", 0), ("Red_Lamp", 1)),  # one page
        (("Red_Lamp", 0), ("Elm_Tower", 0)),  # a page that is not there
        tuple((page, 0) for page in list(PAGES)[:5]),  # five sentences, the union of several sets
    ],
)
def test_other_sets_make_no_step(pool: SentencePool, group: tuple[tuple[str, int], ...]) -> None:
    assert steps_of([AnnotatedClaim("A claim.", SUPPORTS, (group,))], pool) == []


def test_a_claim_is_made_of_what_two_pages_tell(pool: SentencePool) -> None:
    sentence = pool.sentences[pool.position["Red_Lamp", 1]]
    text = "It was designed by Ann Lee in 1931."
    mention = Mention(LEE, text.index("Ann"), text.index(" in"))
    assert made_claims(sentence, text, mention, pool, random.Random(0)) == [
        "Red Lamp was designed by a Scottish engineer.",
        "Red Lamp is a Scottish engineer.",
    ]


def examples_of(pool: SentencePool, seed: int) -> list[TitleExample]:
    return title_examples([DESIGNED], [DESIGNED], pool, seed)


@pytest.mark.parametrize("seed", range(4))
def test_the_gold_sentences_are_named_and_the_title_is_that_of_the_page_left_out(
    pool: SentencePool, seed: int
) -> None:
    of_claim = [e for e in examples_of(pool, seed) if e.claim == DESIGNED.text]
    # Both ways six times for the annotated claim, one way once for the composed one.
    assert [example.title for example in of_claim].count("Ann Lee (engineer)") == 7
    assert [example.title for example in of_claim].count("Red Lamp") == 6
    for example in of_claim:
        (lead,) = example.leads
        told = {
            "Ann Lee (engineer)": ("Red Lamp", "It was designed by Ann Lee in 1931."),
            "Red Lamp": (
                "Ann Lee (engineer)",
                "Ann Lee is a Scottish engineer who was born in Dundee.",
            ),
        }
        assert example.sentences[lead] == told[example.title]


def test_other_sentences_of_the_input_lead_nowhere(pool: SentencePool) -> None:
    sizes = set()
    for example in [example for seed in range(4) for example in examples_of(pool, seed)]:
        beside = [s for n, s in enumerate(example.sentences) if n not in example.leads]
        name = example.title.partition(" (")[0]
        assert not [s for s in beside if s[0] == example.title or name in s[1]]
        assert len(set(example.sentences)) == len(example.sentences)
        sizes.add(len(example.sentences))
    assert sizes == {1, 2, 3, 4, 5}


def test_a_page_that_is_called_otherwise_is_so_everywhere(pool: SentencePool) -> None:
    examples = [example for seed in range(4) for example in examples_of(pool, seed)]
    of_pages = [e for e in examples if e.claim != DESIGNED.text]
    assert len({example.title for example in of_pages}) > 2
    for example in of_pages:
        (lead,) = example.leads
        name = example.title.partition(" (")[0]
        assert name.lower() in example.sentences[lead][1].lower()
    renamed = [e for e in of_pages if e.title not in ("Ann Lee (engineer)", "Ferry")]
    assert not [e for e in renamed for s in e.sentences if "Ann Lee" in s[1]]


def test_the_same_seed_makes_the_same_examples(pool: SentencePool) -> None:
    assert examples_of(pool, 1) == examples_of(pool, 1)
    assert examples_of(pool, 1) != examples_of(pool, 2)
