"""Which files an embedded index consists of, their description, and how a version becomes current.

index/
  current -> versions/<name>      replaced in one rename when a change is complete
  versions/<time>-<checksum>/     never written again
    meta.json                     written last: what is here, each file's size and digest
    removed.npy                   for each document whether it was removed or replaced, bool
    bad_pages.txt                 pages of the source that could not be read
    lexical/                      tantivy, over all documents; locked while it is opened, so that
                                  the folder must be writable
    title_*.npy                   all titles as a prefix tree (``formats.titles``)
    rotation.npy, signs.npy       what the vectors were turned by, and the signs of all documents'
  databases/<change>.documents    SQLite (``documents``); versions share it, and so
  databases/<change>.vectors      this (``vectors``)
  building-<plan>/                what an unfinished change has done so far
  gone-building-<plan>/           the remains of one that ended; the next one removes it
  lock                            held while a change is made

Files that a change leaves as they were are hard links of the version before. Nothing heavy is
imported: the web process and ``esoteric up`` read ``meta.json`` too.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from retrieval.errors import IndexUnavailable
from retrieval.index.errors import damaged, index_missing, rebuild
from retrieval.index.interface import Description
from retrieval.system.files import write_whole

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
FORMAT = 7


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


@dataclass(frozen=True, slots=True)
class Stored:
    """What a version has in a database.

    Attributes:
        name: the database's file.
        parts: of each change that added rows, how many, and a digest of them.
        size: bytes that the file has at least.
    """

    name: str = ""
    parts: tuple[tuple[int, str], ...] = ()
    size: int = 0

    def __len__(self) -> int:
        """Return the number of its rows."""
        return sum(count for count, _ in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedMeta(Description):
    """The description of a version and of its files.

    Attributes:
        made_by: the name of the work that made it (``embedded_index.Work``).
        stored: what is in the databases ``DOCUMENTS``, removed ones too, and ``VECTORS``.
        files: bytes and SHA-256 of each file of the version, by its path there.
    """

    made_by: str = ""
    stored: Mapping[str, Stored] = field(
        default_factory=lambda: {DOCUMENTS: Stored(), VECTORS: Stored()}
    )
    files: Mapping[str, tuple[int, str]] = field(default_factory=dict)

    def needed(self) -> dict[str, list[str]]:
        """Return the names of the files that the version shares, by their folder."""
        return {DATABASES: [stored.name for stored in self.stored.values()]}

    def size(self) -> int:
        """Return the size of the version on the disk."""
        files = sum(size for size, _ in self.files.values())
        return files + sum(stored.size for stored in self.stored.values())

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> EmbeddedMeta:
        """Return what ``asdict`` was made of.

        Raises:
            TypeError, ValueError, LookupError, AttributeError: it is damaged.
        """
        stored = {
            kind: Stored(one["name"], tuple((n, d) for n, d in one["parts"]), one["size"])
            for kind, one in content["stored"].items()
        }
        files = {name: (size, digest) for name, (size, digest) in content["files"].items()}
        return cls.read(content | {"stored": stored, "files": files})


def write_meta(version: Path, meta: Description) -> None:
    """Write the description of a version, which makes it whole.

    Raises:
        OSError: the disk is full or read-only.
    """
    content = json.dumps({"format": FORMAT} | asdict(meta), indent=1)
    write_whole(version / META, content.encode("utf-8"))


def read_meta(index: Path, version: Path) -> EmbeddedMeta:
    """Return the description of a version of an index whose files are all there and whole.

    Raises:
        IndexUnavailable: it is missing, damaged, or of another format.
    """
    content, described = _read(version)
    fix = described.fix()
    if content.get("format") != FORMAT:
        raise IndexUnavailable(
            "index_format", "The index was built by another version of ESOTERIC.", fix
        )
    try:
        meta = EmbeddedMeta.from_json(content)
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise damaged(fix) from error
    for name, (size, _) in meta.files.items():
        if _size_of(version / name) != size:
            raise damaged(fix, Path(name).name)
    for stored in meta.stored.values():
        # It may have grown since.
        if stored.name and _size_of(index / DATABASES / stored.name) < stored.size:
            raise damaged(fix, stored.name)
    return meta


def description_of(index: Path) -> Description:
    """Return the description of the current version, of whatever format; its files are not read.

    Raises:
        IndexUnavailable: it is missing or damaged.
    """
    return _read(current_version(index))[1]


def needs_build(index: Path, source: str) -> Literal["missing", "outdated"] | None:
    """See ``Index.needs_build``. What cannot be read is not outdated: opening it says why."""
    if not (index / "current").exists():
        return "missing"
    try:
        content, described = _read(current_version(index))
    except IndexUnavailable:
        return None
    outdated = content.get("format") != FORMAT and not described.changed
    return "outdated" if outdated and described.source == source else None


def not_opened(error: Exception, version: Path, fix: str) -> IndexUnavailable:
    """Return the error of a version that could not be opened."""
    number = error.errno if isinstance(error, OSError) else None
    if number in {errno.EMFILE, errno.ENFILE}:
        return IndexUnavailable(
            "index_many_files",
            "The index needs more files open than the system allows.",
            "Allow more open files (ulimit -n).",
        )
    if number in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return IndexUnavailable(
            "index_forbidden",
            f"The index in {version} cannot be opened ({os.strerror(number)}).",
            "Let this user read and write there: what reads an index locks it for a moment.",
        )
    return damaged(fix)


def _read(version: Path) -> tuple[dict[str, Any], Description]:
    """Return the content of a version's ``meta.json``, and what all formats have of it."""
    try:
        content: dict[str, Any] = json.loads((version / META).read_text(encoding="utf-8"))
        return content, Description.read(content)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise index_missing() from error
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise not_opened(error, version, rebuild()) from error


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1


@dataclass(frozen=True, slots=True)
class Parts:
    """The current version and its parts, as paths below the index.

    ``files`` never change. ``databases`` are of SQLite; others may have them open.
    """

    version: str
    files: tuple[str, ...]
    databases: tuple[str, ...]


def parts_of(index: Path) -> Parts:
    """Return the parts of an index whose files are all there.

    Raises:
        IndexUnavailable: there is no index, it is damaged, or of another format.
    """
    version = current_version(index)
    meta = read_meta(index, version)
    inside = version.relative_to(index.resolve()).as_posix()
    return Parts(
        version=inside,
        files=tuple(f"{inside}/{name}" for name in (META, *meta.files)),
        databases=tuple(f"{DATABASES}/{one.name}" for one in meta.stored.values() if one.name),
    )


def make_current(index: Path, version: str) -> None:
    """Make an index of copied parts; ``version`` is that of ``parts_of``.

    Raises:
        IndexUnavailable: they are not whole, or of a format that is not read any more.
        OSError: the folder cannot be written.
    """
    read_meta(index, index / version)
    (index / LOCK).touch()  # it marks the folder as that of an index
    (index / "current").symlink_to(version)
