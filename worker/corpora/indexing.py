"""Indexes the files of one corpus, in a process of its own: ``main(NAME)``.

So claims are checked meanwhile, its memory is freed, and a file that kills it ends no worker. It
ends with the process that started it, and continues what an earlier one has done.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from retrieval.corpora.corpus import BadPage, Chunk, Page
from retrieval.corpora.folder.folder_corpus import FolderCorpus, shown
from retrieval.errors import BadSource, EsotericError, IndexUnavailable, Problem
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.index.interface import BuildProgress
from retrieval.index.open import open_index
from retrieval.models import runtime
from retrieval.models.document_encoders import DOCUMENT_ENCODERS, default_choice, encoder_of
from retrieval.models.encoders import DocumentEncoder
from retrieval.system.processes import end_this_process_when_closed
from settings import Settings
from worker.corpora.builder import IndexingStore
from worker.corpora.corpus_folders import FileReport, Indexing
from worker.corpora.errors import UnknownCorpus
from worker.logs import log_as_json, now_about, start_logging
from worker.reports import InternalError

_NICENESS = 10  # claims come first
_WRITE_SECONDS = 0.3  # between two reports
# What a message names of a file.
_PARTS = ("page ", "row", "sheet", "slide", "chart", "picture", "hidden", "attachment")
_MOST_PROBLEMS = 5  # that are listed for a file
_AGAIN = "Then choose “Index again”."


def main(name: str) -> None:
    """Index the corpus of this name with the settings of the environment."""
    end_this_process_when_closed(sys.stdin.fileno())
    os.nice(_NICENESS)
    start_logging()
    settings = Settings.from_environment()
    if settings.log_json:
        log_as_json()
    now_about(corpus=name)
    runtime.keep_in(settings.model_folders.networks)
    store = IndexingStore(settings.documents, settings.folders)
    index_corpus(store, name, lambda: default_encoder(settings))


def index_corpus(
    store: IndexingStore, name: str, encoder: Callable[[], DocumentEncoder | None]
) -> None:
    """Bring the index of a corpus to its files; what goes wrong is written into its report."""
    try:
        _index(store, name, encoder)
    except UnknownCorpus:
        # Its folder may have been made again for a file of the index.
        if not (store.index(name).parent / "corpus.json").exists():
            shutil.rmtree(store.index(name).parent, ignore_errors=True)


def default_encoder(settings: Settings) -> DocumentEncoder | None:
    """Return the encoder of the default corpus, so that both can be searched together."""
    folders = settings.model_folders
    try:
        known = open_index(settings.store, settings.snapshots).open(None).info().encoder
    except IndexUnavailable:
        return DOCUMENT_ENCODERS[default_choice(folders)](folders)
    return encoder_of(known, folders)


def _index(store: IndexingStore, name: str, encoder: Callable[[], DocumentEncoder | None]) -> None:
    # A change writes its mark before its files; while it is held, it is over.
    with store.holding(name) as corpus:
        pass
    report = _Report(store, name, corpus.wanted)
    try:
        folder = store.files(name)
        files = FolderCorpus(folder)

        def build(index: EmbeddedIndex) -> None:
            report.begin(folder, files.size())
            index.build(_Heard(name, files, report.hear), encoder(), report.progress)
            index.prune()

        index = EmbeddedIndex(store.index(name))
        build(index)
        if corpus.folder is None and index.has_removed():
            # What a user has deleted is found no more; now its text leaves the disk too.
            build(EmbeddedIndex(store.index(name), anew=True))
    except BadSource as error:
        store.corpus(name)
        if corpus.folder is None or store.files(name).is_dir():  # not one that is not mounted now
            store.drop_index(name)
        files_there = store.stored_files(name, store.corpus(name), store.indexing(name))
        report.failed(_without_text(error, empty=not files_there))
    except EsotericError as error:
        store.corpus(name)
        if error.code == "disk_full":  # what it has made makes room for the report
            with suppress(EsotericError, OSError):
                EmbeddedIndex(store.index(name)).prune()
        report.failed(_in_words_of_pages(error))
    except Exception as error:
        store.corpus(name)
        report.failed(InternalError("The files could not be indexed.").problem)
        raise error
    else:
        report.done()


@dataclass(frozen=True, slots=True)
class _HeardChunk:
    """A chunk that says of each page that it was read."""

    chunk: Chunk
    hear: Callable[[Page | BadPage], None]

    def __iter__(self) -> Iterator[Page | BadPage]:
        for page in self.chunk:
            self.hear(page)
            yield page


class _Heard:
    """The files of a corpus, which says of each page that it was read; for one process."""

    language = ""

    def __init__(
        self, name: str, files: FolderCorpus, hear: Callable[[Page | BadPage], None]
    ) -> None:
        self.name, self.source, self.date = name, files.source, files.date
        self._files = files
        self._hear = hear
        self.fingerprint, self.size = files.fingerprint, files.size

    def chunks(self) -> Iterator[tuple[Chunk, int]]:
        for chunk, size in self._files.chunks():
            yield _HeardChunk(chunk, self._hear), size


class _Report:
    """What is written about an indexing while it goes on."""

    def __init__(self, store: IndexingStore, name: str, wanted: str) -> None:
        self._store, self._name = store, name
        known = store.indexing(name)
        # What an earlier process has read is not read again.
        same = known is not None and known.of == wanted and known.step in ("reading", "encoding")
        self._now = known if same and known is not None else Indexing(of=wanted)
        self._files = dict(self._now.files)
        self._heard: set[str] = set()
        self._prefix = ""
        self._next = 0.0

    def begin(self, folder: Path, files: int) -> None:
        self._heard.clear()
        self._prefix = f"{shown(folder)}/"
        self._write(step="reading", done=len(self._files), total=files)

    def hear(self, page: Page | BadPage) -> None:
        """Count a page for its file, or keep what is wrong with it."""
        if isinstance(page, Page):
            file = page.passage.document if page.passage else page.id
            known = self._known(file)
            self._files[file] = known.model_copy(update={"passages": known.passages + 1})
        else:
            file, problem = self._named_in(page)
            known = self._known(file)
            problems = (*known.problems, problem)[:_MOST_PROBLEMS]
            self._files[file] = known.model_copy(update={"problems": problems})
        if time.monotonic() >= self._next:
            self._write(step="reading", done=len(self._files))

    def _known(self, file: str) -> FileReport:
        """Return what this process knows of a file; an earlier one may have read half of it."""
        first = file not in self._heard
        self._heard.add(file)
        return FileReport() if first else self._files[file]

    def progress(self, progress: BuildProgress) -> None:
        if progress.step == "encoding" and time.monotonic() >= self._next:
            self._write(step="encoding", done=progress.done, total=progress.of)

    def done(self) -> None:
        self._write(step="done", problem=None)

    def failed(self, problem: Problem) -> None:
        self._write(step="failed", problem=problem)

    def _write(self, **changes: object) -> None:
        self._next = time.monotonic() + _WRITE_SECONDS
        self._now = self._now.model_copy(update={**changes, "files": dict(self._files)})
        self._store.report(self._name, self._now)

    def _named_in(self, page: BadPage) -> tuple[str, str]:
        """Return the file that a message begins with, "" if it names none, and what it says."""
        hint = page.hint
        if "--password" in hint:
            hint = "Save it without a password, and upload it again."
        said = page.message.removeprefix(self._prefix)
        file, colon, rest = said.partition(": ")
        if said == page.message or not colon:
            return "", f"{page.message.replace(self._prefix, '')} {hint}"
        # "report.pdf, page 2: ..." is about a part of the file.
        whole, comma, part = file.rpartition(", ")
        if comma and part.startswith(_PARTS):
            return whole, f"{part[0].upper()}{part[1:]}: {rest} {hint}"
        return file, f"{rest[0].upper()}{rest[1:]} {hint}"


def _without_text(error: BadSource, empty: bool) -> Problem:
    if empty:
        return Problem("no_files", "There are no files to index.", "Upload some.")
    if error.code == "source_missing":
        return error.problem
    return Problem(
        "no_text",
        "None of the files has text that can be read, so nothing of them is searched.",
        "The list of files says what is wrong with each. Replace them.",
    )


def _in_words_of_pages(error: EsotericError) -> Problem:
    """Return an error with a hint for who reads a page, which has no command line."""
    if error.code == "disk_full":
        hint = f"Free some space on the disk of this service. {_AGAIN}"
        return Problem(error.code, error.message, hint)
    return Problem(error.code, error.message, f"{error.hint} {_AGAIN}")
