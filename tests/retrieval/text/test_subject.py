"""Whether a sentence is about what the claim is about."""

from __future__ import annotations

import pytest

from retrieval.text.english import EnglishParser
from retrieval.text.subject import subject_of

PARSER = EnglishParser()


def about(claim: str, *texts: tuple[str, str]) -> bool:
    """Return whether the (title, sentence) pairs are about the subject of the claim."""
    found: bool = subject_of(PARSER.parse(claim)).is_in(texts)
    return found


@pytest.mark.parametrize(
    ("claim", "title", "sentence"),
    [
        ("Oslo is the capital of Norway.", "Oslo", "It is the seat of the government."),
        ("Oslo's harbour is old.", "Harbours", "That of OSLO was built in 1200."),
        ("Malmo is a town.", "Towns", "Malmö lies on the coast."),
        ("Bananas are berries.", "Fruit", "A banana is a berry."),
        ("A mouse is a rodent.", "Rodents", "Mice and rats are rodents."),
        ("Kilimanjaro is a volcano.", "Mount Kilimanjaro", "It is a volcano."),
        ("Mount Kilimanjaro is a volcano.", "Volcanoes", "Kilimanjaro is one."),
        ("Rowling wrote plays.", "J. K. Rowling", "She writes novels."),
        ("Joanne Rowling wrote plays.", "Novels", "J. K. Rowling writes them."),
        ("Ida Holm kept bees.", "Beekeepers", "Holm kept forty hives."),
        ("The ESA launches rockets.", "Rockets", "The European Space Agency has a spaceport."),
        ("The European Space Agency has rockets.", "Rockets", "Those of the ESA are white."),
        ("The U.S. has fifty states.", "States", "The United States has fifty."),
        ("Australians drive on the left.", "Roads", "In Australia cars keep to the left."),
        ("The Roma came from Egypt.", "Romani people", "The Romani came from India."),
        ("The town of Varnby is old.", "Varnby", "It was founded in 1200."),
        ("The capital of Norway is Oslo.", "Oslo", "It is the seat of the government."),
        ("Al-Idrisi drew maps.", "Maps", "Some of them are by al-Idrisi."),
        ("The Moon is old.", "Tides", "They follow the moon."),
        ("Since 2009, Bitcoin exists.", "Currencies", "Ada Vale released bitcoin in 2009."),
        ("As a drug, Aspirin reduces fever.", "Fever", "Doctors give aspirin to reduce fever."),
        ("In 1923 the Republic was proclaimed.", "1923", "A republic was proclaimed in 1923."),
        ("The Banana Is A Berry", "Fruit", "A banana is a berry."),
    ],
)
def test_a_sentence_with_the_subject_in_any_form_is_about_it(
    claim: str, title: str, sentence: str
) -> None:
    assert about(claim, (title, sentence))


@pytest.mark.parametrize(
    ("claim", "title", "sentence"),
    [
        (
            "Canberra is the capital of Australia.",
            "Brisbane",
            "Brisbane is the capital of the Australian state of Queensland.",
        ),
        (
            "Canberra is the capital of Australia.",
            "Brisbane",
            "Brisbane is the capital of Queensland, and by now the third in size in Australia.",
        ),
        (
            "The capital of Australia is Canberra.",
            "Adelaide",
            "Adelaide is the capital of South Australia.",
        ),
        ("Jupiter is denser than Saturn.", "Titan", "Titan is the largest moon of Saturn."),
        ("Karl Benz was born in Germany.", "Rudolf Holm", "He was born in Germany."),
        ("South Korea has a king.", "North Korea", "North Korea has a chairman."),
        ("Mary Shelley was a poet.", "Percy Shelley", "Percy Shelley was a poet."),
        ("New York City has a harbour.", "Kansas City", "Kansas City has none."),
        ("Bananas are berries.", "Strawberry", "Strawberries are no berries."),
        ("The Moon has air.", "Orn (moon)", "It is the only moon of Vorn that has air."),
        ("The Sun is hot.", "Vorn", "Vorn is a sun with four planets."),
        ("The brewery of Holmstead has a tower.", "Varnby", "The brewery of Varnby has a tower."),
    ],
)
def test_a_sentence_about_another_thing_of_the_same_kind_is_not(
    claim: str, title: str, sentence: str
) -> None:
    assert not about(claim, (title, sentence))


@pytest.mark.parametrize(
    ("claim", "title", "sentence"),
    [
        ("The capital of Australia is Sydney.", "Canberra", "It is the capital of Australia."),
        ("Varnby is the largest town in Ostrea.", "Holm, Ostrea", "It is the biggest town."),
        ("Sydney is the capital of Australia.", "Canberra", "It is the capital of Australia."),
        ("Bram Stoker wrote Frankenstein.", "Mary Shelley", "Her novel Frankenstein is famous."),
        (
            "Kilimanjaro is the highest mountain.",
            "Everest",
            "Everest is the highest mountain on Earth.",
        ),
        ("Bergen is larger than Oslo.", "Oslo", "Oslo is the largest city."),
        ("Edison invented the telephone.", "Bell", "Bell invented the telephone."),
    ],
)
def test_what_is_true_of_one_thing_only_may_be_said_of_another(
    claim: str, title: str, sentence: str
) -> None:
    assert about(claim, (title, sentence))


def test_the_sentences_of_a_path_are_taken_together() -> None:
    claim = "The author of Frankenstein was born in London."
    novel = ("Frankenstein", "It is a novel by Mary Shelley.")
    author = ("Mary Shelley", "She was born in London.")
    assert about(claim, author, novel)
    assert not about(claim, author)


def test_a_thing_without_a_name_may_be_named_by_a_title_that_the_claim_contains() -> None:
    claim = "Each side has eleven players in rugby."
    assert about(claim, ("Rugby (sport)", "Teams have fifteen players."))
    assert not about(claim, ("Chess", "Each player has sixteen pieces."))


@pytest.mark.parametrize(
    "claim", ["There is a lake.", "It is old.", "People breathe air.", "Old and grey.", "?"]
)
def test_a_claim_without_a_subject_that_is_recognised_lets_every_sentence_pass(claim: str) -> None:
    assert about(claim, ("Varnby", "It has a harbour."))
    assert subject_of(PARSER.parse(claim)).text == ""


def test_the_words_of_the_subject_are_known() -> None:
    claim = "The old brewery of Holmstead employs ninety people."
    assert subject_of(PARSER.parse(claim)).text == "The old brewery of Holmstead"


@pytest.mark.parametrize(
    ("claim", "title", "own"),
    [
        ("Ida Holm kept bees.", "Ida Holm", True),
        ("Holm kept bees.", "Ida Holm", True),
        ("Lake Varn is deep.", "Varn (lake)", True),
        ("Lake Varn is deep.", "Lake", False),
        ("Ida Holm kept bees.", "Ida", False),
        ("Ida Holm kept bees.", "Bees", False),
        ("Bananas are berries.", "Banana", True),
        ("Bananas are berries.", "Banana republic", False),
        ("Varnby's harbour is old.", "Varnby", True),
        ("Everyone likes bees.", "Bees", False),
    ],
)
def test_a_document_is_about_the_subject_if_its_title_is_a_name_of_it(
    claim: str, title: str, own: bool
) -> None:
    assert subject_of(PARSER.parse(claim)).is_titled(title) == own
