"""Removes from the hints on pages what their visitor cannot follow."""

from __future__ import annotations

import re

from app.people.asker import asker
from retrieval.claim import ANYWAY

_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z`“])")
_FOR_OPERATORS = re.compile(
    r"`|\bESOTERIC_[A-Z]|\besoteric [a-z]+ |\.log\b|/readyz|python -m|\brequirements\S*\.txt|"
    r"\bMISTRAL_API_KEY|^Run: "
)
ASK = "The operator of this service can put it right."


def shown_hint(hint: str) -> str:
    """Return a hint as who sees this page can follow it.

    Only operators see commands and settings. Others read what comes first without them, or whom to
    ask. That a claim can be checked anyway is said by a button.
    """
    hint = hint.replace(ANYWAY, "")
    if asker().role == "operator" or not _FOR_OPERATORS.search(hint):
        return hint
    first, *others = map(_without_commands, _SENTENCES.split(hint))
    return " ".join(filter(None, (first, *others, "" if first else ASK)))


def _without_commands(sentence: str) -> str:
    """Return what a sentence advises without a command, as a sentence; else ""."""
    if not _FOR_OPERATORS.search(sentence):
        return sentence
    kept = "; ".join(filter(None, map(_first_advice, sentence.rstrip(".").split("; "))))
    return f"{kept[0].upper()}{kept[1:]}." if kept else ""


def _first_advice(clause: str) -> str:
    """Return the clause, or what it advises first, if that needs no command; else ""."""
    first = clause if not _FOR_OPERATORS.search(clause) else clause.partition(", or ")[0]
    return "" if _FOR_OPERATORS.search(first) else first
