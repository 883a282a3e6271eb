"""All titles of an index as a prefix tree, in files that the processes of a machine share.

The tree is walked thousands of times for a claim, so it must be here. It is made once for each
version: when the index is built, or by the first process that needs it.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.elastic.scan import batched
from retrieval.errors import IndexUnavailable
from retrieval.titles.title_tokenizer import TitleTokenizer
from retrieval.titles.title_trie import TitleRun, TitleTrie, build_run

_ARRAYS = ("tokens", "starts", "documents", "ids", "id_ends")
_TITLES_AT_ONCE = 10_000


def open_titles(
    snapshots: Path, version: str, titled: Callable[[], Iterator[tuple[str, str]]]
) -> TitleTrie:
    """Return the titles of a version of an index; ``titled`` yields ids and titles, if needed.

    Raises:
        IndexUnavailable: the folder cannot be written or read.
    """
    folder = snapshots / version
    try:
        if not folder.is_dir():
            snapshots.mkdir(parents=True, exist_ok=True)
            with (snapshots / "lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not folder.is_dir():
                    _write(folder, titled())
                    _remove_others(snapshots, version)
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS}
    except (OSError, ValueError) as error:
        raise IndexUnavailable(
            "titles_unavailable",
            f"The titles of the index cannot be kept or read in {folder} ({error}).",
            "Make room there, or remove that folder: it is made anew.",
        ) from error
    ids, ends = arrays["ids"], arrays["id_ends"]

    def document_id(number: int) -> str:
        start = int(ends[number - 1]) if number else 0
        return bytes(ids[start : int(ends[number])]).decode("utf-8")

    run = TitleRun(arrays["tokens"], arrays["starts"], arrays["documents"])
    return TitleTrie([run], document_id)


def _write(folder: Path, titled: Iterator[tuple[str, str]]) -> None:
    tokenizer = TitleTokenizer()
    ids: list[bytes] = []

    def numbered() -> Iterator[tuple[list[int], int]]:
        for some in batched(titled, _TITLES_AT_ONCE):
            tokens = tokenizer.tokens([title for _, title in some])
            for (document_id, _), title in zip(some, tokens, strict=True):
                ids.append(document_id.encode("utf-8"))
                yield title, len(ids) - 1

    tokens, starts, documents = build_run(numbered())
    joined = np.frombuffer(b"".join(ids), dtype=np.uint8)
    ends = np.cumsum([len(one) for one in ids], dtype=np.int64)
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    arrays: list[NDArray[Any]] = [tokens, starts, documents, joined, ends]
    for name, array in zip(_ARRAYS, arrays, strict=True):
        np.save(partial / f"{name}.npy", array)
    partial.rename(folder)


def _remove_others(snapshots: Path, version: str) -> None:
    """Remove those of earlier versions; a process that has mapped them goes on reading."""
    index = version.rsplit("-", 2)[0]
    for other in snapshots.iterdir():
        if other.name != version and other.name.rsplit("-", 2)[0] == index:
            shutil.rmtree(other)
