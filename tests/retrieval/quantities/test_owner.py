"""Whose a number of a sentence is."""

from __future__ import annotations

import pytest

from retrieval.quantities.owner import is_of_another
from retrieval.text.english import EnglishParser

CLAIM = "Tarsk has 412,300 inhabitants."


@pytest.mark.parametrize(
    ("claim", "title", "sentence"),
    [
        (CLAIM, "Norl", "Norl is the second-largest city, after Tarsk, with 412,300 inhabitants."),
        (CLAIM, "Norl", "Norl has 90,000 inhabitants and a road to Tarsk."),
        ("Mount Tarsk is 812 metres high.", "Orn", "Orn, at 812 metres, is below Mount Tarsk."),
    ],
)
def test_a_number_of_another_thing_is_not_the_subjects(
    parser: EnglishParser, claim: str, title: str, sentence: str
) -> None:
    assert is_of_another(parser.parse(claim), [(title, sentence)], parser)


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("Tarsk", "It has 412,300 inhabitants."),
        ("Norl", "Norl lies near Tarsk, a city of 412,300 inhabitants."),
        ("Norl", "Norl is smaller than Tarsk, which has 412,300 inhabitants."),
        ("Norl", "Like Tarsk, Norl has 412,300 inhabitants."),
        ("Cities", "There are 412,300 inhabitants in Tarsk."),
        ("Norl", "Norl is west of Tarsk."),
    ],
)
def test_a_number_that_may_be_the_subjects_is_left_to_the_verifier(
    parser: EnglishParser, title: str, sentence: str
) -> None:
    assert not is_of_another(parser.parse(CLAIM), [(title, sentence)], parser)


@pytest.mark.parametrize(
    ("claim", "title", "sentence"),
    [
        ("The UK has 412,300 inhabitants.", "Norl", "The United Kingdom has 412,300 inhabitants."),
        ("The United Kingdom has 412,300 inhabitants.", "Norl", "The UK has 412,300 inhabitants."),
        ("The EU has 27 members.", "European Union", "Norl and Orn are 2 of its 27 members."),
        ("JFK had 4 children.", "Ada Vale", "John F. Kennedy had 4 children."),
        ("John F. Kennedy had 4 children.", "Ada Vale", "JFK had 4 children."),
    ],
)
def test_initials_are_the_name_that_they_are_of(
    parser: EnglishParser, claim: str, title: str, sentence: str
) -> None:
    assert not is_of_another(parser.parse(claim), [(title, sentence)], parser)


@pytest.mark.parametrize("sentence", ["The figure is 979 m.", "They are 979 m apart."])
def test_a_length_of_something_is_not_that_of_people(parser: EnglishParser, sentence: str) -> None:
    claim = parser.parse("Humans are more than 3 metres tall.")
    assert is_of_another(claim, [("Orn", sentence)], parser)
    assert not is_of_another(claim, [("Orn", "A man is 979 m tall.")], parser)


@pytest.mark.parametrize("of_it", ["Ibexes live near Orn.", "Ibexes are smaller than skyscrapers."])
def test_a_number_read_beside_a_kind_of_things_must_be_that_of_the_kind(
    parser: EnglishParser, of_it: str
) -> None:
    claim = parser.parse("An ibex is more than 10 metres tall.")
    texts = [("Ibex", of_it), ("Skyscraper", "A skyscraper is at least 100 metres tall.")]
    assert is_of_another(claim, texts, parser)


def test_a_page_that_another_sentence_names_may_have_the_number(parser: EnglishParser) -> None:
    number = ("Norl", "Norl has 412,300 inhabitants.")
    for beside, another in (("Tarsk was once named Norl.", False), ("Tarsk is old.", True)):
        texts = [("Orn", beside), number]
        assert is_of_another(parser.parse(CLAIM), texts, parser) is another


def test_a_date_is_of_an_event_and_not_of_a_thing(parser: EnglishParser) -> None:
    claim = parser.parse("Tarsk was founded in 1874.")
    assert not is_of_another(claim, [("Norl", "Norl was founded in 1874, after Tarsk.")], parser)
