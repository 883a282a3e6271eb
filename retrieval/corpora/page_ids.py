"""Two pages of one id cannot both be found."""

from __future__ import annotations

from retrieval.errors import BadSource


class PageIds:
    """Remembers where each id was first seen."""

    def __init__(self) -> None:
        """Begin with none."""
        self._seen: dict[str, str] = {}

    def add(self, page_id: str, where: str) -> None:
        """Remember an id.

        Raises:
            BadSource: it was seen before, is empty, or cannot be written.
        """
        if not page_id:
            raise BadSource("source_incomplete", f"{where}: the id is empty.", "Give it one.")
        if any("\ud800" <= c <= "\udfff" for c in page_id):
            raise BadSource(
                "source_incomplete", f"{where}: the id holds half a character.", "Mend that line."
            )
        if page_id in self._seen:
            raise BadSource(
                "source_duplicate",
                f"{where}: the id {page_id!r} stands in {self._seen[page_id]} already.",
                "Remove or rename one of the two.",
            )
        self._seen[page_id] = where
