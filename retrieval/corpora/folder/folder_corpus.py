"""``folder:DIR``: the files of a folder and its subfolders, in the formats of ``document``."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from retrieval.corpora.child_process import ChildProcess
from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import BadPage, Page, bad_id
from retrieval.corpora.folder import reading
from retrieval.corpora.folder.document import (
    BY_SUFFIX,
    FileText,
    Unreadable,
    first_title,
)
from retrieval.corpora.json_lines import fingerprint_of
from retrieval.corpora.passages import passages
from retrieval.errors import BadSource
from retrieval.system.fixes import install_service_command

_LOCK = "~$"  # what the names of Office's lock files begin with
_PAGES = (".html", ".htm")  # beside which browsers save a folder with the parts of the page
_MOST_NAMED = 12  # endings of files that are not read
_CHUNK = 100  # files
_CHUNK_BYTES = 20_000_000  # of files after which a chunk ends
_LITTLE_TEXT = 500_000  # bytes


def _unreadable(path: Path | str, error: OSError) -> BadPage:
    message = f"{shown(path)} cannot be read ({error.strerror})."
    return BadPage(message, "Check its permissions.")


def _of_no_use(folder: Path, unknown: Counter[str], lacking: Counter[str]) -> Iterator[BadPage]:
    """Yield what is said of files that need a library, and of those whose formats are not read."""
    if lacking:
        counts = (f"{count} {suffix} file{'s' * (count > 1)}" for suffix, count in lacking.items())
        files = " and ".join(sorted(counts, key=lambda said: said.split()[1]))
        libraries = sorted({BY_SUFFIX[suffix].library for suffix in lacking})
        why = f"{' and '.join(libraries)} {'is' if len(libraries) == 1 else 'are'} not installed"
        were = "was" if lacking.total() == 1 else "were"
        message = f"{files} in {shown(folder)} {were} left out, because {why}."
        yield BadPage(message, f"Run: {install_service_command()}")
    if total := unknown.total():
        named = unknown.most_common(_MOST_NAMED)
        kinds = [f"{count} {shown(suffix) or 'without an ending'}" for suffix, count in named]
        others = total - sum(count for _, count in named)
        said = ", ".join([*kinds, *([f"{others} others"] if others else [])])
        files, are = ("file", "is") if total == 1 else ("files", "are")
        message = f"{total} {files} in {shown(folder)} {are} of formats that are not read: {said}."
        yield BadPage(message, "Save what they say as PDF, Word or text files.")


def shown(path: Path | str) -> str:
    """Return a path as it can be printed; bytes of its name that are not UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class FolderCorpus:
    """The files of a folder; a file's path below it is its id."""

    language = ""

    def __init__(self, folder: Path, password: str | None = None) -> None:
        """Find the files; ``password`` opens those that are encrypted.

        Raises:
            BadSource: it is not a folder, or contains none that can be read.
        """
        if not folder.is_dir():
            message = f"{folder} is not a folder."
            raise BadSource("source_missing", message, "Give a folder: folder:DIR.")
        self.name = folder.resolve().name
        self.source = f"folder:{folder.resolve()}"
        self._folder, self._password = folder, password
        self._files: list[Path] = []
        self._left_out: list[BadPage] = []
        unknown, lacking = self._find_files()
        kinds = list(_of_no_use(folder, unknown, lacking))
        if kinds:  # one message, and the first, because the first one is what is printed
            said = [f"{each.message} {each.hint}" for each in kinds[:-1]]
            message = " ".join([*said, kinds[-1].message])
            self._left_out.insert(0, BadPage(message, kinds[-1].hint))
        if not self._files and lacking:
            raise BadSource("source_missing", kinds[0].message, kinds[0].hint)
        if not self._files:
            others = f" {kinds[0].message}" if unknown else ""
            message = f"{folder} contains no text, Markdown, HTML, PDF or Word files.{others}"
            hint = f"Give a folder with {', '.join(BY_SUFFIX)} files: folder:DIR."
            raise BadSource("source_missing", message, hint)
        self.date = max(map(_modified, self._files))

    def _find_files(self) -> tuple[Counter[str], Counter[str]]:
        """Find the files; count by suffix those of unknown formats, and those without a library.

        Hidden files and folders are skipped, and the parts of saved web pages ("NAME_files" beside
        "NAME.html"); links to folders are not followed.
        """
        unknown, lacking = Counter[str](), Counter[str]()
        inside = self._folder.resolve()

        def note(error: OSError) -> None:
            self._left_out.append(_unreadable(error.filename, error))

        for place, folders, names in os.walk(self._folder, onerror=note):
            parts = {f"{Path(name).stem}_files" for name in names if name.lower().endswith(_PAGES)}
            folders[:] = sorted(n for n in folders if not n.startswith(".") and n not in parts)
            for name in names:
                path = Path(place, name)
                suffix = path.suffix.lower()
                if name.startswith((".", _LOCK)) or not path.is_file():
                    continue
                if suffix not in BY_SUFFIX:
                    unknown[suffix] += 1
                elif path.is_symlink() and not path.resolve().is_relative_to(inside):
                    message = f"{shown(path)} is a link to a file outside of the folder."
                    self._left_out.append(BadPage(message, "Copy the file into the folder."))
                elif BY_SUFFIX[suffix].installed:
                    self._files.append(path)
                else:
                    lacking[suffix] += 1
        self._files.sort()
        return unknown, lacking

    def fingerprint(self) -> str:
        """Return a digest of the files' names and contents."""
        return fingerprint_of([(str(p.relative_to(self._folder)), p) for p in self._files])

    def size(self) -> int:
        """Return how many files there are."""
        return len(self._files)

    def chunks(self) -> Iterator[tuple[FolderChunk | tuple[BadPage, ...], int]]:
        """Yield the files in order of their paths, and before them what is said of the others."""
        if self._left_out:
            yield tuple(self._left_out), 0
        held: list[Path] = []
        size = 0
        for path in self._files:
            held.append(path)
            size += path.stat().st_size if path.exists() else 0  # one that is gone says so later
            if len(held) == _CHUNK or size > _CHUNK_BYTES or path is self._files[-1]:
                yield FolderChunk(self._folder, tuple(held), self._password), len(held)
                held, size = [], 0


@dataclass(frozen=True, slots=True)
class FolderChunk:
    """Some files below a folder, and the password of those that are encrypted."""

    folder: Path
    paths: tuple[Path, ...]
    password: str | None = field(default=None, repr=False)

    def __iter__(self) -> Iterator[Page | BadPage]:
        """Yield the pages of each file: one, or the passages of a long document."""
        with ChildProcess(reading.__name__) as child:
            for path in self.paths:
                try:
                    document = _read(path, child, self.password)
                except Unreadable as error:
                    yield BadPage(f"{shown(path)}: {error.message}", error.hint)
                except OSError as error:
                    yield _unreadable(path, error)
                else:
                    yield from self._pages(path, document)

    def _pages(self, path: Path, document: FileText) -> Iterator[Page | BadPage]:
        page_id = id_of(path.relative_to(self.folder).as_posix())
        if bad := bad_id(page_id, shown(path)):
            yield bad
            return
        title = first_title(document.title) or clean(path.stem) or page_id
        for page in passages(page_id, title, document.url, document.blocks):
            number = page.passage.page if page.passage else None
            place = [page_id, *([] if number is None else [f"page {number}"])]
            day = page.date or document.day
            said = f"as of {day}" if day else f"modified on {_modified(path)}"
            yield replace(page, source=", ".join([*place, said]), date=day)
        for part in document.unread:
            yield BadPage(f"{shown(path)}, {part.where}: {part.message}", part.hint)


def _read(path: Path, child: ChildProcess, password: str | None) -> FileText:
    kind = BY_SUFFIX[path.suffix.lower()]
    size = path.stat().st_size
    if size == 0:
        raise Unreadable("the file is empty.", "Remove it, or fetch it again.")
    if size > kind.largest:
        most = f"at most {kind.largest / 1e6:,.0f} MB are read of {path.suffix.lower()} files."
        raise Unreadable(f"the file has {size / 1e6:,.1f} MB; {most}", reading.DIVIDE)
    # Little text is read in no time, without the cost of a process that can be ended.
    here = not kind.library and size <= _LITTLE_TEXT
    document = kind.reader()(path) if here else reading.read_file(child, path, kind, password)
    said = (document.title, *(block.text for block in document.blocks))
    if not any(any(map(str.isalnum, text)) for text in said):
        raise Unreadable("the file has no text.", "If it holds pictures of text, run OCR first.")
    return document


def id_of(path: str) -> str:
    """Return a path in NFC, with all its spaces, which may tell two files apart."""
    return "/".join(
        " ".join(clean(part) for part in re.split(r"\s", name)) for name in path.split("/")
    )


def _modified(path: Path) -> str:
    """Return the day on which a file was last modified, ISO 8601 in UTC; "" if it is gone."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
    except OSError:  # reading it says so
        return ""
