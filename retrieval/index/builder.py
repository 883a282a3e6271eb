"""Builds an embedded index: resumable after a kill, swapped in only when it is complete."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import json
import os
import shutil
from array import array
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import tantivy
from numpy.typing import NDArray

from retrieval.corpora.corpus import Corpus, Page
from retrieval.encoders.encoder import EncodableDocument, Encoder
from retrieval.errors import BadSource, EsotericError
from retrieval.index.embedded_store import EmbeddedStore
from retrieval.index.layout import (
    DOCUMENTS,
    IDS,
    LEXICAL,
    LOCK,
    OFFSETS,
    SENTENCE_STARTS,
    SENTENCE_VECTORS,
    TITLE_DOCUMENTS,
    TITLE_STARTS,
    TITLE_TOKENS,
    TITLES,
    VECTORS,
    digest_of,
    key_hash,
    open_lexical,
    table,
)
from retrieval.index.sentence_splitter import SentenceSplitter
from retrieval.index.store import IndexInfo
from retrieval.index.title_key import split_disambiguation, title_key
from retrieval.index.versions import FORMAT, META
from retrieval.titles.title_tokenizer import TitleTokenizer
from retrieval.titles.title_trie import TitleTrie

# Parts are fixed ranges of pages, so that what is encoded together, and with it
# every last bit of a vector, does not depend on where a build was interrupted.
PART = 256


class IndexNotBuilt(EsotericError):
    """The index could not be built; the one that stood before still stands."""


def build_index(
    corpus: Corpus, encoder: Encoder, folder: Path, on_progress: Callable[[int, int], None]
) -> IndexInfo:
    """Build an index of the corpus below ``folder`` and make it the current one.

    ``on_progress`` receives the pages done and the pages in all. Interrupted, a
    build of the same source goes on behind its last finished part.

    Raises:
        BadSource: a page cannot be read, or there is none.
        IndexNotBuilt: the disk is full or read-only, another build runs, or
            ``folder`` holds something that is no index.
        ModelUnavailable: the encoder or the splitter cannot be loaded.
    """
    fingerprint, total = _read_through(corpus)
    try:
        _refuse_other_things(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            building = _begin(folder, corpus.source, fingerprint, encoder.name)
            parts = list(_parts(corpus, encoder, building, total, on_progress))
            version = _assemble(corpus, encoder, building, parts)
            EmbeddedStore.open_version(version, encoder.name)  # before the old one goes
            _swap_in(folder, version)
    except OSError as error:
        raise _not_built(error, folder) from error
    except ValueError as error:
        # tantivy reports the operating system's refusals as ValueError.
        if "No space left" not in str(error) and "File too large" not in str(error):
            raise
        raise _not_built(OSError(errno.ENOSPC, "No space left on device"), folder) from error
    return EmbeddedStore.open(folder, encoder.name).info()


def _not_built(error: OSError, folder: Path) -> IndexNotBuilt:
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return IndexNotBuilt(
            "disk_full",
            f"The disk that holds {folder} is full; the index that stood before still stands.",
            "Make room and run the same command again: it goes on where it stopped.",
        )
    return IndexNotBuilt(
        "index_not_written",
        f"The index cannot be written below {folder} ({error.strerror or error}).",
        "Check the folder's permissions, or set ESOTERIC_HOME to another one.",
    )


def _read_through(corpus: Corpus) -> tuple[str, int]:
    """Return the corpus's fingerprint and its number of pages."""
    try:
        fingerprint = corpus.fingerprint()
    except OSError as error:
        raise BadSource(
            "source_unreadable",
            f"{error.filename or corpus.source} cannot be read ({error.strerror}).",
            "Check the path and its permissions.",
        ) from error
    total = len(corpus)
    if total == 0:
        raise BadSource(
            "source_empty", f"{corpus.source} holds no page.", "Name a source that holds some."
        )
    return fingerprint, total


def _refuse_other_things(folder: Path) -> None:
    """Building removes unfinished and replaced work, so none of it may be somebody else's."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / LOCK).is_file():
        raise IndexNotBuilt(
            "index_not_empty",
            f"{folder} holds files that are no index.",
            "Name a folder that is empty or not there yet.",
        )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise IndexNotBuilt(
                "index_locked",
                f"Another build of the index in {folder} is running.",
                "Wait until it is done.",
            ) from error
        yield


def _begin(folder: Path, source: str, fingerprint: str, encoder: str) -> Path:
    """Return the folder of unfinished work, emptied if it is of another source or encoder."""
    building = folder / "building"
    plan = {
        "format": FORMAT,
        "part": PART,
        "source": source,
        "fingerprint": fingerprint,
        "encoder": encoder,
    }
    path = building / "plan.json"
    try:
        same = json.loads(path.read_text(encoding="utf-8")) == plan
    except (OSError, ValueError):
        same = False
    if not same:
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir()
        _write(path, json.dumps(plan).encode())
    for leftover in (*building.glob("*.partial"), building / "version"):
        if leftover.is_dir():
            shutil.rmtree(leftover)
        else:
            leftover.unlink(missing_ok=True)
    return building


@dataclass(frozen=True)
class _Part:
    """``PART`` pages of the corpus; ``records`` is ``None`` where they are on the disk already."""

    documents: Path
    vectors: Path
    sentence_vectors: Path
    pages: int
    records: list[dict[str, Any]] | None


def _parts(
    corpus: Corpus,
    encoder: Encoder,
    building: Path,
    total: int,
    on_progress: Callable[[int, int], None],
) -> Iterator[_Part]:
    """Yield the parts when they are on the disk, making those that are missing."""
    done = 0
    on_progress(0, total)
    for part in _one_ahead(_split_parts(corpus, building)):
        if part.records is not None:
            whole, sentences = encoder.encode_documents([_encodable(r) for r in part.records])
            _write_array(part.vectors, whole.astype(np.float16))
            _write_array(part.sentence_vectors, np.concatenate(sentences).astype(np.float16))
            lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in part.records)
            # The documents are written last: where they are, the vectors are too.
            _write(part.documents, "".join(lines).encode("utf-8"))
        done += part.pages
        on_progress(done, total)
        yield replace(part, records=None)


def _split_parts(corpus: Corpus, building: Path) -> Iterator[_Part]:
    splitter = SentenceSplitter()
    pages = iter(corpus)
    for number in count():
        batch = list(islice(pages, PART))
        if not batch:
            return
        documents = building / f"part-{number:06}.jsonl"
        records = None if documents.exists() else _records(batch, splitter)
        yield _Part(
            documents,
            building / f"part-{number:06}.npy",
            building / f"part-{number:06}.sentences.npy",
            len(batch),
            records,
        )


def _one_ahead(parts: Iterator[_Part]) -> Iterator[_Part]:
    """Let a thread split the next part while this one is encoded, which leaves Python idle."""
    with ThreadPoolExecutor(1) as thread:
        upcoming = thread.submit(next, parts, None)
        while (part := upcoming.result()) is not None:
            upcoming = thread.submit(next, parts, None)
            yield part


def _records(pages: list[Page], splitter: SentenceSplitter) -> list[dict[str, Any]]:
    split = splitter.split(page.text for page in pages if page.sentences is None)
    return [
        _given(page, page.sentences) if page.sentences is not None else _split(page, next(split))
        for page in pages
    ]


def _given(page: Page, sentences: tuple[str, ...]) -> dict[str, Any]:
    """Join sentences that the source has split; their ids are their positions there."""
    bounds, end = [], -1
    for number, sentence in enumerate(sentences):
        if sentence:
            start, end = end + 1, end + 1 + len(sentence)
            bounds.append((number, start, end))
    text = " ".join(sentence for sentence in sentences if sentence)
    # A record says nothing of links where there are none, which is almost everywhere.
    links = {str(number): titles for number, titles in enumerate(page.links) if titles}
    return _record(page, text, bounds) | ({"links": links} if links else {})


def _split(page: Page, bounds: list[tuple[int, int]]) -> dict[str, Any]:
    return _record(page, page.text, [(n, start, end) for n, (start, end) in enumerate(bounds)])


def _record(page: Page, text: str, sentences: list[tuple[int, int, int]]) -> dict[str, Any]:
    return {
        "id": page.id,
        "title": page.title,
        "url": page.url,
        "text": text,
        "sentences": sentences,
    }


def _encodable(record: dict[str, Any]) -> EncodableDocument:
    bounds = tuple((start, end) for _, start, end in record["sentences"])
    return EncodableDocument(record["title"], record["text"], bounds)


def _assemble(corpus: Corpus, encoder: Encoder, building: Path, parts: list[_Part]) -> Path:
    """Put the parts together as a version; ``meta.json`` is written last."""
    version = building / "version"
    (version / LEXICAL).mkdir(parents=True)
    digest = hashlib.sha256(encoder.name.encode())
    ids, titles, offsets, sentences = [], [], [0], [0]
    tokenizer = TitleTokenizer()
    # All tokens in one array: a list for each of millions of titles would take ten times as much.
    title_tokens, title_lengths = array("H"), array("I")
    lexical = open_lexical(version / LEXICAL)
    # One thread keeps the order of the documents, and with it that of equal scores.
    writer = lexical.writer(heap_size=64_000_000, num_threads=1)
    with (version / DOCUMENTS).open("wb") as stream:
        for part in parts:
            lines = part.documents.read_bytes().splitlines(keepends=True)
            records = [json.loads(line) for line in lines]
            for tokens in tokenizer.tokens([record["title"] for record in records]):
                title_tokens.extend(tokens)
                title_lengths.append(len(tokens))
            for line, record in zip(lines, records, strict=True):
                number = len(offsets) - 1
                stream.write(line)
                digest.update(line)
                offsets.append(offsets[-1] + len(line))
                sentences.append(sentences[-1] + len(record["sentences"]))
                ids.append((key_hash(record["id"]), number))
                titles += _title_entries(record["title"], number)
                entry = tantivy.Document(text=record["text"])
                entry.add_unsigned("document", number)  # the constructor would make it signed
                writer.add_document(entry)
        _flush(stream)
    writer.commit()
    writer.wait_merging_threads()
    for name, rows, paths in (
        (VECTORS, len(ids), [part.vectors for part in parts]),
        (SENTENCE_VECTORS, sentences[-1], [part.sentence_vectors for part in parts]),
    ):
        for vectors in _join(version / name, (rows, encoder.dimension), paths):
            digest.update(vectors.tobytes())
    trie_tokens, trie_starts, trie_documents = TitleTrie.build(_pieces(title_tokens, title_lengths))
    _write_array(version / TITLE_TOKENS, trie_tokens)
    _write_array(version / TITLE_STARTS, trie_starts)
    _write_array(version / TITLE_DOCUMENTS, trie_documents)
    _write_array(version / SENTENCE_STARTS, np.array(sentences, dtype=np.uint64))
    _write_array(version / OFFSETS, np.array(offsets, dtype=np.uint64))
    _write_array(version / IDS, table(ids))
    _write_array(version / TITLES, table(titles))
    meta = {
        "format": FORMAT,
        "name": corpus.name,
        "source": corpus.source,
        "encoder": encoder.name,
        "documents": len(ids),
        "sentences": sentences[-1],
        "built_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "checksum": digest.hexdigest(),
        "files": {
            str(path.relative_to(version)): {
                "bytes": path.stat().st_size,
                "sha256": digest_of(path),
            }
            for path in sorted(version.rglob("*"))
            if path.is_file() and path.suffix != ".lock"
        },
    }
    _write(version / META, json.dumps(meta, indent=2).encode())
    return version


def _title_entries(title: str, number: int) -> list[tuple[int, int]]:
    """A title is found by all of it, and without its words in parentheses (the odd values)."""
    plain, words = split_disambiguation(title)
    entries = [(key_hash(title_key(title)), 2 * number)]
    if words is not None:
        entries.append((key_hash(title_key(plain)), 2 * number + 1))
    return entries


def _pieces(tokens: array[int], lengths: array[int]) -> Iterator[tuple[Sequence[int], int]]:
    """Yield the tokens of each title with the number of its document."""
    start = 0
    for number, length in enumerate(lengths):
        yield tokens[start : start + length], number
        start += length


def _join(
    path: Path, shape: tuple[int, int], parts: Sequence[Path]
) -> Iterator[NDArray[np.float16]]:
    """Write the rows of all parts as one array; yield them when they are written.

    Part by part, because all vectors of a large corpus are larger than the memory.
    """
    with path.open("wb") as stream:
        header = {"descr": "<f2", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(stream, header)
        for part in parts:
            vectors: NDArray[np.float16] = np.load(part)
            stream.write(vectors.tobytes())
            yield vectors
        _flush(stream)


def _swap_in(folder: Path, version: Path) -> None:
    """Move the version to its place, point ``current`` at it, remove what it replaces."""
    versions = folder / "versions"
    versions.mkdir(exist_ok=True)
    checksum = json.loads((version / META).read_text(encoding="utf-8"))["checksum"][:12]
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    place = versions / f"{stamp}-{checksum}"
    version.rename(place)
    pointer = folder / "current.partial"
    pointer.unlink(missing_ok=True)
    pointer.symlink_to(place.relative_to(folder))
    pointer.rename(folder / "current")
    for other in versions.iterdir():
        if other != place:
            shutil.rmtree(other, ignore_errors=True)
    shutil.rmtree(version.parent, ignore_errors=True)


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, on the disk when this returns."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as stream:
        stream.write(content)
        _flush(stream)
    partial.rename(path)


def _write_array(path: Path, array: NDArray[Any]) -> None:
    # Not straight to the file: NumPy tells a full disk without the error's number.
    content = io.BytesIO()
    np.save(content, array)
    _write(path, content.getvalue())


def _flush(stream: Any) -> None:
    stream.flush()
    os.fsync(stream.fileno())
