"""What may deny that a thing is of a kind."""

from __future__ import annotations

import pytest

from retrieval.text.english import EnglishParser
from retrieval.text.negation import speaks_of, thing_of_no_kind


@pytest.mark.parametrize(
    ("claim", "title", "sentence", "speaks"),
    [
        ("Europe is not a country.", "Europe", "It is a continent.", True),
        ("Europe is not a country.", "Spain", "Spain is a country in Europe.", False),
        ("Europe is not a country.", "Maps", "Europe is no country but a continent.", True),
        ("A whale is not a fish.", "Whale shark", "The whale shark is a fish.", False),
        ("Whales are not fish.", "Whale (animal)", "They are mammals.", True),
        ("Holm was not an engineer.", "Varn", "Ida Holm was an engineer of Varn.", True),
    ],
)
def test_a_document_of_the_thing_or_a_sentence_with_it_as_subject_speaks_of_it(
    parser: EnglishParser, claim: str, title: str, sentence: str, speaks: bool
) -> None:
    thing = thing_of_no_kind(parser.parse(claim))
    assert thing
    assert speaks_of(thing, title, parser.parse(sentence)) == speaks


@pytest.mark.parametrize(
    "claim", ["Europe is a country.", "Penguins cannot fly.", "It is not a country.", "Paris"]
)
def test_other_claims_say_of_nothing_that_it_is_not_of_a_kind(
    parser: EnglishParser, claim: str
) -> None:
    assert thing_of_no_kind(parser.parse(claim)) == frozenset()
