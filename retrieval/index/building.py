"""Where an index is built: beside the one that serves, by one process at a time, gone on with."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from retrieval.errors import EsotericError
from retrieval.files import write_whole
from retrieval.index.layout import BUILDING, GONE, LOCK

_PLAN = "plan.json"
_NAME = "name"


class IndexNotBuilt(EsotericError):
    """The index could not be built; the one that stood before still stands."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A plan's unfinished work.

    Attributes:
        folder: where it lies.
        before: whether an earlier try has left it.
        name: its own: work of the same plan that was ended and is begun anew has another.
    """

    folder: Path
    before: bool
    name: str


@contextmanager
def changing(folder: Path) -> Iterator[Callable[[Mapping[str, object]], Begun]]:
    """Hold the index in a folder for one change; yield what begins a plan or goes on with it.

    Raises:
        IndexNotBuilt: the disk is full or read-only, another change is made, or
            ``folder`` holds something that is no index.
    """
    try:
        _refuse_other_things(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            yield partial(_begun, folder)
    except OSError as error:
        raise _not_built(error, folder) from error


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Work that was begun: its folder, what it is in words, and how many bytes it takes."""

    folder: Path
    what: str
    bytes: int


def unfinished(folder: Path) -> list[Unfinished]:
    """Return what was begun on an index and not ended; nothing while a change is made."""
    try:
        with _locked(folder):
            pass
    except (IndexNotBuilt, OSError):
        return []
    found = []
    for building in sorted(folder.glob(f"{BUILDING}*")):
        size = sum(path.stat().st_size for path in building.rglob("*") if path.is_file())
        found.append(Unfinished(building, _in_words(_plan_in(building)), size))
    return found


def remove_unfinished(folder: Path) -> list[str]:
    """Remove what was begun on an index and not ended; return the names of its folders.

    Only for who holds the index (``changing``).

    Raises:
        OSError: the folder cannot be written.
    """
    _remove_gone(folder)
    found = sorted(folder.glob(f"{BUILDING}*"))
    for building in found:
        # Renamed first, so that no half of it is taken for unfinished work.
        building.rename(building.with_name(f"{GONE}{building.name}"))
    _remove_gone(folder)
    return [building.name for building in found]


def _remove_gone(folder: Path) -> None:
    for gone in folder.glob(f"{GONE}*"):
        shutil.rmtree(gone)


def _in_words(plan: Mapping[str, object]) -> str:
    if "encode" in plan:
        return f"vectors of {plan['encode']}"
    if "without" in plan:
        return "a removal"
    done = "an addition of" if "add" in plan else "a build of"
    return f"{done} {plan.get('source', 'an unknown source')}"


def _not_built(error: OSError, folder: Path) -> IndexNotBuilt:
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return IndexNotBuilt(
            "disk_full",
            f"The disk that holds {folder} is full; the index that stood before still stands.",
            "Make room and run the same command again: it goes on where it stopped.",
        )
    return IndexNotBuilt(
        "index_not_written",
        f"The index cannot be written below {folder} ({error.strerror or error}).",
        "Check the folder's permissions, or name another one (--to, or ESOTERIC_HOME).",
    )


def _refuse_other_things(folder: Path) -> None:
    """Building removes unfinished and replaced work, so none of it may be somebody else's."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / LOCK).is_file():
        raise IndexNotBuilt(
            "index_not_empty",
            f"{folder} holds files that are no index.",
            "Name a folder that is empty or not there yet.",
        )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise IndexNotBuilt(
                "index_locked",
                f"Another build of the index in {folder} is running.",
                "Wait until it is done.",
            ) from error
        yield


def _begun(folder: Path, plan: Mapping[str, object]) -> Begun:
    """What another plan left unfinished stays for its next try."""
    _remove_gone(folder)
    content = json.dumps(plan, sort_keys=True).encode("utf-8")
    building = folder / f"{BUILDING}{hashlib.sha256(content).hexdigest()[:16]}"
    building.mkdir(exist_ok=True)
    name = _plan_in(building).get(_NAME)
    before = isinstance(name, str)
    if not isinstance(name, str):
        name = uuid.uuid4().hex
        write_whole(building / _PLAN, json.dumps({**plan, _NAME: name}).encode("utf-8"))
    for leftover in building.rglob("*.partial"):
        leftover.unlink()
    return Begun(building, before, name)


def _plan_in(building: Path) -> dict[str, object]:
    """Return what was written there when the work was begun; nothing if that cannot be read."""
    try:
        plan = json.loads((building / _PLAN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return plan if isinstance(plan, dict) else {}
