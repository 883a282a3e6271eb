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
from retrieval.text.subject import subject_of
from retrieval.text.word_forms import MOST_MARKS, nfc, nfkd
from tests.support.cases import cases

MILL = "The mill of Birchwick burned down in 1931."


def test_a_claim_is_a_text_of_a_bounded_length_that_keeps_its_form_if_it_needs_no_change() -> None:
    for value in (None, 7, ["a claim"], b"a claim"):
        with pytest.raises(InvalidClaim, match="not text"):
            read_claim(value)
    assert len(read_claim("a" * LONGEST).text) == LONGEST
    read = read_claim(f"  {MILL} ")
    assert (read.text, read.rewritten) == (MILL, None)
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


def test_what_somebody_may_write_is_normalized_as_unicode_says_without_endless_marks() -> None:
    for text in ("Ko\u0308ln", "ﬁn", "ガ", "Việt Nam" + _ACUTE * MOST_MARKS, "—" * 99, "🏳️‍🌈" * 40):
        assert nfc(text) == unicodedata.normalize("NFC", text)
        assert nfkd(text) == unicodedata.normalize("NFKD", text)
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


def test_a_notice_names_the_statement_that_is_checked_or_that_there_is_none(
    parser: EnglishParser,
) -> None:
    read = parsed(parser, "Fact check: was the mill built in nineteen thirty-one?").read
    assert read.text == "The mill was built in 1931."
    assert read.notices == ("Checked as the statement “The mill was built in 1931.”.",)
    read = parsed(parser, "Isn't Paris in France?").read
    assert read.text == "Isn't Paris in France?"
    assert "checked as it is" in read.notices[0]


# --- several statements


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


def test_the_sentences_of_a_path_are_about_the_subject_together(parser: EnglishParser) -> None:
    subject = subject_of(parser.parse("The author of Frankenstein was born in London."))
    novel = ("Frankenstein", "It is a novel by Mary Shelley.")
    author = ("Mary Shelley", "She was born in London.")
    assert subject.is_in([author, novel])
    assert not subject.is_in([author])
