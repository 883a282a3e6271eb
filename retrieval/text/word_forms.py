"""Words as they are compared: without case and endings, without those that mean nothing alone."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache
from pathlib import Path
from string import ascii_lowercase
from typing import Any

# A normal form of Unicode sorts the marks that follow a letter, and a run of many marks takes the
# square of its length. Nobody writes so many: the "Stream-Safe Text Format" of Unicode (UAX #15,
# section 13) has at most 30 in a row, and what is beyond is left out here.
MOST_MARKS = 30
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
        is_mark = unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0
        marks = marks + 1 if is_mark else 0
        if marks <= MOST_MARKS:
            kept.append(character)
    return kept


_WORD = re.compile(r"\w+")
# "novelist" is covered by "novels", "Cubist" by "Cubism"; "Australians" are of Australia.
_LETTERS = 5


@cache
def _read() -> dict[str, Any]:
    path = Path(__file__).with_name("lexicon.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def lexicon(name: str) -> frozenset[str]:
    """Return a list of words of ``lexicon.toml``."""
    return word_set(_read()[name])


def meanings(name: str) -> dict[str, str]:
    """Return a table of ``lexicon.toml``: what some words mean."""
    return dict(_read()[name])


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that is written as a text."""
    return frozenset(text.split())


FUNCTION_WORDS = lexicon("function_words")
"""Words without a meaning of their own."""


def stem(word: str) -> str:
    """Return the first five letters of a word, without case and accents."""
    return folded(word)[:_LETTERS]


def stems_in(text: str) -> set[str]:
    """Return the stems of the words of a text that have a meaning of their own."""
    found = _WORD.findall(folded(text))
    return {word[:_LETTERS] for word in found if word not in FUNCTION_WORDS}


def folded(text: str) -> str:
    """Return a text without case and accents."""
    return without_marks(nfkd(text).casefold())


def edit_distance(one: str, other: str) -> int:
    """Return the number of letters to insert, remove, replace or swap with the next one.

    Damerau-Levenshtein; no letter is edited twice.
    """
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, meant in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != meant))
            if i > 1 and j > 1 and (letter, one[i - 2]) == (other[j - 2], meant):
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def one_edit_away(word: str) -> list[str]:
    """Return what one edit makes of a word in small letters a to z; the first letter stays."""
    ends = [(word[:at], word[at:]) for at in range(1, len(word) + 1)]
    made = [
        *(begin + letter + end for begin, end in ends for letter in ascii_lowercase),
        *(begin + letter + end[1:] for begin, end in ends if end for letter in ascii_lowercase),
        *(begin + end[1:] for begin, end in ends if end),
        *(begin + end[1] + end[0] + end[2:] for begin, end in ends if end[1:]),
    ]
    return [one for one in dict.fromkeys(made) if one != word]


def is_near(word: str, other: str, edits: int) -> bool:
    """Return whether at most so many edits lead from one to the other, with the same first letter.

    A word is not near itself.
    """
    if word[:1] != other[:1] or word == other or abs(len(word) - len(other)) > edits:
        return False
    return edit_distance(word, other) <= edits
