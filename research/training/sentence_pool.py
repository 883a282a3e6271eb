"""All sentences of a corpus with search, to find convincing negatives for training."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from research.evaluation.claims import page_key
from research.training.arrays import kept_array
from retrieval.corpora.corpus import Corpus, Page, readable_pages
from retrieval.models.encoders import TextEncoder
from retrieval.text.model_texts import evidence_text
from retrieval.text.sentence_splitter import SentenceSplitter


@dataclass(frozen=True, slots=True)
class PoolSentence:
    """A sentence with its page's id and plain title."""

    page: str
    sentence_id: int
    title: str
    text: str


class SentencePool:
    """The non-empty sentences of a corpus with their encodings."""

    def __init__(self, corpus: Corpus, encoder: TextEncoder, cache: Path) -> None:
        """Read the pages and encode their sentences; ``cache`` stores the vectors between runs.

        Raises:
            BadSource: the pages cannot be read.
        """
        self._number(
            [
                PoolSentence(page_key(page.id), number, page.title, sentence)
                for page, sentences in _split(list(readable_pages(corpus)))
                for number, sentence in enumerate(sentences)
                if sentence
            ]
        )
        self._encoder = encoder
        self._vectors = self._encoded(cache / f"sentences-{corpus.fingerprint()[:16]}.npy")

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

    def _number(self, sentences: list[PoolSentence]) -> None:
        self.sentences = sentences
        self.by_page: dict[str, list[int]] = {}
        for index, sentence in enumerate(sentences):
            self.by_page.setdefault(sentence.page, []).append(index)
        self.position = {(s.page, s.sentence_id): i for i, s in enumerate(sentences)}

    def _encoded(self, path: Path) -> NDArray[np.float32]:
        texts = [evidence_text(s.title, s.text) for s in self.sentences]
        return kept_array(path, lambda: self._encoder.encode(texts))


def _split(pages: Sequence[Page]) -> Iterator[tuple[Page, Sequence[str]]]:
    """Yield each page with its sentences: the source's, or otherwise those of an index."""
    unsplit = SentenceSplitter().split(page.text for page in pages if page.sentences is None)
    for page in pages:
        if page.sentences is None:
            yield page, [page.text[start:end] for start, end in next(unsplit)]
        else:
            yield page, page.sentences
