"""Cuts a text at the offsets of its evidence, so that a template can mark the pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from app.filters import Look


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a text.

    ``ranks``: the evidence that it is part of, best first; ``begins``: the evidence
    that begins with it.
    """

    text: str
    ranks: tuple[int, ...]
    begins: tuple[int, ...]
    look: Look | None


@dataclass(frozen=True, slots=True)
class Highlight:
    """Evidence number ``rank`` is ``text[start:end]``."""

    rank: int
    start: int
    end: int
    look: Look


def segments(text: str, highlights: Sequence[Highlight]) -> tuple[Segment, ...]:
    """Return the pieces of ``text`` in order; joined they are ``text`` again.

    Highlights may overlap: a piece that belongs to several has the look of the best
    ranked one. Offsets outside the text are moved to its ends; a highlight that is
    then empty is not shown.
    """
    inside = [
        Highlight(h.rank, max(0, h.start), min(len(text), h.end), h.look)
        for h in sorted(highlights, key=lambda h: h.rank)
        if max(0, h.start) < min(len(text), h.end)
    ]
    cuts = sorted({0, len(text), *(h.start for h in inside), *(h.end for h in inside)})
    pieces = []
    for start, end in pairwise(cuts):
        over = [h for h in inside if h.start <= start and end <= h.end]
        pieces.append(
            Segment(
                text=text[start:end],
                ranks=tuple(h.rank for h in over),
                begins=tuple(h.rank for h in over if h.start == start),
                look=over[0].look if over else None,
            )
        )
    return tuple(pieces)
