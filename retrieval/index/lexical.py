"""The words of all documents, with their positions: tantivy."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import tantivy

_TOKENIZER = "words"
_HEAP = 64_000_000  # bytes of what is not yet written
_REASONS = {
    "No space left": errno.ENOSPC,
    "File too large": errno.EFBIG,
    "quota": errno.EDQUOT,
    # It gives no reason when a thread fails in the background; usually the disk is full.
    "writer was killed": errno.ENOSPC,
    "Permission denied": errno.EACCES,
    "Read-only file system": errno.EROFS,
    "Too many open files": errno.EMFILE,
}


class LexicalWriter:
    """Adds documents to an index on the disk and removes them.

    Changes take effect at ``commit``. Files that were committed never change, so a folder may begin
    with hard links of another's.
    """

    def __init__(self, folder: Path) -> None:
        """Open or create the index in a folder that is there."""
        self._schema = _schema()
        self._index = _opened(folder)
        self._writer: tantivy.IndexWriter | None = None

    def add(self, texts: Iterable[str], first: int) -> None:
        """Add documents numbered from ``first`` on.

        Raises:
            OSError: the disk is full or read-only.
        """
        with _as_the_system_says():
            writer = self._open()
            for number, text in enumerate(texts, first):
                entry = tantivy.Document(text=text)
                entry.add_unsigned("document", number)  # the constructor would make it signed
                writer.add_document(entry)

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove documents."""
        for number in numbers:
            # Not by the term itself, which the library would make a signed one.
            wanted = tantivy.Query.term_query(self._schema, "document", number)
            self._open().delete_documents_by_query(wanted)

    def commit(self) -> None:
        """Write the changes to the disk.

        Raises:
            OSError: the disk is full or read-only.
        """
        if self._writer is not None:
            with _as_the_system_says():
                self._writer.commit()
                self._writer.wait_merging_threads()  # it cannot be used after this
            self._writer = None

    def _open(self) -> tantivy.IndexWriter:
        if self._writer is None:
            # One thread keeps the order of the documents, and with it that of equal scores.
            self._writer = self._index.writer(heap_size=_HEAP, num_threads=1)
        return self._writer


class LexicalReader:
    """Finds documents by phrases."""

    def __init__(self, folder: Path) -> None:
        """Open the index, which takes a lock in its folder.

        Raises:
            OSError: it is missing, damaged, or may not be read and locked.
        """
        with _as_the_system_says():
            self._searcher = _opened(folder).searcher()
        self._schema = _schema()
        self._analyzer = words_analyzer()

    def matches(self, phrases: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Return up to ``limit`` documents that hold any phrase, with their BM25, best first."""
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

    def _phrase(self, terms: tuple[str, ...]) -> tantivy.Query | None:
        if not terms:
            return None
        if len(terms) == 1:
            return tantivy.Query.term_query(self._schema, "text", terms[0])
        return tantivy.Query.phrase_query(self._schema, "text", list(terms))


@contextmanager
def _as_the_system_says() -> Iterator[None]:
    """Raise as ``OSError`` what tantivy reports as ValueError: what the system refused it."""
    try:
        yield
    except ValueError as error:
        said = str(error)
        reasons = (number for words, number in _REASONS.items() if words in said)
        raise OSError(next(reasons, errno.EIO), said) from error


def _schema() -> tantivy.Schema:
    """Text with positions; the document's number to be read, and to be removed by."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=False, tokenizer_name=_TOKENIZER, index_option="position")
    builder.add_unsigned_field("document", stored=False, indexed=True, fast=True)
    return builder.build()


def words_analyzer() -> tantivy.TextAnalyzer:
    """Words in lower case without accents, for index and query alike."""
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .build()
    )


def _opened(folder: Path) -> tantivy.Index:
    index = tantivy.Index(_schema(), path=str(folder))
    index.register_tokenizer(_TOKENIZER, words_analyzer())
    return index
