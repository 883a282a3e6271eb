"""What is read of a claim, what is refused, and what a notice says."""

from __future__ import annotations

import time
import unicodedata

import pytest

from retrieval.checkable.given_text import read_text
from retrieval.claim import CHECKED_ANYWAY, LONGEST, read_claim
from retrieval.corpora.cleaning import clean
from retrieval.errors import InvalidClaim, InvalidText
from retrieval.text.notices import is_name_alone, sentences_in
from retrieval.text.word_forms import MOST_MARKS, nfc, nfkd
from tests.support.cases import cases

MILL = "The mill of Birchwick burned down in 1931."


@cases("claims", "text", "refused")
def test_what_cannot_be_checked_is_refused_with_a_hint(text: str, refused: str) -> None:
    with pytest.raises(InvalidClaim) as caught:
        read_claim(text)
    assert caught.value.code == refused
    assert caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("value", [None, 7, ["a claim"], b"a claim"])
def test_what_is_not_text_is_refused(value: object) -> None:
    with pytest.raises(InvalidClaim, match="not text"):
        read_claim(value)


def test_exactly_the_longest_claim_is_read() -> None:
    assert len(read_claim("a" * LONGEST).text) == LONGEST


@cases("claims", "written", "read")
def test_a_claim_is_read_as_it_was_meant(written: str, read: str) -> None:
    assert read_claim(written).text == read


@cases("claims", "around")
def test_what_is_around_a_claim_is_removed_and_kept_as_written(around: str) -> None:
    read = read_claim(around)
    assert read.text == MILL
    assert read.original == read.rewritten == around


def test_a_claim_that_needs_no_change_has_no_other_form() -> None:
    read = read_claim(f"  {MILL} ")
    assert (read.text, read.rewritten) == (MILL, None)


def test_a_question_for_the_truth_of_a_statement_is_named_as_such() -> None:
    read = read_claim("Is it true that the mill burned down?")
    assert read.notices == ("Checked as the statement “The mill burned down.”.",)


@cases("claims", "claim")
def test_what_only_looks_like_something_else_is_a_claim_without_notice(claim: str) -> None:
    read = read_claim(claim)
    assert (read.text, read.notices) == (claim, ())


@cases("claims", "claim", "notice")
def test_a_notice_names_what_makes_an_answer_worse(claim: str, notice: str) -> None:
    assert any(notice in one for one in read_claim(claim, anyway=True).notices)


@cases("claims", "text", "refused_unless_anyway")
def test_what_has_no_verdict_is_checked_only_if_that_is_asked_for(
    text: str, refused_unless_anyway: str
) -> None:
    with pytest.raises(InvalidClaim, match="as it is, use `esoteric check --anyway`") as refused:
        read_claim(text)
    assert refused.value.code == refused_unless_anyway
    assert refused_unless_anyway in CHECKED_ANYWAY
    assert read_claim(text, anyway=True).text


@cases("claims", "not_refused")
def test_a_question_for_yes_or_no_a_title_and_a_foreign_name_are_read(not_refused: str) -> None:
    assert read_claim(not_refused).text


def test_texts_without_end_are_read_once_from_begin_to_end() -> None:
    for text in ("a" * 1_000_000, "7" * 1_000_000, "#a " * 300_000):
        with pytest.raises(InvalidClaim) as refused:
            read_claim(text)
        assert refused.value.code == "claim_too_long"
        assert sentences_in(text) == [text.strip()]


@cases("claims", "words", "name_alone")
def test_a_name_alone_is_known_by_its_capitals(words: str, name_alone: bool) -> None:
    assert is_name_alone(words) == name_alone


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
