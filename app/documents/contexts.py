"""The data that the templates of corpora and their files get: one dataclass per page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from app.contexts import Corpus
from app.filters import Badge
from retrieval.errors import Problem
from worker.jobs import Shared


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """A corpus beside the default one; ``files``: how many it has.

    ``works``: its files are being indexed, or wait for that.
    """

    name: str
    title: str
    badge: Badge
    files: int
    text_date: str
    searchable: bool
    works: bool


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of a corpus: its size and what was found in it, both in words."""

    name: str
    size: str
    state: str
    problems: tuple[str, ...]
    read: bool


@dataclass(frozen=True, slots=True)
class DocumentsPage:
    """The corpora, and the form for another one; ``title`` was typed there.

    ``why_not``: why who asks may not change documents, ``None`` if they may. ``folders``: those
    that may become corpora and are none. ``most_bytes``: of an upload. ``accepted``: the endings of
    files as a browser wants them.
    """

    template: ClassVar[str] = "documents.html"
    default: Corpus | None
    corpora: tuple[CorpusRow, ...]
    why_not: Problem | None
    folders: tuple[str, ...]
    title: str
    problem: Problem | None
    most_bytes: int
    longest_title: int
    accepted: str


@dataclass(frozen=True, slots=True)
class CorpusPage:
    """A corpus with its files.

    ``shared``: with whom (worker/sharing.py).
    ``progress``: how far its indexing is, in words; ``done`` of ``total``, ``None`` where that is
    not known. ``waiting``: why no worker indexes it. ``failed``: why its indexing failed.
    ``left_out``: files of the last upload that were not taken. ``lists``: how many lists that have
    not ended are checked against it. ``problem``: why a change was
    refused. The others are as in ``DocumentsPage``.
    """

    template: ClassVar[str] = "corpus.html"
    corpus: CorpusRow
    shared: Shared | None
    files: tuple[FileRow, ...]
    files_may_change: bool
    may_change: bool
    folder: str | None
    progress: str
    done: int | None
    total: int
    waiting: Problem | None
    failed: Problem | None
    left_out: tuple[str, ...]
    lists: int
    problem: Problem | None
    most_bytes: int
    longest_title: int
    accepted: str
