"""The parts of an embedded index that a copy of it needs, and how they become an index again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from retrieval.index.embedded.layout import DATABASES, LOCK, META, current_version
from retrieval.index.embedded.meta import read_meta


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
