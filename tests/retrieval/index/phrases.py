"""One search by phrases."""

from __future__ import annotations

from retrieval.index.interface import DocumentStore
from retrieval.types import PhraseMatch, PhraseSearch


def holding(store: DocumentStore, *phrases: str, limit: int = 10) -> list[PhraseMatch]:
    """Return the documents that hold any of the phrases."""
    (matches,) = store.phrase_matches([PhraseSearch(phrases, limit)])
    return matches
