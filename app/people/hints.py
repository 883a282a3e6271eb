"""Removes from hints what only an operator can do."""

from __future__ import annotations

import re

from app.people.asker import asker

_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z`“])")
_FOR_OPERATORS = re.compile(
    r"`|\bESOTERIC_[A-Z]|\besoteric [a-z]+ |\.log\b|/readyz|python -m|\brequirements\S*\.txt|"
    r"\bMISTRAL_API_KEY|^Run: "
)
ASK = "The operator of this service can put it right."


def shown_hint(hint: str) -> str:
    """Return a hint as who sends this request can follow it."""
    if asker().role == "operator" or not _FOR_OPERATORS.search(hint):
        return hint
    return " ".join((*filter(None, map(_without_commands, _SENTENCES.split(hint))), ASK))


def _without_commands(sentence: str) -> str:
    """Return the sentence, or what it advises first, if that needs no command; else ""."""
    if not _FOR_OPERATORS.search(sentence):
        return sentence
    first = sentence.partition(", or ")[0]
    return "" if _FOR_OPERATORS.search(first) else f"{first}."
