"""Puts segments that lie one behind the other together as one; documents keep their numbers.

So that what is said of documents elsewhere, in a version's words and marks, stays as it is.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np

from retrieval.files import flush, write_array
from retrieval.index import segment, vectors
from retrieval.index.array_file import ArrayFile, read_header
from retrieval.index.hash_table import table
from retrieval.index.rows import Rows
from retrieval.index.segment_writer import starts, write_titles

_ROWS = 100_000  # copied at a time


def mergeable(counts: Sequence[int]) -> int:
    """Return how many of the last segments, of so many documents each, are to be one.

    Of those that are left each holds more than twice the documents of the next. However often
    something is added there are thus no more than log2 of all documents, and none is copied more
    often than about that: the logarithmic method of Bentley and Saxe 1980 ("Decomposable
    searching problems I", section 3).
    """
    size, many = counts[-1], 1
    while many < len(counts) and counts[-many - 1] <= 2 * size:
        size += counts[-many - 1]
        many += 1
    return many


def merged_digest(digests: Sequence[str]) -> str:
    """Return the digest of what is put together of parts with these."""
    return hashlib.sha256("".join(digests).encode("ascii")).hexdigest()


def merge_segments(folder: Path, merged: Sequence[Path]) -> None:
    """Write the files of a segment that holds what these hold, in their order.

    Raises:
        OSError: the folder cannot be written.
    """
    for name in (segment.DOCUMENTS, segment.IDS):
        with (folder / name).open("wb") as joined:
            for one in merged:
                with (one / name).open("rb") as stream:
                    shutil.copyfileobj(stream, joined)
            flush(joined)
    for name in (
        segment.BLOCKS,
        segment.BLOCK_DOCUMENTS,
        segment.ID_STARTS,
        segment.SENTENCE_STARTS,
    ):
        sizes = [np.diff(np.load(one / name)) for one in merged]
        write_array(folder / name, starts(np.concatenate(sizes)))
    counts = [len(np.load(one / segment.SENTENCE_STARTS, mmap_mode="r")) - 1 for one in merged]
    firsts = list(accumulate(counts[:-1], initial=0))
    # Titles stand for twice the number of their document (``parts.Part.title_values``).
    for name, times in ((segment.ID_TABLE, 1), (segment.TITLE_TABLE, 2)):
        moved = [
            np.load(one / name) + np.array([[0], [times * first]], dtype=np.uint64)
            for one, first in zip(merged, firsts, strict=True)
        ]
        write_array(folder / name, table(*np.concatenate(moved, axis=1)))
    write_titles(folder, _titles(merged, firsts))


def merge_vectors(folder: Path, merged: Sequence[Path]) -> None:
    """Write the files of the vectors of such a segment; raises what ``merge_segments`` raises."""
    write_array(folder / vectors.ROTATION, np.load(merged[0] / vectors.ROTATION))
    for name in (vectors.DOCUMENTS, vectors.DOCUMENT_SIGNS, vectors.SENTENCE_CODES):
        (_, width), kind, _ = read_header(merged[0] / name)
        with ArrayFile(folder / name, width, kind.type) as joined:
            for one in merged:
                (count, _), _, _ = read_header(one / name)
                rows = Rows(one / name)
                for first in range(0, count, _ROWS):
                    joined.append(rows.within([(first, min(first + _ROWS, count))]))


def _titles(merged: Sequence[Path], firsts: Sequence[int]) -> Iterator[tuple[Sequence[int], int]]:
    names = (segment.TITLE_TOKENS, segment.TITLE_STARTS, segment.TITLE_DOCUMENTS)
    for one, first in zip(merged, firsts, strict=True):
        tokens, begins, documents = (np.load(one / name) for name in names)
        begin = 0
        for end, number in zip(begins[1:].tolist(), documents.tolist(), strict=True):
            yield tokens[begin:end].tolist(), first + number
            begin = end
