"""What may deny that a thing is of a kind."""

from __future__ import annotations

import pytest

from retrieval.text.english import EnglishParser
from retrieval.text.negation import not_of_kind


@pytest.mark.parametrize(
    ("claim", "title", "sentence", "denies"),
    [
        ("Europe is not a country.", "Europe", "It is a continent.", True),
        ("Europe is not a country.", "Spain", "Spain is a country in Europe.", False),
        ("Europe is not a country.", "Maps", "Europe is no country but a continent.", True),
        ("A whale is not a fish.", "Whale shark", "The whale shark is a fish.", False),
        ("Whales are not fish.", "Whale (animal)", "They are mammals.", True),
        ("Varnish is not a language.", "Varnish language", "It is spoken in Varn.", True),
        (
            "Varnish is not a language.",
            "Coast",
            "All tongues are old, also Varnish.",
            True,
        ),
        ("Holm was not an engineer.", "Varn", "Ida Holm was an engineer of Varn.", True),
    ],
)
def test_what_is_said_of_the_thing_or_of_all_of_its_like_may_deny_it(
    parser: EnglishParser, claim: str, title: str, sentence: str, denies: bool
) -> None:
    claimed = not_of_kind(parser.parse(claim))
    assert claimed is not None
    assert claimed.is_denied_by([(title, parser.parse(sentence))]) == denies


@pytest.mark.parametrize(
    ("title", "sentence", "denies"),
    [
        ("Spain", "Spain is a country in Europe.", False),
        ("Continent", "A continent is a country of its own.", True),
        ("Africa", "Africa is its neighbour.", True),
    ],
)
def test_another_sentence_denies_it_only_by_what_is_said_of_the_thing(
    parser: EnglishParser, title: str, sentence: str, denies: bool
) -> None:
    claimed = not_of_kind(parser.parse("Europe is not a country."))
    assert claimed is not None
    about = ("Europe", parser.parse("Europe is a continent."))
    assert claimed.is_denied_by([(title, parser.parse(sentence)), about]) == denies


@pytest.mark.parametrize(
    "claim", ["Europe is a country.", "Penguins cannot fly.", "It is not a country.", "Paris"]
)
def test_other_claims_say_of_nothing_that_it_is_not_of_a_kind(
    parser: EnglishParser, claim: str
) -> None:
    assert not_of_kind(parser.parse(claim)) is None
