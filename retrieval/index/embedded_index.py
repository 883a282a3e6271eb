"""Builds an embedded index and changes it: resumable after a kill, swapped in when complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from retrieval.corpora.corpus import BadPage, Chunk, Corpus
from retrieval.encoders.encoder import Encoder
from retrieval.errors import BadSource
from retrieval.index.building import building_place
from retrieval.index.embedded_store import EmbeddedStore
from retrieval.index.files import write_whole
from retrieval.index.new_version import NewVersion
from retrieval.index.on_all_cores import in_order
from retrieval.index.parts import Part, part_of, read_part, texts_of
from retrieval.index.segment_writer import write_segment
from retrieval.index.store import IndexInfo
from retrieval.index.versions import FORMAT, current_version


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """``done`` of ``of`` is read, in the corpus's unit, and held ``documents``."""

    done: int
    of: int
    documents: int


@dataclass(frozen=True, slots=True)
class Build:
    """How an index is built.

    Attributes:
        folder: where it lies.
        encoder: what makes the vectors.
        processes: how many read, split and encode.
        on_progress: is told after each chunk of the corpus.
    """

    folder: Path
    encoder: Encoder
    processes: int
    on_progress: Callable[[BuildProgress], None]


def build_index(corpus: Corpus, build: Build) -> IndexInfo:
    """Build an index of the corpus and make it the current one.

    Interrupted, a build of the same source goes on behind the chunks that were done.
    Pages that cannot be read are left out and listed; of several with one id the last
    is kept.

    Raises:
        BadSource: a file cannot be read, or there is no page that can.
        IndexNotBuilt: the disk is full or read-only, another build runs, or
            the folder holds something that is no index.
        ModelUnavailable: the encoder or the splitter cannot be loaded.
    """
    with building_place(build.folder, _plan(corpus, build.encoder)) as building:
        new = NewVersion.empty(building, corpus.name, corpus.source, build.encoder.name)
        _add_segment(new, corpus, build, building)
        new.publish()
    return EmbeddedStore.open(build.folder, build.encoder.name).info()


def add_to_index(corpus: Corpus, build: Build) -> IndexInfo:
    """Add the corpus's pages to the current index; a page takes the place of one with its id.

    Raises what ``build_index`` raises, and ``IndexUnavailable``: there is no index to add to.
    """
    before = EmbeddedStore.open(build.folder, build.encoder.name)
    plan = _plan(corpus, build.encoder) | {"added to": before.info().checksum}
    with building_place(build.folder, plan) as building:
        new = NewVersion.of(building, current_version(build.folder))
        _add_segment(new, corpus, build, building)
        new.publish()
    return EmbeddedStore.open(build.folder, build.encoder.name).info()


def remove_from_index(ids: Sequence[str], folder: Path, encoder: str) -> IndexInfo:
    """Take the documents with these ids out of the current index, all of them or none.

    Raises:
        BadSource: an id is none of the index.
        IndexNotBuilt: see ``build_index``.
        IndexUnavailable: there is no index, or it cannot be used.
    """
    wanted = list(dict.fromkeys(ids))
    store = EmbeddedStore.open(folder, encoder)
    if unknown := [document_id for document_id in wanted if store.find(document_id) is None]:
        raise BadSource(
            "unknown_document",
            f"The index holds no document with the id {unknown[0]!r}; nothing was removed.",
            "Leave it out.",
        )
    with building_place(folder, {"format": FORMAT, "without": wanted}) as building:
        new = NewVersion.of(building, current_version(folder))
        new.remove(wanted)
        new.publish()
    return EmbeddedStore.open(folder, encoder).info()


def _plan(corpus: Corpus, encoder: Encoder) -> dict[str, object]:
    return {
        "format": FORMAT,
        "source": corpus.source,
        "fingerprint": corpus.fingerprint(),
        "encoder": encoder.name,
    }


def _add_segment(new: NewVersion, corpus: Corpus, build: Build, building: Path) -> None:
    """Add the corpus's pages as a segment."""
    paths: list[Path] = []
    read = documents = 0
    build.on_progress(BuildProgress(0, corpus.size(), 0))
    for path, texts, size in _prepared(corpus, build, building):
        new.lexical.add(texts, len(new) + documents)
        paths.append(path)
        read += size
        documents += len(texts)
        build.on_progress(BuildProgress(read, corpus.size(), documents))
    bad: list[BadPage] = []
    parts = _read(paths, bad)
    if not documents:
        raise _empty(corpus.source, [page for part in parts for page in part.unreadable()])
    made = building / "segment"
    made.mkdir()
    new.add(made, write_segment(made, parts, build.encoder.dimension), bad)


def _read(paths: Sequence[Path], bad: list[BadPage]) -> Iterator[Part]:
    """Yield the parts one by one, adding to ``bad`` what could not be read."""
    for path in paths:
        part = read_part(path)
        bad += part.unreadable()
        yield part


def _empty(source: str, bad: Sequence[BadPage]) -> BadSource:
    if bad:
        return BadSource("source_empty", f"{source} holds no page: {bad[0].message}", bad[0].hint)
    return BadSource("source_empty", f"{source} holds no page.", "Name a source that holds some.")


def _prepared(
    corpus: Corpus, build: Build, building: Path
) -> Iterator[tuple[Path, list[str], int]]:
    """Yield the file of each chunk's part, the texts of its documents, and its size."""
    sizes: list[int] = []

    def numbered() -> Iterator[tuple[int, Chunk]]:
        for number, (chunk, size) in enumerate(corpus.chunks()):
            sizes.append(size)
            yield number, chunk

    prepare = partial(_Preparation, building, build.encoder)
    for number, (path, texts) in enumerate(in_order(prepare, numbered(), build.processes)):
        yield path, texts, sizes[number]


class _Preparation:
    """Makes the parts of chunks, in whichever process."""

    def __init__(self, building: Path, encoder: Encoder) -> None:
        self._building = building
        self._encoder = encoder

    def __call__(self, numbered: tuple[int, Chunk]) -> tuple[Path, list[str]]:
        number, chunk = numbered
        path = self._building / f"part-{number:06}.npz"
        if path.exists():
            return path, texts_of(read_part(path))
        part, texts = part_of(chunk, self._encoder)
        write_whole(path, part.to_bytes())
        return path, texts
