"""Full-text search in all documents, with positions of words: tantivy."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import tantivy

from retrieval.index.formats.words import words_analyzer

_TOKENIZER = "words"
_HEAP = 64_000_000  # bytes of memory for documents that are not written yet
_REASONS = {
    "No space left": errno.ENOSPC,
    "File too large": errno.EFBIG,
    "quota": errno.EDQUOT,
    # A thread failed in the background. tantivy gives no reason; the usual one is a full disk.
    "writer was killed": errno.ENOSPC,
    "Permission denied": errno.EACCES,
    "Read-only file system": errno.EROFS,
    "Too many open files": errno.EMFILE,
}


class LexicalWriter:
    """Adds documents to an index on the disk, and removes them.

    Changes are visible after ``commit``. Committed files never change, so a new folder may
    begin with hard links to those of another.
    """

    def __init__(self, folder: Path) -> None:
        """Open or create the index in an existing folder."""
        self._schema = _schema()
        self._index = _opened(folder)
        self._writer: tantivy.IndexWriter | None = None

    def add(self, texts: Iterable[str], first: int) -> None:
        """Add documents numbered from ``first`` on.

        Raises:
            OSError: the disk is full or read-only.
        """
        with _as_os_error():
            writer = self._open()
            for number, text in enumerate(texts, first):
                entry = tantivy.Document(text=text)
                entry.add_unsigned("document", number)  # the constructor would make it signed
                writer.add_document(entry)

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove documents."""
        for number in numbers:
            # Not by a term: the library would make its number signed.
            wanted = tantivy.Query.term_query(self._schema, "document", number)
            self._open().delete_documents_by_query(wanted)

    def commit(self) -> None:
        """Write the changes to the disk.

        Raises:
            OSError: the disk is full or read-only.
        """
        if self._writer is not None:
            with _as_os_error():
                self._writer.commit()
                self._writer.wait_merging_threads()  # which closes the writer
            self._writer = None

    def _open(self) -> tantivy.IndexWriter:
        if self._writer is None:
            # One thread keeps the order of the documents, which is the order of equal scores.
            self._writer = self._index.writer(heap_size=_HEAP, num_threads=1)
        return self._writer


class LexicalReader:
    """Finds documents by phrases."""

    def __init__(self, folder: Path) -> None:
        """Open the index, which takes a lock in its folder.

        Raises:
            OSError: it is missing, damaged, or may not be read and locked.
        """
        with _as_os_error():
            self._searcher = _opened(folder).searcher()
        self._schema = _schema()
        self._analyzer = words_analyzer()

    def matches(self, phrases: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Return at most ``limit`` documents with any of the phrases and their BM25, best first."""
        clauses = [
            (tantivy.Occur.Should, query)
            for terms in dict.fromkeys(tuple(self._analyzer.analyze(p)) for p in phrases)
            if (query := self._phrase(terms)) is not None
        ]
        if not clauses or limit < 1:
            return []
        found = self._searcher.search(tantivy.Query.boolean_query(clauses), limit, count=False)
        numbers = self._searcher.fast_field_values("document", [hit[1] for hit in found.hits])
        return [
            (int(number), float(hit[0]))  # type: ignore[arg-type]
            for hit, number in zip(found.hits, numbers, strict=True)
        ]

    def words(self, text: str) -> list[str]:
        """Return the words of a text as they are found."""
        return list(self._analyzer.analyze(text))

    def frequency(self, word: str) -> int:
        """Return how many documents contain a word, in the form that ``words`` returns."""
        query = tantivy.Query.term_query(self._schema, "text", word)
        return int(self._searcher.search(query, 1).count)  # type: ignore[attr-defined]

    def near(self, word: str, edits: int, limit: int) -> list[int]:
        """Return documents with a word that so many edits lead to, at most ``limit``."""
        query = tantivy.Query.fuzzy_term_query(self._schema, "text", word, distance=edits)
        hits = self._searcher.search(query, limit, count=False).hits
        numbers = self._searcher.fast_field_values("document", [hit[1] for hit in hits])
        return [int(number) for number in numbers]  # type: ignore[arg-type]

    def _phrase(self, terms: tuple[str, ...]) -> tantivy.Query | None:
        if not terms:
            return None
        if len(terms) == 1:
            return tantivy.Query.term_query(self._schema, "text", terms[0])
        return tantivy.Query.phrase_query(self._schema, "text", list(terms))


@contextmanager
def _as_os_error() -> Iterator[None]:
    """Raise tantivy's ``ValueError`` for a failed operation on files as an ``OSError``."""
    try:
        yield
    except ValueError as error:
        message = str(error)
        reasons = (number for words, number in _REASONS.items() if words in message)
        raise OSError(next(reasons, errno.EIO), message) from error


def _schema() -> tantivy.Schema:
    """Return the fields: the text with positions, and the number to read and to remove by."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=False, tokenizer_name=_TOKENIZER, index_option="position")
    builder.add_unsigned_field("document", stored=False, indexed=True, fast=True)
    return builder.build()


def _opened(folder: Path) -> tantivy.Index:
    index = tantivy.Index(_schema(), path=str(folder))
    index.register_tokenizer(_TOKENIZER, words_analyzer())
    return index
