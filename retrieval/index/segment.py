"""A run of documents in files that never change: of a build, of an addition, or of several.

segments/<time>-<checksum>/
  documents.zst                  records (``records``), some compressed together as a block
  blocks.npy                     where each block begins, uint64, and where the last ends
  block_documents.npy            the number of each block's first document, and how many there are
  ids.txt                        the ids, joined
  id_starts.npy                  where each begins, and where the last ends
  id_table.npy, title_table.npy  sorted hashes and the documents they stand for
  title_tokens.npy               the titles as tokens, sorted: a prefix tree (titles.title_trie)
  title_starts.npy               where in it each title begins, and where the last ends
  title_documents.npy            which document each title is of
  sentence_starts.npy            which sentence is each document's first, and how many there are

Documents are numbered from 0 within a segment. Opening reads only what is small; of the rest
the records, the ids and the tables are read where they are asked for, and what is bisected
or scanned is memory-mapped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from retrieval.index.hash_table import HashTable
from retrieval.index.read_file import ReadFile
from retrieval.index.records import Record, lines_of
from retrieval.titles.title_trie import TitleRun

DOCUMENTS = "documents.zst"
BLOCKS = "blocks.npy"
BLOCK_DOCUMENTS = "block_documents.npy"
IDS = "ids.txt"
ID_STARTS = "id_starts.npy"
ID_TABLE = "id_table.npy"
TITLE_TABLE = "title_table.npy"
TITLE_TOKENS = "title_tokens.npy"
TITLE_STARTS = "title_starts.npy"
TITLE_DOCUMENTS = "title_documents.npy"
SENTENCE_STARTS = "sentence_starts.npy"

_SMALL = 1_000_000  # bytes
_AT_A_TIME = 10_000  # ids


class Segment:
    """Answers what documents a segment holds, by their numbers in it."""

    def __init__(self, folder: Path) -> None:
        """Open the files.

        Raises:
            OSError, ValueError: one is missing or damaged.
        """
        self._documents = ReadFile(folder / DOCUMENTS)
        self._blocks = _mapped(folder / BLOCKS)
        self._block_documents = _mapped(folder / BLOCK_DOCUMENTS)
        self._ids = ReadFile(folder / IDS)
        self._id_starts = _mapped(folder / ID_STARTS)
        self._id_table = HashTable(folder / ID_TABLE)
        self._title_table = HashTable(folder / TITLE_TABLE)
        self.sentence_starts = _mapped(folder / SENTENCE_STARTS)
        self._titles = [
            _mapped(folder / name) for name in (TITLE_TOKENS, TITLE_STARTS, TITLE_DOCUMENTS)
        ]

    def __len__(self) -> int:
        """Return how many documents there are."""
        return len(self.sentence_starts) - 1

    def ids(self, numbers: Sequence[int]) -> list[str]:
        """Return the documents' ids."""
        places = np.array(numbers, dtype=np.int64)
        starts, ends = self._id_starts[places].tolist(), self._id_starts[places + 1].tolist()
        read = self._ids.each_between(zip(starts, ends, strict=True))
        return [name.decode("utf-8") for name in read]

    def numbers(self, document_id: str) -> list[int]:
        """Return the documents with this id; where there are two, the later one counts."""
        numbers = self._id_table.values(document_id)
        ids = self.ids(numbers)
        return [n for n, found in zip(numbers, ids, strict=True) if found == document_id]

    def held_by(self, other: Segment) -> list[int]:
        """Return the documents whose ids another segment holds too."""
        alike = np.isin(self._id_table.hashes(), other._id_table.hashes())
        shared = np.sort(self._id_table.all_values()[alike]).tolist()
        return [number for number, same in self._with_ids(shared) if other.numbers(same)]

    def superseded(self) -> list[int]:
        """Return the documents whose id a later one has too."""
        hashes = self._id_table.hashes()
        alike = np.flatnonzero(hashes[1:] == hashes[:-1])
        # The rows of one hash are in order of their numbers.
        earlier = np.sort(self._id_table.all_values()[alike]).tolist()
        return [n for n, same in self._with_ids(earlier) if self.numbers(same)[-1] > n]

    def title_values(self, key: str) -> list[int]:
        """Return twice the numbers of documents whose titles may have this key, as tables do."""
        return self._title_table.values(key)

    def of(self, numbers: Sequence[int]) -> list[Record]:
        """Return the documents' records.

        Raises:
            ValueError: one is damaged.
        """
        # Of the same type: all of the blocks' numbers would be copied otherwise.
        wanted = np.array(numbers, dtype=self._block_documents.dtype)
        blocks = np.searchsorted(self._block_documents, wanted, side="right") - 1
        needed = np.unique(blocks).tolist()
        lines = dict(zip(needed, self._lines(needed), strict=True))
        firsts = self._block_documents[blocks].tolist()
        return [
            json.loads(lines[block][number - first])
            for number, block, first in zip(numbers, blocks.tolist(), firsts, strict=True)
        ]

    @property
    def block_count(self) -> int:
        """How many blocks of records there are."""
        return len(self._blocks) - 1

    def records(self, first: int, last: int) -> list[Record]:
        """Return the records of these blocks, all but ``last``; raises what ``of`` raises."""
        return [json.loads(line) for lines in self._lines(range(first, last)) for line in lines]

    def titles(self, first: int) -> TitleRun:
        """Return the titles as sorted tokens; its documents are numbered from ``first`` on."""
        tokens, starts, documents = self._titles
        return TitleRun(tokens, starts, documents, first)

    def _with_ids(self, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Yield documents with their ids, of which few are held at a time."""
        for start in range(0, len(numbers), _AT_A_TIME):
            some = numbers[start : start + _AT_A_TIME]
            yield from zip(some, self.ids(some), strict=True)

    def _lines(self, blocks: Sequence[int]) -> list[list[bytes]]:
        ranges = [(int(self._blocks[block]), int(self._blocks[block + 1])) for block in blocks]
        return [lines_of(read) for read in self._documents.each_between(ranges)]


def _mapped(path: Path) -> NDArray[Any]:
    # What is small is read: a mapped file keeps a handle, of which a process has only so many.
    mode: Literal["r"] | None = "r" if path.stat().st_size > _SMALL else None
    # As a plain array: single elements of a memmap take many times as long to read.
    return np.asarray(np.load(path, mmap_mode=mode))
