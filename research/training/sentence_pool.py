"""All sentences of a corpus with search, and the candidate sentences of claims, at low cost.

Running the whole pipeline for ten thousand training claims takes hours on two cores. The sentences
most similar to a claim, and those of pages whose title is in it, are nearly the same.
"""

from __future__ import annotations

import copy
import hashlib
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim, SentenceKey, page_key
from retrieval.corpora.corpus import Corpus, Page, readable_pages
from retrieval.index.formats.titles import split_disambiguation, title_key
from retrieval.models.encoders import TextEncoder
from retrieval.text.context import evidence_set_text, evidence_text
from retrieval.text.sentence_splitter import SentenceSplitter


def kept_array(
    folder: Path, name: str, of: Iterable[object], make: Callable[[], NDArray[Any]]
) -> NDArray[Any]:
    """Return the array that is kept in the folder; if it is missing, make it and write it at once.

    ``of``: what it is made from; the file is named by ``name`` and a digest of that.
    """
    digest = hashlib.sha256()
    for one in of:
        digest.update(repr(one).encode("utf-8", "surrogatepass"))
    path = folder / f"{name}-{digest.hexdigest()[:16]}.npy"
    if path.exists():
        kept: NDArray[Any] = np.load(path)
        return kept
    made = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("wb") as stream:
        np.save(stream, made)
    partial.replace(path)
    return made


@dataclass(frozen=True, slots=True)
class PoolSentence:
    """A sentence with its page's id and plain title."""

    page: str
    sentence_id: int
    title: str
    text: str

    @property
    def key(self) -> SentenceKey:
        """Its page and its number."""
        return self.page, self.sentence_id

    @property
    def pair(self) -> tuple[str, str]:
        """Its title and its text."""
        return self.title, self.text

    @property
    def written(self) -> str:
        """What a model reads: its text after its title."""
        return evidence_text(self.title, self.text)


class SentencePool:
    """The non-empty sentences of a corpus with their encodings."""

    def __init__(
        self,
        corpus: Corpus,
        encoder: TextEncoder,
        cache: Path,
        cited: Set[str] | None = None,
    ) -> None:
        """Read the pages and encode their sentences; ``cache`` stores the vectors between runs.

        ``cited``: of a corpus that is too large for this, only these pages are read, and
        ``OTHERS`` others.

        Raises:
            BadSource: the pages cannot be read.
        """
        self._number(
            [
                PoolSentence(page_key(page.id), number, page.title, sentence)
                for page, sentences in _split(_some(readable_pages(corpus), cited))
                for number, sentence in enumerate(sentences)
                if sentence
            ]
        )
        self._encoder = encoder
        texts = [sentence.written for sentence in self.sentences]
        self._vectors: NDArray[np.float32] = kept_array(
            cache, "sentences", [encoder.name, *texts], lambda: encoder.encode(texts)
        )

    def without(self, pages: Set[str]) -> SentencePool:
        """Return the pool without these pages."""
        kept = [i for i, sentence in enumerate(self.sentences) if sentence.page not in pages]
        rest = copy.copy(self)
        rest._number([self.sentences[i] for i in kept])
        rest._vectors = self._vectors[kept]
        return rest

    def nearest(self, claims: Sequence[str], count: int) -> NDArray[np.int64]:
        """Return the ``count`` sentences most similar to each claim, best first.

        Shape ``(len(claims), count)``, or fewer columns if the pool has fewer sentences; entries
        index ``sentences``.
        """
        count = min(count, len(self.sentences))
        found = np.empty((len(claims), count), dtype=np.int64)
        queries = self._encoder.encode(claims)
        for start in range(0, len(claims), 256):
            scores = queries[start : start + 256] @ self._vectors.T
            best = np.argpartition(-scores, count - 1, axis=1)[:, :count]
            order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
            found[start : start + 256] = np.take_along_axis(best, order, axis=1)
        return found

    def rows(self, keys: Iterable[SentenceKey]) -> list[int]:
        """Return the rows of those of the sentences that the pool has, in their order."""
        return [self.position[key] for key in keys if key in self.position]

    def gold(self, claim: AnnotatedClaim) -> list[int]:
        """Return the rows of the claim's gold sentences, in order."""
        return sorted(self.rows(claim.gold))

    def beside(self, claim: AnnotatedClaim) -> list[int]:
        """Return the rows of the other sentences of the claim's gold pages."""
        gold = set(self.rows(claim.gold))
        pages = (self.by_page.get(page, ()) for page in sorted(claim.pages))
        return [row for rows in pages for row in rows if row not in gold]

    def elsewhere(self, claim: AnnotatedClaim, rows: Iterable[int]) -> list[int]:
        """Return those of the rows whose sentences are on no gold page of the claim."""
        return [int(row) for row in rows if self.sentences[row].page not in claim.pages]

    def pairs(self, rows: Iterable[int]) -> list[tuple[str, str]]:
        """Return titles and texts."""
        return [self.sentences[row].pair for row in rows]

    def together(self, rows: Iterable[int]) -> str:
        """Return what a model reads: several sentences with their titles, as one text."""
        return evidence_set_text(self.pairs(rows))

    def page(self, page: str) -> list[PoolSentence]:
        """Return the sentences of a page."""
        return [self.sentences[row] for row in self.by_page[page]]

    def name(self, page: str) -> str:
        """Return the plain title of a page, without what tells it from others of this name."""
        return split_disambiguation(self.page(page)[0].title)[0]

    def _number(self, sentences: list[PoolSentence]) -> None:
        self.sentences = sentences
        self.by_page: dict[str, list[int]] = {}
        for index, sentence in enumerate(sentences):
            self.by_page.setdefault(sentence.page, []).append(index)
        self.position = {sentence.key: i for i, sentence in enumerate(sentences)}


OTHERS = 10_000  # pages beside the cited ones; the data of the shipped models has fewer


def _some(pages: Iterable[Page], cited: Set[str] | None) -> list[Page]:
    """Return the cited pages, and ``OTHERS`` others, drawn with equal chances, in their order.

    FEVER's release has 5.4 million pages, so they are drawn while they are read (Vitter 1985,
    "Random Sampling with a Reservoir").
    """
    if cited is None:
        return list(pages)
    chance, seen = random.Random(0), 0
    kept, others = list[tuple[int, Page]](), list[tuple[int, Page]]()
    for place, page in enumerate(pages):
        if page_key(page.id) in cited:
            kept.append((place, page))
            continue
        seen += 1
        number = len(others) if len(others) < OTHERS else chance.randrange(seen)
        if number < OTHERS:
            others[number : number + 1] = [(place, page)]
    return [page for _, page in sorted([*kept, *others], key=itemgetter(0))]


def _split(pages: Sequence[Page]) -> Iterator[tuple[Page, Sequence[str]]]:
    """Yield each page with its sentences: the source's, or otherwise those of an index."""
    unsplit = SentenceSplitter().split(page.text for page in pages if page.sentences is None)
    for page in pages:
        if page.sentences is None:
            yield page, [page.text[start:end] for start, end in next(unsplit)]
        else:
            yield page, page.sentences


SIMILAR = 7
NAMED = 5
_LONGEST_TITLE = 6  # words
_WORD = re.compile(r"[^\s,;:!?\"()]+")


class CandidateFinder:
    """Finds candidate sentences for claims in a pool."""

    def __init__(self, pool: SentencePool) -> None:
        """Make a table of the pool's titles."""
        self._pool = pool
        self._pages: dict[str, list[str]] = {}
        for page, indices in pool.by_page.items():
            key = title_key(pool.sentences[indices[0]].title.partition(" (")[0])
            self._pages.setdefault(key, []).append(page)

    def find(self, claims: Sequence[str]) -> list[list[int]]:
        """Return each claim's candidates as indices into ``pool.sentences``, similar ones first."""
        nearest = self._pool.nearest(claims, SIMILAR)
        found = []
        for claim, similar in zip(claims, nearest, strict=True):
            named = [i for page in self.named(claim) for i in self._pool.by_page[page]]
            found.append(list(dict.fromkeys([*(int(i) for i in similar), *named[:NAMED]])))
        return found

    def named(self, claim: str) -> list[str]:
        """Return the pages named in the claim, longest names first."""
        words = [word.rstrip(".") for word in _WORD.findall(claim)]
        pages: dict[str, None] = {}
        for length in range(_LONGEST_TITLE, 0, -1):
            for start in range(len(words) - length + 1):
                name = title_key(" ".join(words[start : start + length]))
                pages.update(dict.fromkeys(self._pages.get(name, ())))
        return list(pages)
