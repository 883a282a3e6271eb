"""The documents of an index: their ids and titles, and their records in blocks, in a database."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.index.embedded.database import as_the_system_says, connected, rows_of
from retrieval.index.embedded.document_tables import TABLES, TITLES
from retrieval.index.formats.records import Record, lines_of

_BY_TITLE = "SELECT number, {column}, id, title FROM documents WHERE {column} IN ?"
_BY_OTHER_TITLE = """
SELECT t.number, t.{column}, d.id, t.title FROM other_titles AS t
JOIN documents AS d ON d.number = t.number WHERE t.{column} IN ?
"""
_MOST_KEPT = 20_000  # numbers of ids that are kept in memory; a claim asks for a few thousand


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
