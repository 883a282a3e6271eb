"""The corpus of a baseline: every document and sentence, in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from research.evaluation.baselines.ranked import RankedSentence
from retrieval.index.interface import DocumentStore
from retrieval.text.model_texts import evidence_text

DOCUMENTS = 20  # as many as a recipe passes to its sentence stages
RANKED = 20  # sentences that are kept, to measure recall at k


@dataclass(frozen=True, slots=True)
class Sentences:
    """Parallel lists of documents, and of their sentences that have text, document by document.

    ``starts[d]`` is the first sentence of document ``d``; ``starts[d + 1]`` is
    one after its last.
    """

    ids: list[str]
    titles: list[str]
    starts: list[int]
    documents: list[int]
    numbers: list[int]
    texts: list[str]

    def document_texts(self) -> list[str]:
        """Return title and text of each document."""
        return [
            f"{title}. {' '.join(self.texts[start:end])}"
            for title, start, end in zip(
                self.titles, self.starts[:-1], self.starts[1:], strict=True
            )
        ]

    def titled(self, rows: NDArray[np.int64] | range) -> list[str]:
        """Return these sentences, each with its title."""
        return [evidence_text(self.titles[self.documents[n]], self.texts[n]) for n in rows]

    def rows_of(self, documents: list[int]) -> NDArray[np.int64]:
        """Return the rows of the sentences of these documents."""
        ranges = [np.arange(self.starts[d], self.starts[d + 1]) for d in documents]
        return np.concatenate([np.zeros(0, dtype=np.int64), *ranges])

    def best(self, rows: NDArray[np.int64], scores: NDArray[np.float32]) -> list[RankedSentence]:
        """Return the best ``RANKED`` of these rows; equal ones stay in their order."""
        order = np.argsort(-scores, kind="stable")[:RANKED]
        return [
            RankedSentence(
                page=self.ids[self.documents[row]],
                number=self.numbers[row],
                title=self.titles[self.documents[row]],
                text=self.texts[row],
                score=float(scores[position]),
            )
            for position, row in ((int(p), int(rows[p])) for p in order)
        ]


def read_sentences(store: DocumentStore) -> Sentences:
    """Read all documents of an index."""
    read = Sentences([], [], [0], [], [], [])
    for document_id, title in store.titled():
        (document,) = store.documents([document_id])
        for sentence in document.sentences:
            read.documents.append(len(read.ids))
            read.numbers.append(sentence.sentence_id)
            read.texts.append(sentence.text)
        read.ids.append(document_id)
        read.titles.append(title)
        read.starts.append(len(read.texts))
    return read
