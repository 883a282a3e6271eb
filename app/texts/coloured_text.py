"""A text as pieces, each sentence of it with the verdict on what it says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from app.contexts import TextPiece
from app.filters import Badge
from worker.lists import SaidEntry, SourceText

# Of several claims of one sentence the first of these is shown: what is wrong matters most.
_ORDER = ("refuted", "pending", "unsettled", "supported", "stopped")


def coloured(source: SourceText, badge_of: Callable[[SaidEntry], Badge]) -> tuple[TextPiece, ...]:
    """Return the text in pieces, in its order; together they are the whole text."""
    pieces: list[TextPiece] = []
    done = 0
    for (start, end), group in groupby(source.said, key=lambda one: (one.start, one.end)):
        if start < done or end > len(source.text):
            continue  # sentences do not overlap; a row that says so is shown in the list alone
        if start > done:
            pieces.append(TextPiece(source.text[done:start], None, None))
        said = min(group, key=lambda one: _ORDER.index(badge_of(one).look))
        pieces.append(TextPiece(source.text[start:end], badge_of(said), said.claim_id))
        done = end
    if done < len(source.text):
        pieces.append(TextPiece(source.text[done:], None, None))
    return tuple(pieces)
