"""The stem of a word: its first five letters, by which words of one family are compared."""

from __future__ import annotations

import re

from retrieval.normal_form import nfkd, without_marks
from retrieval.text.function_words import FUNCTION_WORDS

# "novelist" is covered by "novels", "Cubist" by "Cubism"; "Australians" are of Australia.
_LETTERS = 5
_WORD = re.compile(r"\w+")


def stem(word: str) -> str:
    """Return the first five letters of a word, without case and accents."""
    return folded(word)[:_LETTERS]


def stems_in(text: str) -> set[str]:
    """Return the stems of the words of a text that have a meaning of their own."""
    words = _WORD.findall(folded(text))
    return {word[:_LETTERS] for word in words if word not in FUNCTION_WORDS}


def folded(text: str) -> str:
    """Return a text without case and accents."""
    return without_marks(nfkd(text).casefold())
