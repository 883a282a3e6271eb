"""A small corpus with everything that is awkward about titles and texts, and short ways to ask."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from retrieval.corpora.corpus import Corpus, Page
from retrieval.index.interface import DocumentStore
from retrieval.models.title_trie import TitleTokenizer
from retrieval.types import PhraseMatch, PhraseSearch
from settings import CHECKOUT

_LINES = (CHECKOUT / "tests" / "cases" / "pages.jsonl").read_text(encoding="utf-8").splitlines()
PAGES = tuple(Page(**json.loads(line)) for line in _LINES)


@dataclass
class ListCorpus:
    """Pages from memory."""

    pages: tuple[Page, ...] = PAGES
    name: str = "list"
    source: str = "list"
    content: str = field(default="1")
    date: str = ""
    language: str = ""

    def fingerprint(self) -> str:
        """A digest by hand."""
        return self.content

    def size(self) -> int:
        """How many."""
        return len(self.pages)

    def chunks(self) -> Iterator[tuple[tuple[Page, ...], int]]:
        """In order, a few hundred at a time."""
        for start in range(0, len(self.pages), 256):
            chunk = self.pages[start : start + 256]
            yield chunk, len(chunk)


def many() -> ListCorpus:
    """Enough pages for several parts of a build."""
    pages = tuple(
        Page(f"p{n}", f"Page {n}", None, f"Page {n} is a page. It is number {n} of many.")
        for n in range(1400)
    )
    return ListCorpus(pages, name="many", source="many")


_: Corpus = ListCorpus()
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
