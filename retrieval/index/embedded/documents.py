"""The database of an index's documents: their ids and titles, and their records in blocks."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.corpora.corpus import BadPage, Chunk, Page
from retrieval.index.building import pages_in
from retrieval.index.embedded.database import as_the_system_says, connected, rows_of
from retrieval.index.formats.records import (
    Record,
    block_of,
    lines_of,
    names_of,
    records_of,
    whole_of,
)
from retrieval.index.formats.title_key import split_disambiguation, title_key
from retrieval.text.sentence_splitter import shared_splitter

TABLES = ("documents", "blocks", "other_titles")

# documents: ``whole`` is the id of the long document, null unless the row is a passage. ``key`` and
# ``plain``: what the title is found by, with and without its words in parentheses; ``key`` is null
# for all passages but the first. ``digest``: of the page as the source gave it. ``block``: the
# number of the block that contains the record; a block has the number of its first document.
# other_titles: those of redirects.
# Only in the database of new documents: ``bad_pages`` could not be read; ``kept`` are documents of
# the version before that the source still has, with the number that the next new document got.
_SCHEMA = """
CREATE TABLE documents (number INTEGER PRIMARY KEY, id TEXT NOT NULL, whole TEXT,
    title TEXT NOT NULL, key TEXT, plain TEXT, digest BLOB NOT NULL, sentences INTEGER NOT NULL,
    block INTEGER NOT NULL);
CREATE TABLE blocks (number INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE other_titles (number INTEGER NOT NULL, title TEXT NOT NULL, key TEXT NOT NULL,
    plain TEXT, PRIMARY KEY (number, title)) WITHOUT ROWID;
CREATE TABLE bad_pages (message TEXT NOT NULL, hint TEXT NOT NULL);
CREATE TABLE kept (number INTEGER PRIMARY KEY, before INTEGER NOT NULL);
"""
# Made when all rows are there, which is faster.
_INDEXES = """
CREATE INDEX IF NOT EXISTS by_id ON documents (id);
CREATE INDEX IF NOT EXISTS by_whole ON documents (whole) WHERE whole IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_key ON documents (key);
CREATE INDEX IF NOT EXISTS by_plain ON documents (plain) WHERE plain IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_other_key ON other_titles (key);
CREATE INDEX IF NOT EXISTS by_other_plain ON other_titles (plain) WHERE plain IS NOT NULL;
"""
# The documents of another database, or of this one, that the new documents replace: those with the
# same id, and all passages of a long document.
_SAME_DOCUMENTS = """
WITH names (name) AS (SELECT id FROM main.documents UNION SELECT whole FROM main.documents)
SELECT older.number FROM names CROSS JOIN older.documents AS older ON older.id = name
UNION
SELECT older.number FROM names CROSS JOIN older.documents AS older ON older.whole = name
ORDER BY 1
"""
# Unchanged documents and new ones with their ids.
_READ_TWICE = """
SELECT kept.number, kept.before, new.number
FROM main.documents AS new CROSS JOIN older.documents AS older ON older.id = new.id
JOIN kept ON kept.number = older.number
"""
# All titles that find a document; ``where`` is a further condition.
_TITLES = """
SELECT number, id, title, 0 AS other FROM documents WHERE key IS NOT NULL {where}
UNION ALL
SELECT number, (SELECT id FROM documents WHERE documents.number = other_titles.number), title, 1
FROM other_titles WHERE TRUE {where}
ORDER BY number, other
"""
_BY_TITLE = "SELECT number, {column}, id, title FROM documents WHERE {column} IN ?"
_BY_OTHER_TITLE = """
SELECT t.number, t.{column}, d.id, t.title FROM other_titles AS t
JOIN documents AS d ON d.number = t.number WHERE t.{column} IN ?
"""
# Fewer compress worse, and more take longer to be read for one.
_DOCUMENTS_A_BLOCK = 32
_MOST_KEPT = 20_000  # numbers of ids that are kept in memory; a claim asks for a few thousand


@dataclass(frozen=True, slots=True)
class Prepared:
    """A chunk of a corpus as rows.

    Attributes:
        documents: (id, whole, title, key, plain, digest, sentences) of each new document.
        other_titles: (document, title, key, plain) of redirects; the document as its position.
        blocks: the blocks of the records, and how many documents each contains.
        texts: the new documents' texts.
        kept: (number, position) of each document of the version before that is here unchanged, with
            the position of the next new document.
        bad: the pages that could not be read.
    """

    documents: list[tuple[str, str | None, str, str | None, str | None, bytes, int]]
    other_titles: list[tuple[int, str, str, str | None]]
    blocks: list[tuple[bytes, int]]
    texts: list[str]
    kept: list[tuple[int, int]]
    bad: list[BadPage]


@dataclass(frozen=True, slots=True)
class Kept:
    """Which documents of the version before a source has unchanged.

    Attributes:
        mask: for each of them whether the source has it.
        earlier: new documents that they supersede: a source may have several pages with one id, of
            which the last is used.
    """

    mask: NDArray[np.bool_]
    earlier: list[int]


class Preparation:
    """Makes rows of chunks, in any process."""

    def __init__(self, before: Documents | None = None) -> None:
        """Load the sentence splitter; documents that ``before`` has unchanged are not made again.

        Raises:
            ModelUnavailable: the sentence splitter cannot be loaded.
        """
        self._splitter = shared_splitter()
        self._before = before

    def __call__(self, chunk: Chunk) -> Prepared:
        """Return a chunk as rows."""
        pages, bad = pages_in(chunk)
        digests = [_digest_of(page) for page in pages]
        known = self._before.with_digests([page.id for page in pages]) if self._before else {}
        new: list[tuple[Page, bytes]] = []
        kept = []
        for page, digest in zip(pages, digests, strict=True):
            number = known.get((page.id, digest))
            if number is None:
                new.append((page, digest))
            else:
                kept.append((number, len(new)))
        records = records_of([page for page, _ in new], self._splitter)
        starts = range(0, len(records), _DOCUMENTS_A_BLOCK)
        blocks = [records[start : start + _DOCUMENTS_A_BLOCK] for start in starts]
        return Prepared(
            [_row(record, digest) for record, (_, digest) in zip(records, new, strict=True)],
            [
                (position, title, *_keys_of(title))
                for position, record in enumerate(records)
                for title in names_of(record)[1:]
            ],
            [(block_of(block), len(block)) for block in blocks],
            [record["text"] for record in records],
            kept,
            bad,
        )


class NewDocuments:
    """Documents that a change adds, in a database of their own."""

    def __init__(self, path: Path, first: int) -> None:
        """Create a database whose documents are numbered from ``first`` on, or continue it.

        Raises:
            OSError: it cannot be written, or is damaged.
        """
        self._connection = connected(path, _SCHEMA)
        with as_the_system_says():
            ((last,),) = self._connection.execute("SELECT max(number) FROM documents")
            ((self.chunks,),) = self._connection.execute("PRAGMA user_version")
            ((kept,),) = self._connection.execute("SELECT count(*) FROM kept")
        self.end = first if last is None else last + 1
        self.pages = self.end - first + kept  # read so far, those that did not change too

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
        titles = [(self.end + position, *row) for position, *row in chunk.other_titles]
        documents = (
            (number, *row, block)
            for number, (row, block) in enumerate(
                zip(chunk.documents, in_block, strict=True), self.end
            )
        )
        with as_the_system_says(), self._connection as connection:
            connection.execute("BEGIN")
            connection.executemany(
                "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", documents
            )
            connection.executemany("INSERT INTO other_titles VALUES (?, ?, ?, ?)", titles)
            connection.executemany(
                "INSERT OR REPLACE INTO kept VALUES (?, ?)",
                [(number, self.end + position) for number, position in chunk.kept],
            )
            connection.executemany(
                "INSERT INTO blocks VALUES (?, ?)", [block[:2] for block in blocks]
            )
            connection.executemany(
                "INSERT INTO bad_pages VALUES (?, ?)", [(p.message, p.hint) for p in chunk.bad]
            )
            connection.execute(f"PRAGMA user_version = {self.chunks + 1}")
        self.chunks += 1
        self.pages += len(chunk.documents) + len(chunk.kept)
        self.end = first

    def texts(self) -> Iterator[str]:
        """Yield the text of each document."""
        for (content,) in self._connection.execute("SELECT content FROM blocks ORDER BY number"):
            yield from (json.loads(line)["text"] for line in lines_of(content))

    def titles(self) -> Iterator[tuple[int, str]]:
        """Yield each title that finds a document, with the document's number."""
        for number, _, title, _ in self._connection.execute(_TITLES.format(where="")):
            yield number, title

    def bad_pages(self) -> list[BadPage]:
        """Return the pages that could not be read."""
        return [BadPage(*row) for row in self._connection.execute("SELECT * FROM bad_pages")]

    def finish(self) -> None:
        """Create the indexes, when all documents are there.

        Raises:
            OSError: the disk is full or read-only.
        """
        with as_the_system_says():
            self._connection.executescript(_INDEXES)

    def superseded(self) -> list[int]:
        """Return the documents that were read again later, with all their passages."""
        # All passages but the first have no key.
        question = " UNION ".join(
            "SELECT earlier.number FROM documents AS earlier WHERE EXISTS (SELECT 1 FROM documents"
            f" AS later WHERE later.{column} = ifnull(earlier.whole, earlier.id)"
            " AND later.number > earlier.number AND later.key IS NOT NULL)"
            for column in ("id", "whole")
        )
        return [number for (number,) in self._connection.execute(question)]

    def replaced(self, older: Path, count: int) -> list[int]:
        """Return those of another database's first ``count`` documents that these replace.

        They have the same id, or are passages of the same long document.
        """
        self._connection.execute("ATTACH ? AS older", [str(older)])
        try:
            return [n for (n,) in self._connection.execute(_SAME_DOCUMENTS) if n < count]
        finally:
            self._connection.execute("DETACH older")

    def kept(self, older: Path, count: int) -> Kept:
        """Return which of another database's first ``count`` documents the source still has."""
        kept = np.zeros(count, dtype=np.bool_)
        numbers = (number for (number,) in self._connection.execute("SELECT number FROM kept"))
        kept[np.fromiter(numbers, np.int64)] = True
        earlier = []
        self._connection.execute("ATTACH ? AS older", [str(older)])
        try:
            for number, before, new in self._connection.execute(_READ_TWICE):
                if before > new:
                    earlier.append(new)
                else:
                    kept[number] = False
        finally:
            self._connection.execute("DETACH older")
        return Kept(kept, earlier)

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

    def with_digests(self, ids: Sequence[str]) -> dict[tuple[str, bytes], int]:
        """Return the number of each document with one of the ids, by its id and its digest."""
        question = "SELECT number, id, digest FROM documents WHERE id IN ?"
        rows = rows_of(self._connection, question, ids)
        return {(one, digest): n for n, one, digest in rows if self._is_here(n)}

    def of_whole(self, ids: Sequence[str]) -> dict[str, list[int]]:
        """Return the numbers of the documents with these ids; of long ones, of all passages."""
        found: dict[str, list[int]] = {}
        for column in ("id", "whole"):
            question = f"SELECT number, {column} FROM documents WHERE {column} IN ?"
            for number, one in rows_of(self._connection, question, ids):
                if self._is_here(number):
                    found.setdefault(one, []).append(number)
        return found

    def records(self, numbers: Sequence[int]) -> list[Record]:
        """Return the documents' records.

        Raises:
            ValueError, LookupError: the database is damaged.
        """
        return _records(self._connection, numbers)

    def titled(self, names: Iterable[str]) -> dict[str, list[tuple[bool, str, str]]]:
        """Return for each key the documents with such a title, in order, each once.

        Each is (whether only without the title's words in parentheses, id, title).
        """
        keys = list(names)
        # By document, so that its own title comes before those of redirects.
        found: dict[str, dict[str, tuple[bool, str, str]]] = {key: {} for key in keys}
        for column in ("key", "plain"):
            for question in (_BY_TITLE, _BY_OTHER_TITLE):
                rows = rows_of(self._connection, question.format(column=column), keys)
                for number, key, one, title in rows:
                    if self._is_here(number):
                        self._known[one] = number
                        found[key].setdefault(one, (column == "plain", one, title))
        return {key: sorted(those.values()) for key, those in found.items()}

    def all_titles(self) -> Iterator[tuple[str, str]]:
        """Yield each title with the id of the document that it finds, in order of number."""
        question = _TITLES.format(where=f"AND number < {self._count}")
        for number, one, title, _ in self._connection.execute(question):
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


def later_passages(path: Path, count: int) -> list[int]:
    """Return those of the first ``count`` documents that are passages, but not the first ones.

    Raises:
        OSError: the database is missing or damaged.
    """
    question = "SELECT number FROM documents WHERE key IS NULL AND number < ?"
    with as_the_system_says(), closing(connected(path)) as connection:
        return [number for (number,) in connection.execute(question, [count])]


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
                content = (row[0], lines_of(row[1])) if table == "blocks" else row
                digest.update(repr(content).encode("utf-8"))
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


def _row(
    record: Record, digest: bytes
) -> tuple[str, str | None, str, str | None, str | None, bytes, int]:
    whole = whole_of(record) if "passage" in record else None
    key, plain = _keys_of(record["title"]) if names_of(record) else (None, None)
    sentences = len(record["sentences"])
    return record["id"], whole, record["title"], key, plain, digest, sentences


def _keys_of(title: str) -> tuple[str, str | None]:
    """Return the keys of a title, with and without its words in parentheses."""
    plain, words = split_disambiguation(title)
    return title_key(title), None if words is None else title_key(plain)


def _digest_of(page: Page) -> bytes:
    content = f"{page!r}{page.source}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=16).digest()
