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
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import IndexUnavailable
from retrieval.index.formats.title_files import read_titles, run_of, write_titles
from retrieval.models.title_trie import TitleRun, TitleTrie
from retrieval.system.files import write_array

_IDS, _ENDS = "ids.npy", "id_ends.npy"
_KEPT_SECONDS = 3600.0

# All titles; the ids of their documents, joined; and where each of these ends.
_Snapshot: TypeAlias = tuple[TitleRun, NDArray[np.uint8], NDArray[np.int64]]


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
        run, ids, ends = _read(folder) or _made(folder, titled)
    except OSError as error:
        raise IndexUnavailable(
            "titles_unavailable",
            f"The titles of the index cannot be stored in {folder} ({error.strerror or error}).",
            "Make room there, or check the permissions of ESOTERIC_HOME.",
        ) from error

    def document_id(number: int) -> str:
        start = int(ends[number - 1]) if number else 0
        return bytes(ids[start : int(ends[number])]).decode("utf-8")

    return TitleTrie(run, document_id)


def _read(folder: Path) -> _Snapshot | None:
    """Return a snapshot; None if it is missing or damaged."""
    try:
        ids, ends = (np.load(folder / name, mmap_mode="r") for name in (_IDS, _ENDS))
        return read_titles(folder), ids, ends
    except (FileNotFoundError, EOFError, ValueError):
        return None


def _made(folder: Path, titled: Callable[[], Iterator[tuple[str, str]]]) -> _Snapshot:
    """Make a snapshot, unless another process has made it by now, and return it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (found := _read(folder)) is not None:
            return found
        partial = folder.with_name(f"{folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        made = _write(partial, titled())
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
        _remove_others(folder)
        return made


def _write(folder: Path, titled: Iterator[tuple[str, str]]) -> _Snapshot:
    ids: list[bytes] = []

    def numbered() -> Iterator[tuple[int, str]]:
        for number, (document_id, title) in enumerate(titled):
            ids.append(document_id.encode("utf-8"))
            yield number, title

    run = run_of(numbered())
    joined = np.frombuffer(b"".join(ids), dtype=np.uint8)
    ends = np.cumsum([len(one) for one in ids], dtype=np.int64)
    write_titles(folder, run)
    write_array(folder / _IDS, joined)
    write_array(folder / _ENDS, ends)
    return run, joined, ends


def _remove_others(folder: Path) -> None:
    """Remove old snapshots, which no worker opens any more; mapped files stay readable."""
    for other in folder.parent.iterdir():
        if other.is_dir() and other != folder and _age(other) > _KEPT_SECONDS:
            shutil.rmtree(other)


def _age(folder: Path) -> float:
    return time.time() - folder.stat().st_mtime
