"""Cuts a claim where something of it was found, so that a template can mark the pieces."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from app.filters import Look


class Highlight(NamedTuple):
    """What was found as number ``number`` is ``text[start:end]``."""

    number: int
    start: int
    end: int
    look: Look


class Segment(NamedTuple):
    """A piece of a text. ``number``: of the first highlight that it is part of, 0 for none."""

    text: str
    number: int = 0
    look: Look | None = None


def segments(text: str, highlights: Sequence[Highlight]) -> tuple[Segment, ...]:
    """Return the pieces of ``text`` in order; joined they are ``text`` again.

    Highlights may overlap: a piece that belongs to several has the look of the first. Offsets
    outside the text are moved to its ends; a highlight that is then empty is not shown.
    """
    inside = [
        Highlight(h.number, max(0, h.start), min(len(text), h.end), h.look)
        for h in sorted(highlights)
        if max(0, h.start) < min(len(text), h.end)
    ]
    cuts = sorted({0, len(text), *(at for h in inside for at in (h.start, h.end))})
    pieces = []
    for start, end in pairwise(cuts):
        over = next((h for h in inside if h.start <= start and end <= h.end), None)
        piece = text[start:end]
        pieces.append(Segment(piece, over.number, over.look) if over else Segment(piece))
    return tuple(pieces)
