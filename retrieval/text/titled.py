"""What a document's title names."""

from __future__ import annotations

import re

from retrieval.text.stems import stem

_BRACKETS = re.compile(r"\s*\([^)]*+\)$")


def without_brackets(title: str) -> str:
    """Return a title without its words in brackets at the end, unless it has no others."""
    return _BRACKETS.sub("", title) or title


def titled(title: str) -> frozenset[str]:
    """Return the stems of the words of a title, without its words in brackets at the end."""
    return frozenset(map(stem, re.findall(r"\w+", without_brackets(title))))
