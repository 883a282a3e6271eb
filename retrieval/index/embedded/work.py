"""Builds in a folder next to the served index, one process at a time; resumed if interrupted."""

from __future__ import annotations

import errno
import fcntl
import json
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from retrieval.index.building import Plan
from retrieval.index.embedded.layout import BUILDING, GONE, LOCK
from retrieval.index.embedded.meta import FORMAT
from retrieval.index.errors import IndexNotBuilt
from retrieval.system.files import write_whole

_PLAN = "plan.json"
_NAME, _WORK = "name", "work"


@dataclass(frozen=True, slots=True)
class Work:
    """The work on a plan that has begun.

    Attributes:
        folder: its folder.
        name: unique; if the same plan is done again after it was finished, it has another name.
    """

    folder: Path
    name: str


@contextmanager
def changing(folder: Path) -> Iterator[Callable[[Plan], Work]]:
    """Lock the index in a folder for one change; yield a function that starts or resumes a plan.

    Raises:
        IndexNotBuilt: the disk is full or read-only, another change is being made, or
            ``folder`` contains something other than an index.
    """
    try:
        _refuse_other_things(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            yield partial(_begin, folder)
    except OSError as error:
        raise _not_built(error, folder) from error


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Unfinished work: its folder, its description, and its size in bytes."""

    folder: Path
    what: str
    bytes: int


def unfinished(folder: Path) -> list[Unfinished]:
    """Return the unfinished work on an index; nothing while a change is being made."""
    try:
        with _locked(folder):
            pass
    except (IndexNotBuilt, OSError):
        return []
    found = []
    for building in sorted(folder.glob(f"{BUILDING}*")):
        size = sum(path.stat().st_size for path in building.rglob("*") if path.is_file())
        what = str(_plan_in(building).get(_WORK, "an unknown change"))
        found.append(Unfinished(building, what, size))
    return found


def remove_unfinished(folder: Path) -> list[str]:
    """Remove the unfinished work on an index; return the names of its folders.

    Call it only while the index is locked (``changing``).

    Raises:
        OSError: the folder cannot be written.
    """
    _remove_gone(folder)
    found = sorted(folder.glob(f"{BUILDING}*"))
    for building in found:
        # Renamed first: a half removed folder must not be resumed.
        building.rename(building.with_name(f"{GONE}{building.name}"))
    _remove_gone(folder)
    return [building.name for building in found]


def _remove_gone(folder: Path) -> None:
    for gone in folder.glob(f"{GONE}*"):
        shutil.rmtree(gone)


def _not_built(error: OSError, folder: Path) -> IndexNotBuilt:
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return IndexNotBuilt(
            "disk_full",
            f"The disk that holds {folder} is full; the previous index is unchanged.",
            "Free some space and run the same command again: it continues where it stopped.",
        )
    return IndexNotBuilt(
        "index_not_written",
        f"The index cannot be written below {folder} ({error.strerror or error}).",
        "Check the folder's permissions, or name another one (--to, or ESOTERIC_HOME).",
    )


def _refuse_other_things(folder: Path) -> None:
    """Raise ``IndexNotBuilt`` if the folder contains other files: builds remove old files there."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / LOCK).is_file():
        raise IndexNotBuilt(
            "index_not_empty",
            f"{folder} contains files that are not an index.",
            "Name an empty folder, or one that does not exist yet.",
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


def _begin(folder: Path, plan: Plan) -> Work:
    """Start or resume a plan; unfinished work of other plans is kept."""
    _remove_gone(folder)
    building = folder / f"{BUILDING}{plan.digest(format=FORMAT)}"
    building.mkdir(exist_ok=True)
    name = _plan_in(building).get(_NAME)
    if not isinstance(name, str):
        name = uuid.uuid4().hex
        content = json.dumps({**plan.content, _WORK: plan.work, _NAME: name})
        write_whole(building / _PLAN, content.encode("utf-8"))
    for leftover in building.rglob("*.partial"):
        leftover.unlink()
    return Work(building, name)


def _plan_in(building: Path) -> dict[str, object]:
    """Return the plan that was written when the work started; empty if it cannot be read."""
    try:
        plan = json.loads((building / _PLAN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return plan if isinstance(plan, dict) else {}
