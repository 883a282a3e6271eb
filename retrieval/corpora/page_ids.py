"""Checks the ids of pages."""

from __future__ import annotations

from retrieval.corpora.corpus import BadPage


def bad_id(page_id: str, where: str) -> BadPage | None:
    """Return the error of an id that is empty or cannot be written as UTF-8."""
    if not page_id:
        return BadPage(f"{where}: the id is empty.", "Give it one.")
    if any("\ud800" <= c <= "\udfff" for c in page_id):
        return BadPage(f"{where}: the id contains half a character.", "Correct that line.")
    return None
