"""The vectors of one segment, in files that never change.

vectors/<time>-<digest>/
  rotation.npy        what the vectors were turned by before their signs were taken (``codes``)
  documents.npy       int8, shape (documents, dimension): each unit vector but for its length
  document_signs.npy  uint8, shape (documents, dimension / 8)
  sentence_codes.npy  uint8, shape (sentences, dimension / 8 + 2), in the documents' order

A search compares the query's signs with those of all documents, which are mapped, then the query
itself with the signs of the nearest, and then with the codes of their sentences, which are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.index.codes import along, products, signs
from retrieval.index.rows import Rows

ROTATION = "rotation.npy"
DOCUMENTS = "documents.npy"
DOCUMENT_SIGNS = "document_signs.npy"
SENTENCE_CODES = "sentence_codes.npy"

# Documents that the query's signs leave, and documents that the query itself leaves. Where there
# are no more documents than the latter, all sentences are looked at.
_BY_SIGNS = 8000
_BY_SENTENCES = 800


class Vectors:
    """Answers what the vectors of a segment tell; its documents are numbered from 0."""

    def __init__(self, folder: Path, sentence_starts: NDArray[Any]) -> None:
        """Open the files; ``sentence_starts`` is the segment's.

        Raises:
            OSError, ValueError: one is missing or damaged.
        """
        self._rotation: NDArray[np.float32] = np.load(folder / ROTATION)
        self._documents = Rows(folder / DOCUMENTS)
        self._signs: NDArray[np.uint8] = np.asarray(np.load(folder / DOCUMENT_SIGNS, mmap_mode="r"))
        self._codes = Rows(folder / SENTENCE_CODES)
        self._starts = sentence_starts
        self.dimension = len(self._rotation)

    def of(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        """Return the documents' unit vectors, shape ``(len(numbers), dimension)``."""
        return from_bytes(self._documents.within((n, n + 1) for n in numbers))

    def nearest(
        self,
        queries: NDArray[np.float32],
        limit: int,
        without: NDArray[np.int64],
        among: NDArray[np.int64] | None = None,
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Return for each query the rows of the sentences nearest to it, and how near each is.

        Best first: the ``limit`` best and all that equal the last of them, of the
        documents nearest to the query, or of those ``among`` which to look, but those ``without``.
        """
        if limit < 1 or not len(queries) or not len(self._signs):
            return [(np.zeros(0, np.int64), np.zeros(0, np.float32)) for _ in queries]
        turned = queries @ self._rotation
        if among is None:
            near = self._near(turned, without)
        else:
            near = [np.setdiff1d(among, without)] * len(turned)
        return [
            self._nearest_of(query, documents, limit)
            for query, documents in zip(turned, near, strict=True)
        ]

    def _near(
        self, turned: NDArray[np.float32], without: NDArray[np.int64]
    ) -> list[NDArray[np.int64]]:
        """Return the documents nearest to each query, in order of their numbers."""
        if len(self._signs) <= _BY_SENTENCES:
            return [np.setdiff1d(np.arange(len(self._signs)), without)] * len(turned)
        found = []
        for query, near in zip(turned, self._near_by_signs(turned, without), strict=True):
            similar = along(query, self._signs[near])
            found.append(np.sort(near[np.argsort(-similar, kind="stable")[:_BY_SENTENCES]]))
        return found

    def _near_by_signs(
        self, turned: NDArray[np.float32], without: NDArray[np.int64]
    ) -> list[NDArray[np.int64]]:
        total = len(self._signs)
        left = total - len(without)
        if left <= _BY_SIGNS:
            return [np.setdiff1d(np.arange(total), without)] * len(turned)
        count = _BY_SIGNS
        while True:
            near = [np.setdiff1d(row, without) for row in self._nearest_signs(turned, count)]
            if count == total or all(len(row) >= _BY_SENTENCES for row in near):
                return near
            count = min(4 * count, total)

    def _nearest_signs(self, turned: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        import faiss

        # Its threads cost more than they bring: on two a scan takes many times as long. PyTorch,
        # where it is used, counts its threads by the same OpenMP.
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            # Counting is twice as quick as a heap, but takes 3 kB for each that is to be found.
            variant = "mc" if count == _BY_SIGNS else "hc"
            _, found = faiss.knn_hamming(signs(turned), self._signs, count, variant=variant)
        finally:
            faiss.omp_set_num_threads(threads)
        rows: NDArray[np.int64] = found
        return rows

    def _nearest_of(
        self, query: NDArray[np.float32], documents: NDArray[np.int64], limit: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        firsts = self._starts[documents].astype(np.int64)
        lasts = self._starts[documents + 1].astype(np.int64)
        coded = self._codes.within(zip(firsts.tolist(), lasts.tolist(), strict=True))
        near = products(query, coded)
        counts = lasts - firsts
        # The rows of all ranges: each range's first, and how far behind it a row stands.
        behind = np.arange(len(near)) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = np.repeat(firsts, counts) + behind
        if len(near) > limit:
            leading = np.flatnonzero(near >= np.partition(near, -limit)[-limit])
            rows, near = rows[leading], near[leading]
        order = np.argsort(-near, kind="stable")
        return rows[order], near[order]


def as_bytes(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return unit vectors with the largest number of each as 127 or -127."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    scaled: NDArray[np.float32] = np.zeros_like(vectors)
    np.divide(127 * vectors, largest, out=scaled, where=largest > 0)
    return scaled.round().astype(np.int8)


def from_bytes(rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the unit vectors that ``as_bytes`` made rows of; a row of zeros stays."""
    vectors: NDArray[np.float32] = rows.astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    return vectors
