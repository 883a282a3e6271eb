"""Which files an embedded index consists of, and how a version becomes the current one.

index/
  current -> versions/<name>      replaced in one rename when a change is complete
  versions/<time>-<checksum>/     never written again
    meta.json                     written last: what is here, each file's size and digest (``meta``)
    removed.npy                   for each document whether it was removed or replaced, bool
    bad_pages.txt                 pages of the source that could not be read
    lexical/                      tantivy, over all documents; locked while it is opened, so that
                                  the folder must be writable
    title_*.npy                   all titles as a prefix tree (``formats.title_files``)
    rotation.npy, signs.npy       what the vectors were turned by, and the signs of all documents'
  databases/<change>.documents    SQLite (``documents``); versions share it, and so
  databases/<change>.vectors      this (``vectors``)
  building-<plan>/                what an unfinished change has done so far
  gone-building-<plan>/           the remains of one that ended; the next one removes it
  lock                            held while a change is made

Files that a change leaves as they were are hard links of the version before.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

BAD_PAGES = "bad_pages.txt"
BUILDING = "building-"
DATABASES = "databases"
GONE = "gone-"
LEXICAL = "lexical"
LOCK = "lock"
META = "meta.json"
REMOVED = "removed.npy"
ROTATION = "rotation.npy"
SIGNS = "signs.npy"

DOCUMENTS, VECTORS = "documents", "vectors"


def current_version(folder: Path) -> Path:
    """Return the folder that ``current`` points at; it need not exist."""
    return (folder / "current").resolve()


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
