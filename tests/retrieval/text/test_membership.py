"""Sentences that name a kind and do not say what is of it."""

from __future__ import annotations

import pytest

from retrieval.text.english import EnglishParser
from retrieval.text.membership import of_kind
from retrieval.types import REFUTES, SUPPORTS

NEITHER = {SUPPORTS, REFUTES}
LIST = "Berries include currants, quinces (or bels) and grapes, but exclude figs."


@pytest.mark.parametrize(
    ("claim", "title", "sentence", "lost"),
    [
        ("Zinc is an alloy.", "Brass", "Brass is an alloy of copper and zinc.", NEITHER),
        ("Brass is an alloy.", "Brass", "Brass is an alloy of copper and zinc.", set()),
        (
            "Tin is an alloy.",
            "Smithing",
            "Smiths made bronze by alloying copper with tin.",
            NEITHER,
        ),
        ("A fig is a fruit.", "Fig", "The fig is a plant whose fruit is a dry berry.", NEITHER),
        ("Figs are fruits.", "Fig", "The fig is a tree that bears round fruits.", NEITHER),
        ("Figs are fruits.", "Fig", "Figs are round fruits of a tree.", set()),
        (
            "Figs are vegetables.",
            "Fig",
            "The fig is a fruit that is used as a vegetable.",
            {SUPPORTS},
        ),
        ("Bats are insects.", "Bat", "The bat is a mammal that eats insects.", {SUPPORTS}),
        ("Quinces are berries.", "Berry", LIST, {REFUTES}),
        ("Figs are berries.", "Berry", LIST, {SUPPORTS}),
        ("Figs are berries.", "Fig", "They go by names such as fig and fico.", {REFUTES}),
        ("Bats are birds.", "Bat", "Bats are mammals that fly.", set()),
        ("Bats are birds.", "Bat", "It is furry, a creature of the night.", set()),
    ],
)
def test_what_a_thing_has_makes_or_is_used_for_is_not_what_it_is(
    parser: EnglishParser, claim: str, title: str, sentence: str, lost: set[str]
) -> None:
    claimed = of_kind(parser.parse(claim))
    assert claimed is not None
    assert claimed.denied_by(title, parser.parse(sentence)) == lost


@pytest.mark.parametrize(
    ("first", "second", "lost"),
    [
        (("Tin", "Tin is a soft metal."), ("Brass", "Brass is an alloy."), NEITHER),
        (("Tin", "Tin is a kind of brass."), ("Brass", "Brass is an alloy."), set()),
        (("Tin", "Tin is an alloy."), ("Brass", "Brass is an alloy."), NEITHER),
        (("Tin", "Tin is a soft metal."), ("Metal", "Metals conduct heat."), set()),
        (("Tin", "Tin is a metal that brass has."), ("Brass", "Brass is an alloy."), NEITHER),
    ],
)
def test_sentences_together_say_it_only_if_one_leads_to_the_other(
    parser: EnglishParser, first: tuple[str, str], second: tuple[str, str], lost: set[str]
) -> None:
    claimed = of_kind(parser.parse("Tin is an alloy."))
    assert claimed is not None
    read = [(title, parser.parse(sentence)) for title, sentence in (first, second)]
    assert claimed.denied_in(read) == lost


@pytest.mark.parametrize(
    "claim",
    [
        "Zinc is not an alloy.",
        "Zinc is the best alloy.",
        "Zinc is an alloy of copper.",
        "Ada Vale is a baker.",
        "It is an alloy.",
        "Zinc melts.",
    ],
)
def test_other_claims_put_nothing_in_a_kind(parser: EnglishParser, claim: str) -> None:
    assert of_kind(parser.parse(claim)) is None
