from __future__ import annotations

from pathlib import Path

import pytest

from research.training.lexicon import Lexicon, Word, number_of
from retrieval.errors import BadSource
from tests.research.training.wordnet_files import write_wordnet


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> Lexicon:
    return Lexicon(write_wordnet(tmp_path_factory.mktemp("wordnet")))


def word(text: str, part: str = "", kind: str = "") -> Word:
    return Word(text, text.lower(), part, kind)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("film", "movie"),
        ("direct", "director"),  # one is derived from the other
        ("Norway", "Norwegian"),
        ("Norse", "Norwegian"),
        ("start", "begin"),
        ("near", "close"),  # an adjective that only stands before its noun
        ("km", "kilometre"),
        ("percent", "%"),
        ("two", "2"),
        ("fourth", "4th"),
        ("1,200", "1200"),
        ("twenty-one", "21"),
        ("Lighthouse", "lighthouse"),
    ],
)
def test_words_that_mean_the_same(claim: str, evidence: str, lexicon: Lexicon) -> None:
    assert lexicon.relation(word(claim), word(evidence)) == "same"
    assert lexicon.relation(word(evidence), word(claim)) == "same"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("person", "painter"),  # two steps up
        ("artist", "sculptor"),
        ("Norway", "Oslo"),
        ("Norwegian", "Oslo"),
        ("1930s", "1931"),
    ],
)
def test_a_wider_word_follows_and_a_narrower_one_does_not(
    claim: str, evidence: str, lexicon: Lexicon
) -> None:
    assert lexicon.relation(word(claim), word(evidence)) == "wider"
    assert lexicon.relation(word(evidence), word(claim)) is None


def test_antonyms_are_opposite_but_not_their_synonyms(lexicon: Lexicon) -> None:
    assert lexicon.relation(word("begin"), word("end")) == "opposite"
    assert lexicon.relation(word("start"), word("stop")) is None


@pytest.mark.parametrize(
    ("claim", "evidence", "kind"),
    [
        ("1931", "1932", ""),
        ("four", "5", ""),
        ("March", "April", ""),
        ("1930s", "1941", ""),
        ("painter", "sculptor", ""),  # both are artists
        ("Norwegian", "Danish", "NORP"),
        ("Norway", "Denmark", "GPE"),
        ("Ida Holm", "Per Lund", "PERSON"),
    ],
)
def test_another_of_the_same_kind(claim: str, evidence: str, kind: str, lexicon: Lexicon) -> None:
    assert lexicon.relation(word(claim, kind=kind), word(evidence, kind=kind)) == "other"


@pytest.mark.parametrize(
    ("claim", "evidence", "kind"),
    [
        ("1931", "5", ""),  # a year is no count
        ("four", "painter", ""),
        ("Oslo", "Norway", "GPE"),  # it may be there as well
        ("Ida Holm", "Per Holm", "PERSON"),  # may be of one family, or one person
        ("film", "painter", ""),
        ("boat", "lamp", ""),  # in no file
    ],
)
def test_words_of_which_nothing_is_known(
    claim: str, evidence: str, kind: str, lexicon: Lexicon
) -> None:
    assert lexicon.relation(word(claim, kind=kind), word(evidence, kind=kind)) is None


def test_a_verb_is_not_taken_for_a_noun_that_is_spelt_like_it(lexicon: Lexicon) -> None:
    assert lexicon.relation(word("set", "v"), word("put", "v")) == "same"
    assert lexicon.relation(word("set", "v"), word("circle", "n")) is None
    assert lexicon.relation(word("set", "n"), word("circle", "n")) == "same"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12.0),
        ("3.5", 3.5),
        ("1,200,000", 1_200_000.0),
        ("third", 3.0),
        ("22nd", 22.0),
        ("ninetieth", 90.0),
        ("Thirty-five", 35.0),
        ("million", 1_000_000.0),
        ("ten-year", None),
        ("once", None),
        ("1,20", None),
    ],
)
def test_numbers_in_digits_and_in_words(text: str, value: float | None) -> None:
    assert number_of(text) == value


def test_a_folder_without_wordnet_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"index\.noun cannot be read"):
        Lexicon(tmp_path)
