"""Puts parts together as the files of a segment."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.files import flush, write_array
from retrieval.index import segment
from retrieval.index.hash_table import table
from retrieval.index.parts import Part
from retrieval.titles.title_trie import build_run


def write_segment(folder: Path, parts: Iterable[Part]) -> str:
    """Write the files of a segment, part by part; return a digest of its documents.

    What is held in memory are some numbers and the title's tokens for each document.

    Raises:
        OSError: the folder cannot be written.
    """
    digest = hashlib.sha256()
    numbers = _Numbers()
    with (
        (folder / segment.DOCUMENTS).open("wb") as documents,
        (folder / segment.IDS).open("wb") as ids,
    ):
        for part in parts:
            digest.update(part.digest.tobytes())
            documents.write(part.blocks.tobytes())
            ids.write(part.ids.tobytes())
            numbers.add(part)
        flush(documents)
        flush(ids)
    numbers.write(folder)
    return digest.hexdigest()


def write_titles(folder: Path, titles: Iterable[tuple[Sequence[int], int]]) -> None:
    """Write the titles as ``build_run`` sorts them; raises what ``write_segment`` raises."""
    tokens, begins, documents = build_run(titles)
    write_array(folder / segment.TITLE_TOKENS, tokens)
    write_array(folder / segment.TITLE_STARTS, begins)
    write_array(folder / segment.TITLE_DOCUMENTS, documents)


def starts(sizes: NDArray[Any]) -> NDArray[Any]:
    """Return where each begins if all lie one behind the other, and where the last ends.

    In four bytes each where these suffice: they are mapped while claims are checked.
    """
    found = np.zeros(len(sizes) + 1, dtype=np.uint64)
    np.cumsum(sizes, out=found[1:])
    return found.astype(np.uint32) if found[-1] < 2**32 else found


class _Numbers:
    """All that is not written part by part."""

    def __init__(self) -> None:
        self._columns: dict[str, list[NDArray[Any]]] = {}
        self._title_tokens = array("H")
        self._count = 0

    def add(self, part: Part) -> None:
        for name in ("block_sizes", "block_documents", "id_sizes", "id_hashes", "title_sizes"):
            self._columns.setdefault(name, []).append(getattr(part, name))
        self._columns.setdefault("sentences", []).append(part.sentences)
        self._columns.setdefault("title_hashes", []).append(part.title_hashes)
        moved = part.title_values + np.uint64(2 * self._count)
        self._columns.setdefault("title_values", []).append(moved)
        self._title_tokens.frombytes(part.title_tokens.tobytes())
        self._count += len(part)

    def write(self, folder: Path) -> None:
        numbers = np.arange(self._count, dtype=np.uint64)
        for name, values in (
            (segment.BLOCKS, starts(self._column("block_sizes"))),
            (segment.BLOCK_DOCUMENTS, starts(self._column("block_documents"))),
            (segment.ID_STARTS, starts(self._column("id_sizes"))),
            (segment.SENTENCE_STARTS, starts(self._column("sentences"))),
            (segment.ID_TABLE, table(self._column("id_hashes"), numbers)),
            (
                segment.TITLE_TABLE,
                table(self._column("title_hashes"), self._column("title_values")),
            ),
        ):
            write_array(folder / name, values)
        write_titles(folder, self._titles())

    def _column(self, name: str) -> NDArray[Any]:
        return np.concatenate(self._columns.pop(name))

    def _titles(self) -> Iterator[tuple[Sequence[int], int]]:
        start = 0
        for number, size in enumerate(self._column("title_sizes").tolist()):
            yield self._title_tokens[start : start + size], number
            start += size
