"""Normal forms of Unicode: what is written stays, and no text takes long."""

from __future__ import annotations

import time
import unicodedata

import pytest

from retrieval.checkable.given_text import read_text
from retrieval.claim import read_claim
from retrieval.corpora.cleaning import clean
from retrieval.errors import InvalidClaim, InvalidText
from retrieval.normal_form import MOST_MARKS, nfc, nfkd

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
