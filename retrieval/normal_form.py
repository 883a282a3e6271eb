"""The normal forms of Unicode, in a time that grows only with the length of the text.

A normal form sorts the marks that follow a letter, and a run of many marks takes the square of its
length. Nobody writes so many: the "Stream-Safe Text Format" of Unicode (UAX #15, section 13) has at
most 30 in a row, and what is beyond is left out here.
"""

from __future__ import annotations

import re
import unicodedata

MOST_MARKS = 30  # in a row
# Whatever may be a mark: two letters become marks in NFKD, all others are no letters or digits.
_MAY_BE_MARKS = re.compile(rf"[\W\uff9e\uff9f]{{{MOST_MARKS + 1},}}")


def nfc(text: str) -> str:
    """Return the text in NFC, without the marks that are too many.

    Characters that are to be left out must be gone before: marks around them would come together.
    """
    return unicodedata.normalize("NFC", _with_few_marks(text))


def nfkd(text: str) -> str:
    """Return the text in NFKD, without the marks that are too many."""
    return unicodedata.normalize("NFKD", _with_few_marks(text))


def without_marks(decomposed: str) -> str:
    """Return a text that is in NFKD without its marks, such as accents."""
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _with_few_marks(text: str) -> str:
    if text.isascii():
        return text
    return _MAY_BE_MARKS.sub(lambda found: "".join(_few(found[0])), text)


def _few(run: str) -> list[str]:
    kept: list[str] = []
    marks = 0
    for character in run:
        marks = marks + 1 if _is_mark(character) else 0
        if marks <= MOST_MARKS:
            kept.append(character)
    return kept


def _is_mark(character: str) -> bool:
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0
