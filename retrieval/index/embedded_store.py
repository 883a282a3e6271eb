"""The embedded index: tantivy for phrases, memory-mapped files for the rest."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import tantivy
from numpy.typing import NDArray

from retrieval.errors import IndexUnavailable
from retrieval.index.inner_products import nearest_rows
from retrieval.index.layout import (
    DOCUMENTS,
    IDS,
    LEXICAL,
    OFFSETS,
    SENTENCE_STARTS,
    SENTENCE_VECTORS,
    TITLE_DOCUMENTS,
    TITLE_STARTS,
    TITLE_TOKENS,
    TITLES,
    VECTORS,
    digest_of,
    find,
    lexical_schema,
    open_lexical,
    read_meta,
    rebuild,
    words_analyzer,
)
from retrieval.index.store import MOST_OF_A_NAME, IndexInfo
from retrieval.index.title_key import split_disambiguation, title_key
from retrieval.index.versions import current_version
from retrieval.titles.title_trie import TitleTrie
from retrieval.types import (
    Document,
    PhraseMatch,
    Sentence,
    SentenceKey,
    SentenceMatch,
    TitleMatch,
)


class EmbeddedStore:
    """A finished index in a folder of this machine; see ``layout`` for its files.

    Opening maps files and reads none of them. An index that is swapped out while
    it is open stays readable.
    """

    def __init__(self, version: Path, meta: dict[str, Any]) -> None:
        """Map the files of one version; use ``open``."""
        self._info = IndexInfo(
            name=meta["name"],
            source=meta["source"],
            documents=meta["documents"],
            sentences=meta["sentences"],
            bytes=sum(kept["bytes"] for kept in meta["files"].values()),
            built_at=meta["built_at"],
            encoder=meta["encoder"],
            checksum=meta["checksum"],
        )
        self._version = version
        self._files: dict[str, dict[str, Any]] = meta["files"]
        self._documents = np.memmap(version / DOCUMENTS, dtype=np.uint8, mode="r")
        self._offsets = np.load(version / OFFSETS, mmap_mode="r")
        self._ids = np.load(version / IDS, mmap_mode="r")
        self._titles = np.load(version / TITLES, mmap_mode="r")
        self._vectors = np.load(version / VECTORS, mmap_mode="r")
        self._sentence_vectors = np.load(version / SENTENCE_VECTORS, mmap_mode="r")
        self._sentence_starts = np.load(version / SENTENCE_STARTS, mmap_mode="r")
        self._trie = TitleTrie(
            np.load(version / TITLE_TOKENS, mmap_mode="r"),
            np.load(version / TITLE_STARTS, mmap_mode="r"),
            np.load(version / TITLE_DOCUMENTS, mmap_mode="r"),
            self._id,
        )
        self._schema = lexical_schema()
        self._analyzer = words_analyzer()
        self._searcher = open_lexical(version / LEXICAL).searcher()

    @classmethod
    def open(cls, folder: Path, encoder: str) -> EmbeddedStore:
        """Open the current index below ``folder``.

        Raises:
            IndexUnavailable: there is none, it is damaged, of another format, or
                its vectors are another encoder's.
        """
        return cls.open_version(current_version(folder), encoder)

    @classmethod
    def open_version(cls, version: Path, encoder: str) -> EmbeddedStore:
        """Open one version; raises what ``open`` raises."""
        meta = read_meta(version)
        if meta["encoder"] != encoder:
            raise IndexUnavailable(
                "index_encoder",
                f"The index was built with the encoder {meta['encoder']}, not {encoder}.",
                rebuild(meta["source"]),
            )
        try:
            return cls(version, meta)
        except (OSError, ValueError) as error:
            raise _damaged(meta["source"]) from error

    def info(self) -> IndexInfo:
        """See ``DocumentStore.info``."""
        return self._info

    def verify(self) -> None:
        """Read every file and compare it with its digest.

        Raises:
            IndexUnavailable: a file is not what was built.
        """
        for name, kept in self._files.items():
            if digest_of(self._version / name) != kept["sha256"]:
                raise _damaged(self._info.source)

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """See ``DocumentStore.documents``."""
        return [_document(self._record(self._known(document_id))) for document_id in ids]

    def find(self, document_id: str) -> Document | None:
        """Return the document with this id, which need not come from this index."""
        number = self._number(document_id)
        return None if number is None else _document(self._record(number))

    def title_matches(self, names: Sequence[str]) -> list[TitleMatch]:
        """See ``DocumentStore.title_matches``."""
        matches: list[TitleMatch] = []
        for name in dict.fromkeys(names):
            key = title_key(name)
            values = sorted(find(self._titles, key), key=lambda v: (v % 2, self._id(v // 2)))
            found = (self._title_match(value, name, key) for value in values)
            matches += islice((match for match in found if match is not None), MOST_OF_A_NAME)
        return matches

    def phrase_matches(self, phrases: Sequence[str], limit: int) -> list[PhraseMatch]:
        """See ``DocumentStore.phrase_matches``."""
        clauses = [
            (tantivy.Occur.Should, query)
            for terms in dict.fromkeys(tuple(self._analyzer.analyze(p)) for p in phrases)
            if (query := self._phrase(terms)) is not None
        ]
        if not clauses or limit < 1:
            return []
        found = self._searcher.search(tantivy.Query.boolean_query(clauses), limit, count=False)
        numbers = self._searcher.fast_field_values("document", [hit[1] for hit in found.hits])
        matches = [
            PhraseMatch(self._id(int(number)), float(hit[0]))  # type: ignore[arg-type]
            for hit, number in zip(found.hits, numbers, strict=True)
        ]
        return sorted(matches, key=lambda match: (-match.bm25, match.document_id))

    def vectors(self, ids: Sequence[str]) -> NDArray[np.float32]:
        """See ``DocumentStore.vectors``."""
        numbers = [self._known(document_id) for document_id in ids]
        chosen: NDArray[np.float32] = np.asarray(self._vectors[numbers], dtype=np.float32)
        return chosen

    def nearest_sentences(
        self, queries: NDArray[np.float32], limit: int, without: Collection[str] = ()
    ) -> list[list[SentenceMatch]]:
        """See ``DocumentStore.nearest_sentences``."""
        numbers = [self._known(document_id) for document_id in without]
        starts = self._sentence_starts
        left_out = [row for n in numbers for row in range(int(starts[n]), int(starts[n + 1]))]
        rows = np.array(left_out, dtype=np.int64)
        near = nearest_rows(self._sentence_vectors, queries, limit, rows)
        return [self._sentence_matches(*found)[:limit] for found in near]

    def titles(self) -> TitleTrie:
        """See ``DocumentStore.titles``."""
        return self._trie

    def titled(self) -> Iterator[tuple[str, str]]:
        """See ``DocumentStore.titled``."""
        for number in range(self._info.documents):
            record = self._record(number)
            yield record["id"], record["title"]

    def _sentence_matches(
        self, rows: NDArray[np.int64], similarities: NDArray[np.float64]
    ) -> list[SentenceMatch]:
        """Return the rows of the sentence vectors as matches, in their order."""
        numbers = np.searchsorted(self._sentence_starts, rows, side="right") - 1
        matches = []
        records = {number: self._record(number) for number in map(int, set(numbers))}
        for row, number, similarity in zip(rows, numbers, similarities, strict=True):
            record = records[int(number)]
            sentence_id = record["sentences"][row - int(self._sentence_starts[number])][0]
            # In float16 a unit vector is a little longer or shorter than one.
            cosine = min(1.0, max(-1.0, float(similarity)))
            matches.append(SentenceMatch(SentenceKey(record["id"], sentence_id), cosine))
        matches.sort(key=lambda m: (-m.similarity, m.key.document_id, m.key.sentence_id))
        return matches

    def _phrase(self, terms: tuple[str, ...]) -> tantivy.Query | None:
        if not terms:
            return None
        if len(terms) == 1:
            return tantivy.Query.term_query(self._schema, "text", terms[0])
        return tantivy.Query.phrase_query(self._schema, "text", list(terms))

    def _title_match(self, value: int, name: str, key: str) -> TitleMatch | None:
        number, disambiguated = divmod(value, 2)
        record = self._record(number)
        title = record["title"]
        plain, words = split_disambiguation(title) if disambiguated else (title, None)
        if title_key(plain) != key:
            return None
        return TitleMatch(record["id"], title, name, words)

    def _known(self, document_id: str) -> int:
        """Return the number of a document whose id came from this index."""
        number = self._number(document_id)
        if number is None:
            raise _damaged(self._info.source)
        return number

    def _number(self, document_id: str) -> int | None:
        for number in find(self._ids, document_id):
            if self._id(number) == document_id:
                return number
        return None

    def _id(self, number: int) -> str:
        document_id: str = self._record(number)["id"]
        return document_id

    def _record(self, number: int) -> dict[str, Any]:
        try:
            line = self._documents[int(self._offsets[number]) : int(self._offsets[number + 1])]
            record: dict[str, Any] = json.loads(line.tobytes())
        except (ValueError, IndexError) as error:
            raise _damaged(self._info.source) from error
        return record


def _damaged(source: str) -> IndexUnavailable:
    return IndexUnavailable("index_damaged", "The index is damaged.", rebuild(source))


def _document(record: dict[str, Any]) -> Document:
    text, links = record["text"], record.get("links", {})
    return Document(
        id=record["id"],
        title=record["title"],
        url=record["url"],
        text=text,
        sentences=tuple(
            Sentence(
                record["id"], number, text[start:end], start, end, tuple(links.get(str(number), ()))
            )
            for number, start, end in record["sentences"]
        ),
    )
