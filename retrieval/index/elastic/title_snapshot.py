"""All titles of an index as a trie, in files that the processes of a machine share.

A check reads the trie thousands of times, so it must be on this machine. It is made once for each
version: when the index is built, or by the first process that needs it.
"""

from __future__ import annotations

import fcntl
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import IndexUnavailable
from retrieval.index.batches import batched
from retrieval.models.generators.title_tokenizer import TitleTokenizer
from retrieval.models.generators.title_trie import TitleRun, TitleTrie, build_run
from retrieval.system.files import write_array

_ARRAYS = ("tokens", "starts", "documents", "ids", "id_ends")
_TITLES_AT_ONCE = 10_000
_KEPT_SECONDS = 3600.0


def open_titles(
    snapshots: Path, version: str, titled: Callable[[], Iterator[tuple[str, str]]]
) -> TitleTrie:
    """Return the titles of a version of an index.

    ``snapshots``: the folder of this index's snapshots. ``titled`` yields ids and titles; it is
    called if the snapshot is missing or damaged.

    Raises:
        IndexUnavailable: the folder cannot be written.

    Also raises what ``titled`` raises.
    """
    folder = snapshots / version
    try:
        arrays = _read(folder) or _made(folder, titled)
    except OSError as error:
        raise IndexUnavailable(
            "titles_unavailable",
            f"The titles of the index cannot be stored in {folder} ({error.strerror or error}).",
            "Make room there, or check the permissions of ESOTERIC_HOME.",
        ) from error
    ids, ends = arrays["ids"], arrays["id_ends"]

    def document_id(number: int) -> str:
        start = int(ends[number - 1]) if number else 0
        return bytes(ids[start : int(ends[number])]).decode("utf-8")

    run = TitleRun(arrays["tokens"], arrays["starts"], arrays["documents"])
    return TitleTrie(run, document_id)


def _read(folder: Path) -> dict[str, NDArray[Any]] | None:
    """Return the arrays of a snapshot; None if it is missing or damaged."""
    try:
        return {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS}
    except (FileNotFoundError, EOFError, ValueError):
        return None


def _made(folder: Path, titled: Callable[[], Iterator[tuple[str, str]]]) -> dict[str, NDArray[Any]]:
    """Make a snapshot, unless another process has made it by now, and return its arrays."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        arrays = _read(folder)
        if arrays is None:
            _write(folder, titled())
            _remove_others(folder)
            arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS}
    return arrays


def _write(folder: Path, titled: Iterator[tuple[str, str]]) -> None:
    tokenizer = TitleTokenizer()
    ids: list[bytes] = []

    def numbered() -> Iterator[tuple[list[int], int]]:
        for some in batched(titled, _TITLES_AT_ONCE):
            tokens = tokenizer.tokens([title for _, title in some])
            for (document_id, _), title in zip(some, tokens, strict=True):
                ids.append(document_id.encode("utf-8"))
                yield title, len(ids) - 1

    run = build_run(numbered())
    joined = np.frombuffer(b"".join(ids), dtype=np.uint8)
    ends = np.cumsum([len(one) for one in ids], dtype=np.int64)
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    arrays: list[NDArray[Any]] = [run.tokens, run.starts, run.documents, joined, ends]
    for name, array in zip(_ARRAYS, arrays, strict=True):
        write_array(partial / f"{name}.npy", array)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def _remove_others(folder: Path) -> None:
    """Remove old snapshots, which no worker opens any more; mapped files stay readable."""
    for other in folder.parent.iterdir():
        if other.is_dir() and other != folder and _age(other) > _KEPT_SECONDS:
            shutil.rmtree(other)


def _age(folder: Path) -> float:
    return time.time() - folder.stat().st_mtime
