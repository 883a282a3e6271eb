"""What an id of a page has to be."""

from __future__ import annotations

from retrieval.corpora.corpus import BadPage


def bad_id(page_id: str, where: str) -> BadPage | None:
    """Return what is wrong with an id: it is empty, or cannot be written."""
    if not page_id:
        return BadPage(f"{where}: the id is empty.", "Give it one.")
    if any("\ud800" <= c <= "\udfff" for c in page_id):
        return BadPage(f"{where}: the id holds half a character.", "Correct that line.")
    return None
