"""The databases of an index (SQLite), and the documents in one: ids, titles, records in blocks.

A row has the number of its document, and never changes. An addition appends rows, so that several
versions of an index share a database: each reads only the rows that existed when it was made.
"""

from __future__ import annotations

import errno
import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from retrieval.index.formats.records import Record, lines_of

# The errno for each of SQLite's result codes. SQLite gives no reason for a failed write; the usual
# one is a full disk. A database that can be read but not opened cannot be locked.
_REASONS = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR_WRITE: errno.ENOSPC,
    sqlite3.SQLITE_IOERR_FSYNC: errno.ENOSPC,
    sqlite3.SQLITE_IOERR_TRUNCATE: errno.ENOSPC,
    sqlite3.SQLITE_IOERR_SHMSIZE: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
}
_MOST_VALUES = 10_000  # in one statement

TABLES = ("documents", "blocks", "other_titles")
# documents: ``whole`` is the id of the long document, null unless the row is a passage. ``key`` and
# ``plain``: what the title is found by, with and without its words in parentheses; ``key`` is null
# for all passages but the first. ``digest``: of the page as the source gave it. ``block``: the
# number of the block that contains the record; a block has the number of its first document.
# other_titles: those of redirects.
# Only in the database of new documents: ``bad_pages`` could not be read; ``kept`` are documents of
# the version before that the source still has, with the number that the next new document got.
SCHEMA = """
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
INDEXES = """
CREATE INDEX IF NOT EXISTS by_id ON documents (id);
CREATE INDEX IF NOT EXISTS by_whole ON documents (whole) WHERE whole IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_key ON documents (key);
CREATE INDEX IF NOT EXISTS by_plain ON documents (plain) WHERE plain IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_other_key ON other_titles (key);
CREATE INDEX IF NOT EXISTS by_other_plain ON other_titles (plain) WHERE plain IS NOT NULL;
"""
# All titles that find a document; ``where`` is a further condition.
TITLES = """
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
_MOST_KEPT = 20_000  # numbers of ids that are kept in memory; a claim asks for a few thousand


@contextmanager
def as_the_system_says() -> Iterator[None]:
    """Raise an error of SQLite as an ``OSError`` with an errno."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        number = _REASONS.get(code) or _REASONS.get(code & 0xFF, errno.EIO)
        raise OSError(number, str(error)) from error


def connected(path: Path, schema: str = "") -> sqlite3.Connection:
    """Open a database; with a ``schema``, create it if it is missing.

    Several threads may use the connection. Others see changes when they are committed.

    Raises:
        OSError: it is missing, damaged, or may not be read or written.
    """
    if not schema:
        path.open("rb").close()  # its errors give the reason, and SQLite's do not
    with as_the_system_says():
        connection = sqlite3.connect(
            f"file:{quote(str(path))}?mode={'rwc' if schema else 'rw'}",
            uri=True,
            check_same_thread=False,
            timeout=60,
        )
        # With write-ahead logging, readers and the writer do not wait for each other.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        if schema and not connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
            connection.executescript(f"BEGIN; {schema} COMMIT;")
    return connection


def rows_of(
    connection: sqlite3.Connection, question: str, values: Sequence[str] | Sequence[int]
) -> Iterator[Any]:
    """Yield the rows of a query in which ``IN ?`` is replaced by the values."""
    for start in range(0, len(values), _MOST_VALUES):
        some = values[start : start + _MOST_VALUES]
        marks = ",".join("?" * len(some))
        yield from connection.execute(question.replace("IN ?", f"IN ({marks})"), some)


def append(path: Path, new: Path, tables: Sequence[str], first: int) -> None:
    """Append another database's rows of some tables, whose numbers begin with ``first``.

    Rows from an interrupted run are replaced.

    Raises:
        OSError: the disk is full or read-only, or a database is damaged.
    """
    with as_the_system_says(), closing(connected(path)) as connection:
        connection.execute("ATTACH ? AS new", [str(new)])
        with connection:
            for name in tables:
                connection.execute(f"DELETE FROM {name} WHERE number >= ?", [first])
                connection.execute(f"INSERT INTO {name} SELECT * FROM new.{name}")


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
        question = TITLES.format(where=f"AND number < {self._count}")
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
