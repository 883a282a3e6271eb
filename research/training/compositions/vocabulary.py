"""The closed word lists of ``vocabulary.yaml``: words that exclude each other, names of roles."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import yaml

Groups: TypeAlias = tuple[tuple[str, ...], ...]


def words(text: str) -> frozenset[str]:
    """Return a list of words as a set."""
    return frozenset(text.split())


_LISTS: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))


def _groups(name: str) -> Groups:
    return tuple(map(tuple, _LISTS[name]))


NATIONS, OCCUPATIONS, WORKS, REALMS = map(_groups, ("nations", "occupations", "works", "realms"))
WORK_NOUNS = frozenset(noun for group in WORKS for noun in group)
KINDS = (OCCUPATIONS, WORKS, _groups("organisations"), _groups("sites"))
_TRADE = {noun: group for kind in KINDS for group in kind for noun in group}


def trade(phrase: str) -> tuple[str, ...] | None:
    """Return the group that the last word of a phrase is in, such as "player" of "chess player"."""
    return _TRADE.get(phrase.split()[-1].lower())


DOER: dict[str, str] = _LISTS["doer"]
MAKER: dict[str, str] = _LISTS["maker"]
SPOUSES: dict[str, str] = _LISTS["spouses"]
PAST: dict[str, str] = _LISTS["past"]
DOERS = frozenset({*DOER.values(), *MAKER.values()})
PARENT = "parent"  # of a child; father or mother
CHILDREN, PLACED, PLACES, DONE_BY_ONE, STATES = (
    words(_LISTS[name]) for name in ("children", "placed", "places", "done_by_one", "states")
)
OF_ONE = frozenset(_groups("of_one"))
UNSURE, HEARSAY, MADE, UNTELLING, GENERIC = (
    words(_LISTS[name]) for name in ("unsure", "hearsay", "made", "untelling", "generic")
)
IMPLIED = {role: words(text) for role, text in _LISTS["implied"].items()}
