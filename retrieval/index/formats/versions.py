"""Which of an index's versions is the current one, and whether it is of this version's format."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

FORMAT = 7
META = "meta.json"
BAD_PAGES = "bad_pages.txt"


def current_version(folder: Path) -> Path:
    """Return the folder that ``current`` points at; it need not exist."""
    return (folder / "current").resolve()


def lacks_index(folder: Path, source: str) -> bool:
    """Return whether there is no index, or one of this source that another version built.

    An index of another source is left to the user: building it may take hours. So is one
    that was changed since it was built: a build from its source would lose the changes.
    """
    return not (folder / "current").exists() or outdated_source(folder) == source


def outdated_source(folder: Path) -> str | None:
    """Return the source of the current index if another version of ESOTERIC built it.

    None if there is no index, if it has this format, if it was changed since it was built, or if
    its description cannot be read; opening it then raises the error.
    """
    try:
        meta = json.loads((current_version(folder) / META).read_text(encoding="utf-8"))
        source = str(meta["source"])
        return None if meta["format"] == FORMAT or meta.get("changed") else source
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def swap_in(folder: Path, version: Path, name: str) -> None:
    """Move a version into ``versions`` and point ``current`` at it.

    Raises:
        OSError: the folder cannot be written.
    """
    versions = folder / "versions"
    versions.mkdir(exist_ok=True)
    place = versions / name
    version.rename(place)
    pointer = folder / "current.partial"
    pointer.unlink(missing_ok=True)
    pointer.symlink_to(place.relative_to(folder))
    pointer.rename(folder / "current")


def sweep(folder: Path, needed: Mapping[str, Collection[str]]) -> list[str]:
    """Remove all versions but the current one, and files of other folders that it does not need.

    ``needed``: the names that it needs, by folder. Returns the names of the removed files.
    """
    # By name only, because ``current_version`` resolves links in the path.
    keep = {"versions": [current_version(folder).name], **needed}
    others = [
        other
        for kind, names in keep.items()
        if (folder / kind).is_dir()
        for other in (folder / kind).iterdir()
        # An open database has two more files: its log, and an index of the log.
        if other.name.removesuffix("-wal").removesuffix("-shm") not in names
    ]
    for other in others:
        if other.is_dir():
            shutil.rmtree(other, ignore_errors=True)
        else:
            other.unlink(missing_ok=True)
    return [other.relative_to(folder).as_posix() for other in others]
