"""Distances that sentences state: "80 kilometres (50 mi) south of Orn".

A verifier that is asked how far a place is from another takes any distance of the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval.quantities.filled_halves import Filling, fillings
from retrieval.quantities.relation import Ruling
from retrieval.types import REFUTES, SUPPORTS

if TYPE_CHECKING:
    from retrieval.text.english import EnglishParser

_CLAIM = re.compile(
    r"(?P<place>.+?) (?:is|was|lies|stands) (?:much )?(?P<word>closer|nearer|farther|further)"
    r" (?:to|from) (?P<first>.+?) than (?:to|from|it is to) (?P<second>.+?)[.!]?"
)
_DIRECTION = "(?:north|south)?-?(?:east|west)?"
_AFTER = re.compile(
    rf"(?: \([^)]*+\))? (?:to the )?(?=[nsew]){_DIRECTION} of (?:the )?"
    r"(?P<place>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*)"  # noqa: RUF001 - curly quotes are meant
)
_BRACKETS = re.compile(r"\s*\([^)]*+\)$")
_ARTICLE = re.compile(r"^the ", re.IGNORECASE)
_APART = 0.02  # share by which two distances must differ


@dataclass(frozen=True, slots=True)
class Nearer:
    """The claim that a place is nearer to the ``first`` of two than to the ``second``, or not."""

    place: str
    first: str
    second: str
    is_nearer: bool

    def ruling(
        self, texts: Sequence[tuple[str, str]], parser: EnglishParser
    ) -> tuple[Ruling, int, int] | None:
        """Return what (title, sentence) texts say, and the numbers of two that do; else None."""
        ends = [{_name(self.place), _name(one)} for one in (self.first, self.second)]
        found: list[tuple[Filling, int] | None] = [None, None]
        for number, (title, text) in enumerate(texts):
            if " of " not in text:
                continue
            for place, distance in _stated(text, parser):
                for side, both in enumerate(ends):
                    if found[side] is None and {_name(title), _name(place)} == both:
                        found[side] = distance, number
        one, other = found
        if one is None or other is None:
            return None
        near, far = one[0].quantity.core.high, other[0].quantity.core.low
        if abs(near - far) < _APART * max(near, far):
            return None
        label = SUPPORTS if (near < far) == self.is_nearer else REFUTES
        is_near = "less" if near < far else "more"
        because = (
            f"{one[0].words} to {self.first} is {is_near} than {other[0].words} to {self.second}."
        )
        return Ruling(label, because), one[1], other[1]


def nearer(claim: str) -> Nearer | None:
    """Return what "Orn is closer to Selm than to Arl." claims; ``None`` of any other claim."""
    found = _CLAIM.fullmatch(claim.strip())
    if found is None:
        return None
    is_nearer = found["word"] in ("closer", "nearer")
    return Nearer(found["place"], found["first"], found["second"], is_nearer)


def _stated(text: str, parser: EnglishParser) -> Iterator[tuple[str, Filling]]:
    """Yield the places that a text gives the distance of, with the distance."""
    for filling in fillings(parser.parse(text)):
        after = _AFTER.match(text, filling.quantity.end)
        if filling.quantity.dimension == "length" and after is not None:
            yield after["place"], filling


def _name(place: str) -> str:
    return _ARTICLE.sub("", _BRACKETS.sub("", place)).casefold()
