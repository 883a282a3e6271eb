"""``meta.json``, the description of a version of an embedded index: read and written only here.

Nothing heavy is imported: the web process and ``esoteric up`` read it too.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from retrieval.errors import IndexUnavailable
from retrieval.index.embedded.layout import DATABASES, DOCUMENTS, META, VECTORS, current_version
from retrieval.index.errors import damaged, index_missing, rebuild
from retrieval.index.formats.description import Description
from retrieval.system.files import write_whole

FORMAT = 7


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
        made_by: the name of the work that made it (``building.Work``).
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


def read_description(index: Path) -> Description:
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
