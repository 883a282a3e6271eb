"""Finds the files of a folder."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from retrieval.corpora.corpus import BadPage
from retrieval.corpora.folder.formats import BY_SUFFIX
from retrieval.fixes import install_corpora_command

_LOCK = "~$"  # what the names of Office's lock files begin with


@dataclass(slots=True)
class FoundFiles:
    """The files of a folder: those that can be read, in order, and what is said of the others.

    ``lacking``: how many files of each suffix cannot be read without a library.
    """

    readable: list[Path] = field(default_factory=list)
    left_out: list[BadPage] = field(default_factory=list)
    lacking: Counter[str] = field(default_factory=Counter)


def find_files(folder: Path) -> FoundFiles:
    """Return the files of a folder and its subfolders with a known suffix.

    Hidden files and folders are skipped, and links to folders are not followed.
    """
    found = FoundFiles()
    inside = folder.resolve()

    def note(error: OSError) -> None:
        found.left_out.append(
            BadPage(
                f"{shown(error.filename)} cannot be read ({error.strerror}).",
                "Check its permissions.",
            )
        )

    for place, folders, names in os.walk(folder, onerror=note):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            path = Path(place, name)
            kind = BY_SUFFIX.get(path.suffix.lower())
            if kind is None or name.startswith((".", _LOCK)) or not path.is_file():
                continue
            if path.is_symlink() and not path.resolve().is_relative_to(inside):
                message = f"{shown(path)} is a link to a file outside of the folder."
                found.left_out.append(BadPage(message, "Copy the file into the folder."))
            elif kind.installed:
                found.readable.append(path)
            else:
                found.lacking[path.suffix.lower()] += 1
    found.readable.sort()
    found.left_out += lacking_libraries(folder, found.lacking)
    return found


def lacking_libraries(folder: Path, lacking: Counter[str]) -> list[BadPage]:
    """Return what is said of the files that cannot be read without a library: one message."""
    if not lacking:
        return []
    files = " and ".join(
        f"{count} {suffix} {'file' if count == 1 else 'files'}"
        for suffix, count in sorted(lacking.items())
    )
    libraries = " and ".join(sorted({BY_SUFFIX[suffix].library for suffix in lacking}))
    are = "is" if " and " not in libraries else "are"
    were = "was" if lacking.total() == 1 else "were"
    return [
        BadPage(
            f"{files} in {shown(folder)} {were} left out, because {libraries} {are} not installed.",
            f"Run: {install_corpora_command()}",
        )
    ]


def shown(path: Path | str) -> str:
    """Return a path as it can be printed; bytes of its name that are not UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
