"""A small corpus with everything that is awkward about titles and texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from retrieval.corpora.corpus import Corpus, Page

PAGES = (
    Page("Savage", "Savage", "https://example.org/savage", "A savage is a word. It is old."),
    Page("Savage_band", "Savage (band)", None, "Savage were a band from a small town."),
    Page("Savage_film", "Savage (2012 film)", None, "Savage is a film about a band. It is long."),
    Page("The_Harbour", "The Harbour", None, "The Harbour lies at the sea. Ships come. Ships go."),
    Page("Harbour_light", "Harbour light", None, "A harbour light guides ships to the harbour."),
    Page("Zoe", "Zoë", None, "Zoë is a given name. Café owners like it."),
    Page("Brackets", "(What) a title", None, "Titles may hold brackets."),
    Page("Only", "(Everything)", None, "A title may be nothing but brackets."),
    Page("Empty", "Empty", None, ""),
    Page("Twin_1", "Twin", None, "The first of two pages with one title."),
    Page("Twin_2", "Twin", None, "The second of two pages with one title."),
    Page("Quote", 'He said "no"', None, 'He said "no" (twice), didn\'t he? He did: yes.'),
)


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
