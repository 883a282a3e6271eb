"""Looks up names in a list of titles: exact ones, and those with words in parentheses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from retrieval.index.formats.title_key import split_disambiguation, title_key
from retrieval.index.interface import MOST_OF_A_NAME
from retrieval.types import TitleMatch


class NamedTitles:
    """Documents by the keys of their titles, with and without words in parentheses."""

    def __init__(self, titled: Iterable[tuple[str, str]]) -> None:
        """Read the ids and titles of documents; of several titles of one the first is shown."""
        self._exact: dict[str, dict[str, str]] = {}
        self._plain: dict[str, dict[str, tuple[str, str]]] = {}
        for document_id, title in titled:
            self._exact.setdefault(title_key(title), {}).setdefault(document_id, title)
            shorter, words = split_disambiguation(title)
            if words is not None:
                named = self._plain.setdefault(title_key(shorter), {})
                named.setdefault(document_id, (title, words))

    def matches(self, names: Sequence[str]) -> list[TitleMatch]:
        """Return the result of ``DocumentStore.title_matches``."""
        return [
            match
            for name in dict.fromkeys(names)
            for match in list(self._of(name))[:MOST_OF_A_NAME]
        ]

    def _of(self, name: str) -> Iterator[TitleMatch]:
        key = title_key(name)
        if not key:  # an empty name matches nothing
            return
        exact = self._exact.get(key, {})
        for document_id, title in sorted(exact.items()):
            yield TitleMatch(document_id, title, name, None)
        for document_id, (title, words) in sorted(self._plain.get(key, {}).items()):
            if document_id not in exact:
                yield TitleMatch(document_id, title, name, words)
