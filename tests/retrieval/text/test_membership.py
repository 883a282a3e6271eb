"""Sentences that name a kind and do not say what is of it."""

from __future__ import annotations

import pytest

from retrieval.text.english import EnglishParser
from retrieval.text.membership import of_kind


@pytest.mark.parametrize(
    ("claim", "sentence", "beside"),
    [
        ("Zinc is an alloy.", "Brass is an alloy of copper and zinc.", True),
        ("Brass is an alloy.", "Brass is an alloy of copper and zinc.", False),
        ("A fig is a fruit.", "The fig is a plant whose fruit is a dry berry.", True),
        ("Figs are fruits.", "The fig is a tree that bears round fruits.", True),
        ("Figs are fruits.", "Figs are round fruits of a tree.", False),
        ("Figs are fruits.", "Figs grow on trees.", False),
        ("Figs are fruits.", "Its fruit is dry, and figs are sweet fruits.", False),
    ],
)
def test_what_a_thing_has_or_is_a_part_of_is_not_what_it_is(
    parser: EnglishParser, claim: str, sentence: str, beside: bool
) -> None:
    claimed = of_kind(parser.parse(claim))
    assert claimed is not None
    assert claimed.is_beside([parser.parse(sentence)]) == beside


@pytest.mark.parametrize(
    "claim",
    [
        "Tin was an alloy.",
        "Tin is not an alloy.",
        "Tin is an alloy of copper.",
        "Tin conducts heat.",
        "It is an alloy.",
    ],
)
def test_other_claims_say_something_else(parser: EnglishParser, claim: str) -> None:
    assert of_kind(parser.parse(claim)) is None
