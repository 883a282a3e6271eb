"""Short ways to ask a store in a test."""

from __future__ import annotations

from functools import cache

from retrieval.index.interface import DocumentStore
from retrieval.models.title_trie import TitleTokenizer
from retrieval.types import PhraseMatch, PhraseSearch

_tokenizer = cache(TitleTokenizer)


def holding(store: DocumentStore, *phrases: str, limit: int = 10) -> list[PhraseMatch]:
    """Return the documents that hold any of the phrases."""
    (matches,) = store.phrase_matches([PhraseSearch(phrases, limit)])
    return matches


def documents_titled(store: DocumentStore, title: str) -> list[str]:
    """Return the documents that the tree of titles leads to, by tokens that are its children."""
    trie = store.titles()
    node = trie.root()
    for token in _tokenizer().tokens([title])[0]:
        assert token in trie.children(node)
        step = trie.step(node, token)
        assert step is not None
        node = step
    return trie.ends(node)
