"""The corpora beside the default one, for pages and commands: list, make, change, remove."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias

from retrieval.errors import IndexUnavailable, Problem
from retrieval.index.open import description_of
from retrieval.sources.address import SourceAddress, given_source
from retrieval.system.files import digest_of, make_private_folder
from retrieval.text.word_forms import nfkd
from retrieval.types import DEFAULT_CORPUS
from worker.corpora.corpus_folders import (
    CORPUS,
    DIGESTS,
    FILES,
    Corpus,
    CorpusFolders,
    Digests,
    Indexing,
    StoredFile,
    new_mark,
    read,
    write,
)
from worker.corpora.errors import CorpusNotReady, CorpusRefused, UnknownCorpus
from worker.jobs import Shared
from worker.sharing import shared_at_first

State: TypeAlias = Literal["empty", "waiting", "indexing", "ready", "failed"]
LONGEST_TITLE = 80
_LONGEST_NAME = 40  # of its part that comes from the title
_MOST_CHOSEN = 10
_LONGEST_PATH = 1000  # bytes of the name of a file with its folders; systems allow about 4,000


@dataclass(frozen=True, slots=True)
class Choice:
    """A corpus that can be searched; ``text_date``: the day of its newest text, "" if unknown."""

    name: str
    title: str
    documents: int
    text_date: str


@dataclass(frozen=True, slots=True)
class StoredCorpus:
    """A corpus with its files, in order of their names.

    ``indexing``: how far it is, ``None`` if it has not begun. ``documents``, ``built_at`` and
    ``text_date`` are those of its index; ``searchable``: whether there is one. It may be of the
    files before the last change.
    """

    name: str
    title: str
    made_at: datetime
    folder: str | None
    state: State
    files: tuple[StoredFile, ...]
    indexing: Indexing | None
    left_out: tuple[str, ...]
    searchable: bool
    documents: int
    built_at: str
    text_date: str
    owner: str | None
    shared: Shared | None

    @property
    def problem(self) -> Problem | None:
        """Why its indexing failed."""
        return self.indexing.problem if self.indexing and self.state == "failed" else None


class CorpusStore(CorpusFolders):
    """Every method that changes something may raise ``CorpusNotWritten``."""

    def all(self) -> list[StoredCorpus]:
        """Return all corpora, in order of their titles."""
        found = []
        for name in self.names():
            try:
                found.append(self.get(name))
            except UnknownCorpus:  # removed meanwhile
                continue
        return sorted(found, key=lambda one: (one.title.casefold(), one.name))

    def choices(self) -> list[Choice]:
        """Return the corpora that can be searched, in order of their titles; reads no files."""
        found = []
        for name in self.names():
            try:
                title, index = self.searchable(name)
                described = description_of(index)
            except (UnknownCorpus, CorpusNotReady, IndexUnavailable):
                continue
            found.append(Choice(name, title, described.documents, described.date))
        return sorted(found, key=lambda one: (one.title.casefold(), one.name))

    def get(self, name: str) -> StoredCorpus:
        """Return a corpus.

        Raises:
            UnknownCorpus: there is none of this name.
        """
        corpus = self.corpus(name)
        indexing = self.indexing(name)
        of_now = indexing if indexing and indexing.of == corpus.wanted else None
        files = self.stored_files(name, corpus, indexing)
        try:
            index = description_of(self.index(name))
        except IndexUnavailable:
            index = None
        return StoredCorpus(
            name=name,
            title=corpus.title,
            made_at=corpus.made_at,
            folder=corpus.folder,
            state=_state(of_now, bool(files) or corpus.folder is not None),
            files=files,
            indexing=of_now,
            left_out=corpus.left_out,
            searchable=index is not None,
            documents=index.documents if index else 0,
            built_at=index.built_at if index else "",
            text_date=index.date if index else "",
            owner=corpus.owner,
            shared=corpus.shared,
        )

    def before(self, name: str) -> int:
        """Return how many other corpora are indexed before one that waits."""
        waiting = self.to_index()
        return waiting.index(name) if name in waiting else 0

    def make(self, title: str, folder: str | None = None, owner: str | None = None) -> str:
        """Make a corpus and return its name; without ``folder`` it has no files yet.

        ``owner``: who makes it.

        Raises:
            CorpusRefused: the title is empty, too long or taken, or the folder may not be searched.
        """
        title = self._fit(title)
        if folder is not None and folder not in self.folders:
            raise CorpusRefused(
                "folder_not_allowed",
                f"The folder “{folder[:80]}” is not among those that may be searched.",
                "Choose one of those that the operator named in ESOTERIC_FOLDERS.",
            )
        name = f"{_slug(title)}-{secrets.token_hex(3)}"
        corpus = Corpus(
            title=title,
            made_at=_now(),
            folder=folder,
            wanted=new_mark(),
            owner=owner,
            shared=shared_at_first(owner),
        )
        with self.writing():
            make_private_folder(self.place(name))
            write(self.place(name) / CORPUS, corpus)
        return name

    def rename(self, name: str, title: str) -> None:
        """Give a corpus another title.

        Raises:
            UnknownCorpus: there is none of this name.
            CorpusRefused: the title is empty, too long or taken.
        """
        title = self._fit(title, besides=name)
        with self._changing(name) as corpus:
            write(self.place(name) / CORPUS, corpus.model_copy(update={"title": title}))

    def share(self, name: str, shared: Shared) -> None:
        """Let a group or everyone see and search a corpus, or nobody but its owner and operators.

        Raises:
            UnknownCorpus: there is none of this name.
        """
        with self._changing(name) as corpus:
            write(self.place(name) / CORPUS, corpus.model_copy(update={"shared": shared}))

    def add(self, name: str, files: Sequence[tuple[str, Path]], left_out: Sequence[str]) -> None:
        """Move files into a corpus, each under its name; one replaces another of its name.

        ``left_out``: what is said of those that were not taken.

        Raises:
            UnknownCorpus: there is none of this name.
            CorpusRefused: it is of a folder, a name is too long, or a file has the name of a folder
                of another.
        """
        with self._changing(name) as corpus:
            self._refuse_folder(corpus)
            inside = self.place(name) / FILES
            _refuse_names([PurePosixPath(file) for file, _ in files], inside)
            # All folders first: if the disk is full, no file was moved yet.
            for file, _ in files:
                (inside / file).parent.mkdir(parents=True, exist_ok=True)
            # Then the mark: if a file cannot be moved, the corpus is only indexed once more.
            self._want(name, corpus, left_out)
            digests = self._digests(name) | {file: digest_of(content) for file, content in files}
            write(self.place(name) / DIGESTS, Digests(files=digests))
            for file, content in files:
                content.replace(inside / file)

    def remove_file(self, name: str, file: str) -> None:
        """Remove a file from a corpus.

        Raises:
            UnknownCorpus: there is none of this name.
            CorpusRefused: it has no such file, or is of a folder.
        """
        with self._changing(name) as corpus:
            self._refuse_folder(corpus)
            inside = (self.place(name) / FILES).resolve()
            target = (inside / file.replace("\0", "")).resolve()
            if not target.is_relative_to(inside) or not target.is_file():
                raise CorpusRefused(
                    "unknown_file",
                    f"“{corpus.title}” has no file named “{file[:120]}”.",
                    "It may have been removed. Look at the list of its files.",
                )
            self._want(name, corpus, ())
            digests = self._digests(name)
            digests.pop(target.relative_to(inside).as_posix(), None)
            target.unlink()
            write(self.place(name) / DIGESTS, Digests(files=digests))

    def check_files(self, name: str, everything: bool) -> tuple[int, list[str]]:
        """Return how many files were uploaded, and which are not as they were then.

        ``everything``: read them too, and compare their digests; what was uploaded before these
        were kept gets one now. Otherwise only files that are missing are found.

        Raises:
            UnknownCorpus: there is none of this name.
            OSError: a file cannot be read.
        """
        files = [one.name for one in self.stored_files(name, self.corpus(name))]
        known, inside = self._digests(name), self.place(name) / FILES
        # Without the lock, as it may take long; what seems wrong is looked at again with it.
        suspects = {one for one in known if one not in files}
        if everything:
            found = {one: digest_of(inside / one) for one in files if (inside / one).is_file()}
            suspects |= {one for one in found if known.get(one) != found[one]}
        if not suspects:
            return len(files), []
        with self._changing(name):
            known, wrong, new = self._digests(name), [], dict[str, str]()
            for one in sorted(suspects):
                there = (inside / one).is_file()
                if not there and one in known:
                    wrong.append(one)
                elif there and everything:
                    digest = digest_of(inside / one)
                    if known.get(one, digest) != digest:
                        wrong.append(one)
                    elif one not in known:
                        new[one] = digest
            if new:
                write(self.place(name) / DIGESTS, Digests(files=known | new))
        return len({*files, *known}), wrong

    def _digests(self, name: str) -> dict[str, str]:
        kept = read(self.place(name) / DIGESTS, Digests)
        return dict(kept.files) if kept is not None else {}

    def index_again(self, name: str) -> None:
        """Let a worker index all files of a corpus again.

        Raises:
            UnknownCorpus: there is none of this name.
        """
        with self._changing(name) as corpus:
            self._want(name, corpus, ())

    def remove(self, name: str) -> None:
        """Remove a corpus with its files and its index; what has opened it may still read it.

        Raises:
            UnknownCorpus: there is none of this name.
        """
        with self._changing(name):
            gone = self.root / f".gone-{name}-{secrets.token_hex(4)}"
            self.place(name).rename(gone)
        shutil.rmtree(gone, ignore_errors=True)

    @contextmanager
    def receiving(self) -> Iterator[Path]:
        """Yield a new folder for files that are being uploaded; it is removed afterwards."""
        place = self.root / f".incoming-{secrets.token_hex(8)}"
        with self.writing():
            make_private_folder(place)
            try:
                yield place
            finally:
                shutil.rmtree(place, ignore_errors=True)

    def _want(self, name: str, corpus: Corpus, left_out: Sequence[str]) -> None:
        changed: dict[str, object] = {"wanted": new_mark(), "left_out": tuple(left_out)}
        known = self.indexing(name)
        begun = known is not None and known.of == corpus.wanted
        if begun or not self.waits(name):  # one that only waits keeps its place
            changed["wanted_at"] = datetime.now(UTC)
        write(self.place(name) / CORPUS, corpus.model_copy(update=changed))

    def _fit(self, title: str, besides: str = "") -> str:
        """Return the title as it is stored; raises ``CorpusRefused`` if it cannot be."""
        plain = " ".join("".join(c for c in title if c.isprintable() or c.isspace()).split())
        if not plain or len(plain) > LONGEST_TITLE:
            raise CorpusRefused(
                "bad_title",
                "The corpus needs a title." if not plain else "The title is too long.",
                f"Write one of 1 to {LONGEST_TITLE} characters.",
            )
        names = [one for one in self.names() if one != besides]
        others = [read(self.place(one) / CORPUS, Corpus) for one in names]
        taken = {DEFAULT_CORPUS, *names, *(one.title.casefold() for one in others if one)}
        if plain.casefold() in taken:
            raise CorpusRefused(
                "title_taken",
                f"There is a corpus with the name or title “{plain}” already.",
                "Choose another title, or add the files to that corpus.",
            )
        return plain

    def _refuse_folder(self, corpus: Corpus) -> None:
        if corpus.folder is not None:
            raise CorpusRefused(
                "corpus_of_folder",
                f"The files of “{corpus.title}” are those of a folder, which is not changed here.",
                "Change them there, and choose “Index again”.",
            )

    @contextmanager
    def _changing(self, name: str) -> Iterator[Corpus]:
        with self.writing(), self.holding(name) as corpus:
            yield corpus


def _refuse_names(files: Sequence[PurePosixPath], inside: Path) -> None:
    """Refuse files that cannot be stored in a folder, beside each other and those that are there.

    Raises:
        CorpusRefused: a name is too long, or a file has the name of a folder of another.
    """
    for file in files:
        if len(str(file).encode()) > _LONGEST_PATH:
            raise CorpusRefused(
                "path_too_long",
                f"“{str(file)[:80]}…” cannot be stored: its name with its folders is too long.",
                f"Give it a name of at most {_LONGEST_PATH:,} bytes, or fewer folders.",
            )
    folders = {parent for file in files for parent in file.parents}
    for file in files:
        below_file = any((inside / parent).is_file() for parent in file.parents)
        if file in folders or (inside / file).is_dir() or below_file:
            raise CorpusRefused(
                "name_taken",
                f"“{file}” cannot be stored: a file and a folder would have one name.",
                "Rename one of them.",
            )


def _state(indexing: Indexing | None, has_files: bool) -> State:
    if not has_files:
        return "empty"
    if indexing is None:
        return "waiting"
    if indexing.step == "done":
        return "ready"
    return "failed" if indexing.step == "failed" else "indexing"


def _slug(title: str) -> str:
    plain = nfkd(title).encode("ascii", "ignore").decode().casefold()
    words = "-".join(re.findall(r"[a-z0-9]+", plain))
    return words[:_LONGEST_NAME].strip("-") or "corpus"


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def chosen_corpora(
    store: CorpusStore,
    names: Collection[str],
    is_default: Callable[[str], bool],
    sources: Mapping[str, SourceAddress],
) -> tuple[str, ...] | None:
    """Return the names of the corpora that a claim is checked against, in one order for each set.

    ``None``: the default corpus: no name was given, or only names for which ``is_default`` is true.
    ``sources``: those that are searched where they are.

    Raises:
        UnknownCorpus: a name has no corpus.
        CorpusNotReady: one of them cannot be searched yet.
        CorpusRefused: there are too many, or the day of a source is none.
    """
    own = sorted({name for name in names if not is_default(name)})
    if not own:
        return None
    if len(own) > _MOST_CHOSEN:
        raise CorpusRefused(
            "many_corpora", f"At most {_MOST_CHOSEN} corpora are searched at once.", "Choose fewer."
        )
    for name in own:
        if source_of(name, sources) is None:
            store.searchable(name)
    return (DEFAULT_CORPUS, *own) if len(own) < len(set(names)) else tuple(own)


def source_of(name: str, sources: Mapping[str, SourceAddress]) -> SourceAddress | None:
    """Return the source of this name, perhaps with ``@DAY``; ``None`` if it is none of ``sources``.

    Raises:
        CorpusRefused: the day cannot be used.
    """
    try:
        return given_source(name, sources)
    except ValueError as error:
        raise CorpusRefused("bad_day", str(error), "Correct the day, or leave it out.") from error
