"""All titles of an index as a prefix tree (``generators.title_trie``), in memory-mapped files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.index.batches import batched
from retrieval.models.title_trie import TitleRun, TitleTokenizer, build_run
from retrieval.system.files import write_array

NAMES = ("title_tokens.npy", "title_starts.npy", "title_documents.npy")
_AT_ONCE = 10_000


def read_titles(folder: Path) -> TitleRun:
    """Return the titles in a folder.

    Raises:
        OSError, ValueError: a file is missing or damaged.
    """
    # As plain arrays: single elements of a memmap take many times as long to read.
    tokens, starts, documents = (np.asarray(np.load(folder / n, mmap_mode="r")) for n in NAMES)
    return TitleRun(tokens, starts, documents)


def write_titles(folder: Path, run: TitleRun) -> None:
    """Write titles into a folder.

    Raises:
        OSError: the folder cannot be written.
    """
    arrays: list[NDArray[Any]] = [run.tokens, run.starts, run.documents]
    for name, array in zip(NAMES, arrays, strict=True):
        write_array(folder / name, array)


def run_of(titled: Iterable[tuple[int, str]]) -> TitleRun:
    """Return the prefix tree of titles, each with the number of its document."""
    return build_run(_tokens(titled))


def _tokens(titled: Iterable[tuple[int, str]]) -> Iterator[tuple[Sequence[int], int]]:
    tokenizer = TitleTokenizer()
    for some in batched(titled, _AT_ONCE):
        tokens = tokenizer.tokens([title for _, title in some])
        yield from zip(tokens, (number for number, _ in some), strict=True)
