"""What is read of a claim, what is refused, and the statements that a claim makes."""

from __future__ import annotations

import time
import unicodedata

import pytest

from retrieval.checkable.given_text import read_text
from retrieval.claim import LONGEST, read_claim
from retrieval.corpora.cleaning import clean
from retrieval.errors import InvalidClaim, InvalidText
from retrieval.pipeline.claim_parser import ClaimParser, ParsedClaim
from retrieval.text.english import EnglishParser
from retrieval.text.notices import SEVERAL, sentences_in
from retrieval.text.statement_cutter import MOST_STATEMENTS, statements
from retrieval.text.subject import subject_of
from retrieval.text.word_forms import MOST_MARKS, is_near, nfc, nfkd
from tests.support.cases import cases

MILL = "The mill of Birchwick burned down in 1931."


@pytest.mark.parametrize("value", [None, 7, ["a claim"], b"a claim"])
def test_what_is_not_text_is_refused(value: object) -> None:
    with pytest.raises(InvalidClaim, match="not text"):
        read_claim(value)


def test_exactly_the_longest_claim_is_read() -> None:
    assert len(read_claim("a" * LONGEST).text) == LONGEST


def test_a_claim_that_needs_no_change_has_no_other_form() -> None:
    read = read_claim(f"  {MILL} ")
    assert (read.text, read.rewritten) == (MILL, None)


def test_a_question_for_the_truth_of_a_statement_is_named_as_such() -> None:
    read = read_claim("Is it true that the mill burned down?")
    assert read.notices == ("Checked as the statement “The mill burned down.”.",)


def test_texts_without_end_are_read_once_from_begin_to_end() -> None:
    for text in ("a" * 1_000_000, "7" * 1_000_000, "#a " * 300_000):
        with pytest.raises(InvalidClaim) as refused:
            read_claim(text)
        assert refused.value.code == "claim_too_long"
        assert sentences_in(text) == [text.strip()]


# --- normal forms of Unicode: what is written stays, and no text takes long

_ACUTE, _CEDILLA = "\N{COMBINING ACUTE ACCENT}", "\N{COMBINING CEDILLA}"
_KATAKANA_MARKS = "\N{HALFWIDTH KATAKANA VOICED SOUND MARK}" + _ACUTE
_TIBETAN_MARKS = "\N{TIBETAN VOWEL SIGN II}" + _ACUTE  # the first becomes two


def test_what_somebody_may_write_is_normalized_as_unicode_says() -> None:
    for text in ("Ko\u0308ln", "ﬁn", "ガ", "Việt Nam" + _ACUTE * MOST_MARKS, "—" * 99, "🏳️‍🌈" * 40):
        assert nfc(text) == unicodedata.normalize("NFC", text)
        assert nfkd(text) == unicodedata.normalize("NFKD", text)


def test_marks_that_nobody_writes_are_left_out() -> None:
    assert nfkd("a" + _ACUTE * 90 + "b" + _ACUTE) == "a" + _ACUTE * MOST_MARKS + "b" + _ACUTE


@pytest.mark.parametrize("marks", [_ACUTE + _CEDILLA, _KATAKANA_MARKS, _TIBETAN_MARKS])
def test_a_text_of_marks_takes_no_longer_than_any_other(marks: str) -> None:
    text = "a" + marks * 200_000
    began = time.monotonic()
    assert len(nfc(text)) < 100
    assert len(nfkd(text)) < 100
    clean("\N{ZERO WIDTH SPACE}".join(text))
    with pytest.raises(InvalidClaim) as claim:
        read_claim(text)
    assert claim.value.code == "claim_too_long"
    with pytest.raises(InvalidText) as given:
        read_text(text)
    assert given.value.code == "text_too_long"
    assert time.monotonic() - began < 20  # sorting them would take minutes


def parsed(parser: EnglishParser, claim: str) -> ParsedClaim:
    return ClaimParser(parser).parse(claim)


# --- the form of a claim


# --- questions


def test_a_notice_names_the_statement_that_is_checked_or_that_there_is_none(
    parser: EnglishParser,
) -> None:
    read = parsed(parser, "Fact check: was the mill built in nineteen thirty-one?").read
    assert read.text == "The mill was built in 1931."
    assert read.notices == ("Checked as the statement “The mill was built in 1931.”.",)
    read = parsed(parser, "Isn't Paris in France?").read
    assert read.text == "Isn't Paris in France?"
    assert "checked as it is" in read.notices[0]


def test_a_word_is_near_others_with_its_first_letter() -> None:
    assert is_near("mill", "mall", 1)
    assert not is_near("mill", "mill", 1)
    assert not is_near("mill", "hill", 1)
    assert not is_near("mill", "malls", 1)


# --- several statements


def cut(parser: EnglishParser, claim: str) -> list[str]:
    return [one.text for one in statements(parser.parse(claim), parser)]


def test_no_more_statements_than_allowed_the_last_has_the_rest(parser: EnglishParser) -> None:
    towns = ["Rome", "Paris", "Oslo", "Bern", "Riga", "Bonn", "Lima"]
    parts = cut(parser, "; ".join(f"{town} is old" for town in towns) + ".")
    assert len(parts) == MOST_STATEMENTS
    assert parts[-1] == "Bonn is old; Lima is old."


def test_offsets_lead_back_into_the_claim(parser: EnglishParser) -> None:
    claim = "The mill stands in Birchwick and was built in 1801."
    first, second = (one.statement for one in parsed(parser, claim).statements)
    assert (first.start, first.end) == (0, 28)
    assert claim[second.start : second.end] == "was built in 1801"
    # "The mill was built in 1801.": its own words have a place, its subject has none.
    start = second.text.index("1801")
    place = second.in_claim(start, start + 4)
    assert place is not None
    assert claim[slice(*place)] == "1801"
    assert second.in_claim(0, 8) is None
    assert second.in_claim(4, 12) is None


@pytest.mark.parametrize(
    ("claim", "number", "notices"),
    [
        ("Rome is very old. Paris is large.", 2, []),
        ("Mary married Percy. He wrote Ozymandias.", 1, [SEVERAL]),
        ("Varnby is the capital of Ostrea and Port Orm is its largest city.", 1, [SEVERAL]),
        ("Varnby is the capital of Ostrea and of Holm.", 1, []),
    ],
)
def test_a_notice_says_that_several_statements_are_checked_together(
    parser: EnglishParser, claim: str, number: int, notices: list[str]
) -> None:
    whole = parsed(parser, claim)
    assert (len(whole.statements), list(whole.read.notices)) == (number, notices)


@cases("statements", "claim", "last", "read_as")
def test_whose_something_is_gets_its_name_only_where_nothing_else_can_be_meant(
    parser: EnglishParser, claim: str, last: str, read_as: str
) -> None:
    found = parsed(parser, claim)
    if not last:
        assert len(found.statements) == 1
        assert found.read.notices == (SEVERAL,)
        return
    first, second = (one.statement for one in found.statements)
    assert claim[first.start : first.end] == first.text.removesuffix(".")
    assert second.text == last
    # The words that the claim does not have there are in no place of it.
    at = second.text.index(read_as)
    assert second.in_claim(at, at + len(read_as)) is None
    assert any(read_as in notice for notice in found.read.notices)


# --- what a claim is about


def is_about(parser: EnglishParser, claim: str, *texts: tuple[str, str]) -> bool:
    """Return whether the (title, sentence) pairs are about the subject of the claim."""
    found: bool = subject_of(parser.parse(claim)).is_in(texts)
    return found


def test_the_sentences_of_a_path_are_taken_together(parser: EnglishParser) -> None:
    claim = "The author of Frankenstein was born in London."
    novel = ("Frankenstein", "It is a novel by Mary Shelley.")
    author = ("Mary Shelley", "She was born in London.")
    assert is_about(parser, claim, author, novel)
    assert not is_about(parser, claim, author)


def test_a_thing_without_a_name_may_be_named_by_a_title_that_the_claim_contains(
    parser: EnglishParser,
) -> None:
    claim = "Each side has eleven players in rugby."
    assert is_about(parser, claim, ("Rugby (sport)", "Teams have fifteen players."))
    assert not is_about(parser, claim, ("Chess", "Each player has sixteen pieces."))


@pytest.mark.parametrize(
    "claim", ["There is a lake.", "It is old.", "People breathe air.", "Old and grey.", "?"]
)
def test_a_claim_without_a_subject_that_is_recognised_lets_every_sentence_pass(
    parser: EnglishParser, claim: str
) -> None:
    assert is_about(parser, claim, ("Varnby", "It has a harbour."))
    assert subject_of(parser.parse(claim)).text == ""


def test_the_words_of_the_subject_are_known(parser: EnglishParser) -> None:
    claim = "The old brewery of Holmstead employs ninety people."
    assert subject_of(parser.parse(claim)).text == "The old brewery of Holmstead"
