"""The database of the documents' vectors: how they are made, and the search in it.

A search compares the query's signs with those of all documents, which are in a memory-mapped
file. Then the query itself is compared with the signs of the nearest documents, and finally with
the codes of their sentences, which are read from the database (``codes``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.index.building import prepare_networks
from retrieval.index.embedded.documents import (
    as_the_system_says,
    connected,
    records_between,
    rows_of,
)
from retrieval.index.formats.codes import along, as_bytes, codes, from_bytes, products, signs
from retrieval.index.formats.records import encodable
from retrieval.models import runtime
from retrieval.models.encoders import DocumentEncoder
from retrieval.system.processes import in_order

TABLES = ("vectors",)

# ``document``: int8, the unit vector up to its length; ``signs``: of the rotated vector;
# ``codes``: of the rotated vectors of the document's sentences, in order.
_SCHEMA = """
CREATE TABLE vectors (number INTEGER PRIMARY KEY, document BLOB NOT NULL, signs BLOB NOT NULL,
    codes BLOB NOT NULL);
"""
# Numbers of documents that are left after comparing signs with signs, and after comparing the query
# with signs. In an index with fewer documents than the second, all sentences are compared.
_BY_SIGNS = 8000
_BY_SENTENCES = 800
# Encoded together: many enough for batches of similar length, few enough to lose little in an
# interruption.
_DOCUMENTS = 512


@dataclass(frozen=True, slots=True)
class EncodedDocuments:
    """The vectors of ``n`` documents.

    Attributes:
        documents: int8, shape ``(n, dimension)``.
        signs: uint8, shape ``(n, dimension / 8)``.
        codes: uint8, shape ``(sentences, dimension / 8 + 2)``, in the documents' order.
        counts: the sentences of each document.
    """

    documents: NDArray[np.int8]
    signs: NDArray[np.uint8]
    codes: NDArray[np.uint8]
    counts: Sequence[int]


@dataclass(frozen=True, slots=True)
class NearSentences:
    """Sentences near a query, best first: their documents, positions there, and similarities."""

    documents: NDArray[np.int64]
    positions: NDArray[np.int64]
    similarities: NDArray[np.float32]


class NewVectors:
    """Vectors that a change adds, in a separate database."""

    def __init__(self, path: Path, first: int) -> None:
        """Begin with document ``first``, or continue an interrupted change.

        Raises:
            OSError: the database cannot be written, or is damaged.
        """
        self.first = first
        self._connection = connected(path, _SCHEMA)
        with as_the_system_says():
            ((last,),) = self._connection.execute("SELECT max(number) FROM vectors")
        self.end = first if last is None else last + 1

    def add(self, encoded: EncodedDocuments) -> None:
        """Add the vectors of the next documents, all or none.

        Raises:
            OSError: the disk is full or read-only.
        """
        ends = np.cumsum(encoded.counts)[:-1]
        rows = zip(encoded.documents, encoded.signs, np.split(encoded.codes, ends), strict=True)
        with as_the_system_says(), self._connection as connection:
            connection.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?, ?)",
                (
                    (number, *(array.tobytes() for array in row))
                    for number, row in enumerate(rows, self.end)
                ),
            )
        self.end += len(encoded.counts)

    def signs(self) -> NDArray[np.uint8]:
        """Return the signs of all these documents' vectors, shape ``(n, dimension / 8)``."""
        found = [
            row[0] for row in self._connection.execute("SELECT signs FROM vectors ORDER BY number")
        ]
        return np.frombuffer(b"".join(found), dtype=np.uint8).reshape(len(found), -1)

    def close(self) -> None:
        """Close the database, which is a single file then."""
        self._connection.close()


class Vectors:
    """The vectors of one version of an index."""

    def __init__(self, path: Path, rotation: NDArray[np.float32], signs: NDArray[np.uint8]) -> None:
        """Open the database.

        ``rotation``: the matrix that rotated the vectors before their signs were taken (``codes``).
        ``signs``: of all documents, shape ``(n, dimension / 8)``.

        Raises:
            OSError: it is missing or damaged.
        """
        self._connection = connected(path)
        self._rotation, self._signs = rotation, signs
        self.dimension = len(rotation)

    def of(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        """Return the documents' unit vectors, shape ``(len(numbers), dimension)``."""
        question = "SELECT number, document FROM vectors WHERE number IN ?"
        found = dict(rows_of(self._connection, question, numbers))
        joined = np.frombuffer(b"".join(found[number] for number in numbers), dtype=np.int8)
        return from_bytes(joined.reshape(-1, self.dimension))

    def nearest(
        self,
        queries: NDArray[np.float32],
        limit: int,
        without: NDArray[np.int64],
        among: NDArray[np.int64] | None = None,
    ) -> list[NearSentences]:
        """Return for each query the ``limit`` nearest sentences, and all as near as the last.

        Only sentences of the documents nearest to the query, or of the documents ``among``,
        are compared; those of the documents ``without`` are left out.
        """
        turned = queries @ self._rotation
        if limit < 1 or not len(self._signs):
            near = [np.zeros(0, np.int64)] * len(turned)
        elif among is None:
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

        # More threads make it slower: with two, a scan takes many times as long. The number is
        # restored afterwards, because PyTorch uses the same OpenMP.
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            # Counting is twice as fast as a heap, but takes 3 kB for each result.
            variant = "mc" if count == _BY_SIGNS else "hc"
            _, found = faiss.knn_hamming(signs(turned), self._signs, count, variant=variant)
        finally:
            faiss.omp_set_num_threads(threads)
        rows: NDArray[np.int64] = found
        return rows

    def _nearest_of(
        self, query: NDArray[np.float32], documents: NDArray[np.int64], limit: int
    ) -> NearSentences:
        question = "SELECT number, codes FROM vectors WHERE number IN ?"
        found = dict(rows_of(self._connection, question, documents.tolist()))
        width = self._signs.shape[1] + 2
        coded = [found[number] for number in documents.tolist()]
        counts = np.array([len(codes) // width for codes in coded], dtype=np.int64)
        near = products(query, np.frombuffer(b"".join(coded), dtype=np.uint8).reshape(-1, width))
        numbers = np.repeat(documents, counts)
        # Each sentence's row in all codes, minus the row of the first one of its document.
        positions = np.arange(len(near)) - np.repeat(np.cumsum(counts) - counts, counts)
        if len(near) > limit:
            leading = np.flatnonzero(near >= np.partition(near, -limit)[-limit])
            numbers, positions, near = numbers[leading], positions[leading], near[leading]
        order = np.argsort(-near, kind="stable")
        return NearSentences(numbers[order], positions[order], near[order])


def digest_of_vectors(path: Path, first: int, last: int) -> str:
    """Return a digest of the vectors of the documents from ``first`` to before ``last``.

    Raises:
        OSError: the database is missing or damaged.
    """
    digest = hashlib.sha256()
    question = "SELECT * FROM vectors WHERE number >= ? AND number < ? ORDER BY number"
    with as_the_system_says(), closing(connected(path)) as connection:
        for number, *blobs in connection.execute(question, [first, last]):
            digest.update(number.to_bytes(8, "big") + b"".join(blobs))
    return digest.hexdigest()


def encode(
    documents: Path,
    last: int,
    new: NewVectors,
    encoder: DocumentEncoder,
    turn: NDArray[np.float32],
    processes: int,
    on_progress: Callable[[int], None],
) -> None:
    """Add the vectors of the documents of a database that have none yet, up to before ``last``.

    ``turn`` is the matrix that rotates them (``codes.rotation``). ``on_progress`` receives the
    number of the next document.

    Raises:
        ModelUnavailable: the encoder cannot be loaded.
        OSError: the disk is full or read-only, or the database of the documents is damaged.
    """
    starts = [*range(new.end, last, _DOCUMENTS), last]
    prepare = partial(_Encoding, documents, encoder, turn, processes, runtime.kept_folder())
    for encoded in in_order(prepare, pairwise(starts), processes):
        new.add(encoded)
        on_progress(new.end)


class _Encoding:
    """Encodes documents of a database, in any process."""

    def __init__(
        self,
        documents: Path,
        encoder: DocumentEncoder,
        turn: NDArray[np.float32],
        threads: int,
        networks: Path | None,
    ) -> None:
        prepare_networks(threads, networks)
        self._documents = documents
        self._encoder = encoder
        self._turn = turn

    def __call__(self, numbers: tuple[int, int]) -> EncodedDocuments:
        read = [encodable(record) for record in records_between(self._documents, *numbers)]
        whole, sentences = self._encoder.encode_documents(read)
        apart = np.concatenate([np.zeros((0, self._encoder.dimension), np.float32), *sentences])
        return EncodedDocuments(
            as_bytes(whole),
            signs(whole @ self._turn),
            codes(apart @ self._turn),
            [len(each) for each in sentences],
        )
