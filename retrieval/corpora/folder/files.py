"""Finds the files of a folder."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from retrieval.corpora.corpus import BadPage
from retrieval.corpora.folder.formats import BY_SUFFIX
from retrieval.system.fixes import install_service_command

_LOCK = "~$"  # what the names of Office's lock files begin with
_PAGES = (".html", ".htm")  # beside which browsers save a folder with the parts of the page
_MOST_NAMED = 12  # endings of files that are not read


@dataclass(slots=True)
class FoundFiles:
    """The files of a folder: those that can be read, in order, and what is said of the others.

    ``unknown``: how many files of each ending are of formats that are not read. ``lacking``: how
    many files of each suffix cannot be read without a library.
    """

    readable: list[Path] = field(default_factory=list)
    left_out: list[BadPage] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    lacking: Counter[str] = field(default_factory=Counter)


def find_files(folder: Path) -> FoundFiles:
    """Return the files of a folder and its subfolders with a known suffix.

    Hidden files and folders are skipped, and the parts of saved web pages ("NAME_files" beside
    "NAME.html"); links to folders are not followed.
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
        parts = {f"{Path(name).stem}_files" for name in names if name.lower().endswith(_PAGES)}
        folders[:] = sorted(n for n in folders if not n.startswith(".") and n not in parts)
        for name in names:
            path = Path(place, name)
            kind = BY_SUFFIX.get(path.suffix.lower())
            if name.startswith((".", _LOCK)) or not path.is_file():
                continue
            if kind is None:
                found.unknown[path.suffix.lower()] += 1
            elif path.is_symlink() and not path.resolve().is_relative_to(inside):
                message = f"{shown(path)} is a link to a file outside of the folder."
                found.left_out.append(BadPage(message, "Copy the file into the folder."))
            elif kind.installed:
                found.readable.append(path)
            else:
                found.lacking[path.suffix.lower()] += 1
    found.readable.sort()
    kinds = [*lacking_libraries(folder, found.lacking), *_unknown_formats(folder, found.unknown)]
    if kinds:  # one message, and the first, because the first one is what is printed
        said = [f"{each.message} {each.hint}" for each in kinds[:-1]]
        found.left_out.insert(0, BadPage(" ".join([*said, kinds[-1].message]), kinds[-1].hint))
    return found


def _unknown_formats(folder: Path, unknown: Counter[str]) -> list[BadPage]:
    """Return what is said of the files of formats that are not read: one message."""
    if not unknown:
        return []
    named = unknown.most_common(_MOST_NAMED)
    counts = [f"{count} {shown(suffix) or 'without an ending'}" for suffix, count in named]
    others = unknown.total() - sum(count for _, count in named)
    counts += [f"{others} others"] if others else []
    files, are = ("file", "is") if unknown.total() == 1 else ("files", "are")
    return [
        BadPage(
            f"{unknown.total()} {files} in {shown(folder)} {are} of formats that are not read:"
            f" {', '.join(counts)}.",
            "Save what they say as PDF, Word or text files.",
        )
    ]


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
            f"Run: {install_service_command()}",
        )
    ]


def shown(path: Path | str) -> str:
    """Return a path as it can be printed; bytes of its name that are not UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
