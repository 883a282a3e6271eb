"""The passages of whole articles, and which of them are worth reading for a claim.

An article has 100 to 500 sentences. Its paragraphs are put together into stretches of one section,
which costs nothing; only stretches that words of the claim speak for are split into sentences.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from retrieval.corpora.corpus import Page, Passage
from retrieval.corpora.passages import LIMIT, Block, passages
from retrieval.corpora.wiki.article import with_links
from retrieval.index.formats.records import document_of, records_of
from retrieval.sources.interface import Article
from retrieval.text.sentence_splitter import shared_splitter
from retrieval.text.word_forms import folded, stem, stems_in
from retrieval.types import Document

_WORD = re.compile(r"\w+")
_BEGINNING = 5 * LIMIT  # characters in which an infobox stands
_SATURATION, _LENGTH = 1.2, 0.75  # BM25's k1 and b


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Consecutive paragraphs of an article, in one section; ``place``: of its first character."""

    article: Article
    place: int
    blocks: tuple[Block, ...]

    @property
    def begins(self) -> bool:
        """Whether it is the beginning of the article, or its infobox."""
        first = self.blocks[0]
        in_box = first.kind == "row" and not first.section and self.place < _BEGINNING
        return self.place == 0 or in_box

    @property
    def text(self) -> str:
        """What words are looked for in."""
        return " ".join((self.article.title, *(block.text for block in self.blocks)))


def stretches(article: Article) -> Iterator[Stretch]:
    """Yield an article in stretches of at most ``LIMIT`` characters, or of one longer paragraph."""
    held: list[Block] = []
    place = size = 0
    for block in article.blocks:
        ends = held and (block.section != held[0].section or block.kind != held[-1].kind == "row")
        if held and (ends or size + len(block.text) > LIMIT):
            yield Stretch(article, place, tuple(held))
            place, held, size = place + size, [], 0
        held.append(block)
        size += len(block.text) + 1
    if held:
        yield Stretch(article, place, tuple(held))


def best(found: Sequence[Stretch], claim: str, most: int) -> list[Stretch]:
    """Return the stretches that share most with a claim, best first (BM25 over all of them)."""
    wanted = stems_in(claim)
    counts = [_count(one.text, wanted) for one in found]
    lengths = [max(1, sum(len(block.text) for block in one.blocks)) for one in found]
    usual = sum(lengths) / max(1, len(lengths))
    holding = Counter(word for count in counts for word in count)
    weight = {
        word: math.log(1 + (len(found) - held + 0.5) / (held + 0.5))
        for word, held in holding.items()
    }
    scores = [
        sum(
            weight[word] * times / (times + _SATURATION * (1 - _LENGTH + _LENGTH * length / usual))
            for word, times in count.items()
        )
        for count, length in zip(counts, lengths, strict=True)
    ]
    order = sorted(range(len(found)), key=lambda number: (-scores[number], number))
    return [found[number] for number in order[:most] if scores[number] > 0]


def _count(text: str, wanted: set[str]) -> Counter[str]:
    words = map(stem, _WORD.findall(text))
    return Counter(word for word in words if word in wanted)


def documents_of(some: Iterable[Stretch]) -> list[Document]:
    """Return the passages of stretches with their sentences: most have one, long ones several."""
    documents = []
    for stretch in some:
        article = stretch.article
        place = stretch.place
        whole = f"{article.id}@{article.revision}" if article.revision else article.id
        for page in passages(whole, article.title, article.url, stretch.blocks):
            placed = with_links(_placed(page, whole, place, stretch), article.links)
            (record,) = records_of([placed], shared_splitter())
            document = replace(document_of(record), date=article.date or None)
            documents.append(document)
            place += len(document.text) + 1
    return documents


def _placed(page: Page, whole: str, place: int, stretch: Stretch) -> Page:
    """Return a page with an id that the place of its text makes, so that it is always the same."""
    section = stretch.blocks[0].section
    if page.passage is not None:
        section = page.passage.section
    passage = Passage(whole, 1 if place == 0 else 2, section)
    return replace(page, id=f"{whole}#{place}", passage=passage, source=stretch.article.credit)


def has_phrase(text: str, phrase: str) -> bool:
    """Return whether a text has a phrase; both as ``plain`` returns them."""
    return bool(phrase) and f" {phrase} " in f" {text} "


def plain(text: str) -> str:
    """Return the words of a text without case, accents and what stands between them."""
    return " ".join(_WORD.findall(folded(text)))
