"""The database of an index's documents: their ids and titles, and their records in blocks."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.corpora.corpus import BadPage, Chunk, Page
from retrieval.index.database import as_the_system_says, connected, rows_of
from retrieval.index.records import Record, block_of, lines_of, records_of
from retrieval.index.title_key import split_disambiguation, title_key
from retrieval.language.sentence_splitter import SentenceSplitter

TABLES = ("documents", "blocks")

# ``key`` and ``plain``: what a title is found by, with and without its words in parentheses;
# ``block``: the number of the block that holds the record. A block has the number of its first
# document. ``bad_pages`` is what could not be read, only while the source is read.
_SCHEMA = """
CREATE TABLE documents (number INTEGER PRIMARY KEY, id TEXT NOT NULL, title TEXT NOT NULL,
    key TEXT NOT NULL, plain TEXT, sentences INTEGER NOT NULL, block INTEGER NOT NULL);
CREATE TABLE blocks (number INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE bad_pages (message TEXT NOT NULL, hint TEXT NOT NULL);
"""
# Made when all rows are there, which is quicker.
_INDEXES = """
CREATE INDEX IF NOT EXISTS by_id ON documents (id);
CREATE INDEX IF NOT EXISTS by_key ON documents (key);
CREATE INDEX IF NOT EXISTS by_plain ON documents (plain) WHERE plain IS NOT NULL;
"""
# Fewer compress worse, and more take longer to be read for one.
_DOCUMENTS_A_BLOCK = 32
_MOST_KEPT = 20_000  # numbers of ids that are kept in memory; a claim asks for a few thousand


@dataclass(frozen=True, slots=True)
class Prepared:
    """A chunk of a corpus as rows.

    Attributes:
        documents: (id, title, key, plain, sentences) of each document.
        blocks: the blocks of their records, and how many documents each holds.
        texts: the documents' texts.
        bad: the pages that could not be read.
    """

    documents: list[tuple[str, str, str, str | None, int]]
    blocks: list[tuple[bytes, int]]
    texts: list[str]
    bad: list[BadPage]


def prepared(chunk: Chunk) -> Prepared:
    """Return a chunk as rows.

    Raises:
        ModelUnavailable: the sentence splitter cannot be loaded.
    """
    pages = [page for page in chunk if isinstance(page, Page)]
    records = records_of(pages, _splitter())
    starts = range(0, len(records), _DOCUMENTS_A_BLOCK)
    blocks = [records[start : start + _DOCUMENTS_A_BLOCK] for start in starts]
    return Prepared(
        [_row(record) for record in records],
        [(block_of(block), len(block)) for block in blocks],
        [record["text"] for record in records],
        [page for page in chunk if not isinstance(page, Page)],
    )


class NewDocuments:
    """Documents that a change adds, in a database of their own."""

    def __init__(self, path: Path, first: int) -> None:
        """Begin a database whose documents are numbered from ``first`` on, or go on with it.

        Raises:
            OSError: it cannot be written, or is damaged.
        """
        self._connection = connected(path, _SCHEMA)
        with as_the_system_says():
            ((last,),) = self._connection.execute("SELECT max(number) FROM documents")
            ((self.chunks,),) = self._connection.execute("PRAGMA user_version")
        self.end = first if last is None else last + 1

    def add(self, chunk: Prepared) -> None:
        """Add the next chunk, all of it or nothing.

        Raises:
            OSError: the disk is full or read-only.
        """
        blocks, first = [], self.end
        for content, count in chunk.blocks:
            blocks.append((first, content, count))
            first += count
        in_block = [number for number, _, count in blocks for _ in range(count)]
        documents = (
            (number, *row, block)
            for number, (row, block) in enumerate(
                zip(chunk.documents, in_block, strict=True), self.end
            )
        )
        with as_the_system_says(), self._connection as connection:
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?)", documents)
            connection.executemany(
                "INSERT INTO blocks VALUES (?, ?)", [block[:2] for block in blocks]
            )
            connection.executemany(
                "INSERT INTO bad_pages VALUES (?, ?)", [(p.message, p.hint) for p in chunk.bad]
            )
            connection.execute(f"PRAGMA user_version = {self.chunks + 1}")
        self.chunks += 1
        self.end = first

    def texts(self) -> Iterator[str]:
        """Yield the text of each document."""
        for (content,) in self._connection.execute("SELECT content FROM blocks ORDER BY number"):
            yield from (json.loads(line)["text"] for line in lines_of(content))

    def titles(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the title of each document."""
        return self._connection.execute("SELECT number, title FROM documents ORDER BY number")

    def bad_pages(self) -> list[BadPage]:
        """Return the pages that could not be read."""
        return [BadPage(*row) for row in self._connection.execute("SELECT * FROM bad_pages")]

    def finish(self) -> None:
        """Make what documents are found by, when all are there.

        Raises:
            OSError: the disk is full or read-only.
        """
        with as_the_system_says():
            self._connection.executescript(_INDEXES)

    def superseded(self) -> list[int]:
        """Return the documents whose id a later one has too."""
        question = (
            "SELECT number FROM documents AS earlier WHERE EXISTS (SELECT 1 FROM documents"
            " AS later WHERE later.id = earlier.id AND later.number > earlier.number)"
        )
        return [number for (number,) in self._connection.execute(question)]

    def replaced(self, older: Path, count: int) -> list[int]:
        """Return those of another database's first ``count`` documents that have an id of these."""
        self._connection.execute("ATTACH ? AS older", [str(older)])
        try:
            # A cross join reads the new documents first, of which there are fewer.
            question = (
                "SELECT DISTINCT o.number FROM main.documents AS n CROSS JOIN older.documents AS o"
                " ON o.id = n.id WHERE o.number < ? ORDER BY o.number"
            )
            return [number for (number,) in self._connection.execute(question, [count])]
        finally:
            self._connection.execute("DETACH older")

    def close(self) -> None:
        """Close the database, which is a single file then."""
        self._connection.close()


class Documents:
    """The documents of one version of an index."""

    def __init__(self, path: Path, count: int, removed: NDArray[np.bool_]) -> None:
        """Open the database, of which this version has the first ``count`` documents.

        ``removed``: whether each of them was removed or replaced.

        Raises:
            OSError: it is missing or damaged.
        """
        self._connection = connected(path)
        self._count, self._removed = count, removed
        # The numbers of ids that were returned lately, which are asked for next.
        self._known: dict[str, int] = {}

    def numbers(self, ids: Collection[str]) -> dict[str, int]:
        """Return the number of each of the ids that a document has."""
        found = {one: self._known[one] for one in ids if one in self._known}
        question = "SELECT number, id FROM documents WHERE id IN ?"
        for number, one in rows_of(self._connection, question, [i for i in ids if i not in found]):
            if self._is_here(number):
                found[one] = number
        return found

    def ids(self, numbers: Sequence[int]) -> list[str]:
        """Return the documents' ids."""
        question = "SELECT number, id FROM documents WHERE number IN ?"
        ids = dict(rows_of(self._connection, question, numbers))
        if len(self._known) > _MOST_KEPT:
            self._known = {}
        self._known.update(zip(ids.values(), ids, strict=True))
        return [ids[number] for number in numbers]

    def records(self, numbers: Sequence[int]) -> list[Record]:
        """Return the documents' records.

        Raises:
            ValueError, LookupError: the database is damaged.
        """
        return _records(self._connection, numbers)

    def titled(self, names: Iterable[str]) -> dict[str, list[tuple[bool, str, str]]]:
        """Return for each key of a title what documents have it, in order.

        Each is (whether only without the title's words in parentheses, id, title).
        """
        keys = list(names)
        found: dict[str, list[tuple[bool, str, str]]] = {key: [] for key in keys}
        for column in ("key", "plain"):
            question = f"SELECT number, {column}, id, title FROM documents WHERE {column} IN ?"
            for number, key, one, title in rows_of(self._connection, question, keys):
                if self._is_here(number):
                    self._known[one] = number
                    found[key].append((column == "plain", one, title))
        return {key: sorted(those) for key, those in found.items()}

    def all_titles(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the title of each document, in order of their numbers."""
        question = "SELECT number, id, title FROM documents WHERE number < ? ORDER BY number"
        for number, one, title in self._connection.execute(question, [self._count]):
            if not self._removed[number]:
                yield one, title

    def _is_here(self, number: int) -> bool:
        return number < self._count and not self._removed[number]


def records_between(path: Path, first: int, last: int) -> list[Record]:
    """Return the records of the documents from ``first`` to before ``last``; for any process.

    Raises:
        OSError, ValueError, LookupError: the database is missing or damaged.
    """
    with as_the_system_says(), closing(connected(path)) as connection:
        return _records(connection, range(first, last))


def sentence_counts(path: Path, numbers: Sequence[int]) -> list[int]:
    """Return how many sentences each of the documents has, in order of their numbers.

    Raises:
        OSError: the database is missing or damaged.
    """
    question = "SELECT number, sentences FROM documents WHERE number IN ?"
    with as_the_system_says(), closing(connected(path)) as connection:
        return [count for _, count in sorted(rows_of(connection, question, numbers))]


def digest_of_documents(path: Path, first: int, last: int) -> str:
    """Return a digest of the documents from ``first`` to before ``last``.

    Raises:
        OSError, ValueError: the database is missing or damaged.
    """
    digest = hashlib.sha256()
    with as_the_system_says(), closing(connected(path)) as connection:
        for table in TABLES:
            question = f"SELECT * FROM {table} WHERE number >= ? AND number < ? ORDER BY number"
            for row in connection.execute(question, [first, last]):
                # Of a block its lines: another release of the library compresses otherwise.
                said = row if table == "documents" else (row[0], lines_of(row[1]))
                digest.update(repr(said).encode("utf-8"))
    return digest.hexdigest()


def _records(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[Record]:
    question = "SELECT number, block FROM documents WHERE number IN ?"
    blocks = dict(rows_of(connection, question, numbers))
    contents = rows_of(
        connection,
        "SELECT number, content FROM blocks WHERE number IN ?",
        sorted(set(blocks.values())),
    )
    lines = {block: lines_of(content) for block, content in contents}
    return [json.loads(lines[blocks[n]][n - blocks[n]]) for n in numbers]


def _row(record: Record) -> tuple[str, str, str, str | None, int]:
    title = record["title"]
    plain, words = split_disambiguation(title)
    shorter = None if words is None else title_key(plain)
    return record["id"], title, title_key(title), shorter, len(record["sentences"])


@cache
def _splitter() -> SentenceSplitter:
    return SentenceSplitter()
