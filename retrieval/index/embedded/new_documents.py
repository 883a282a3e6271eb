"""Documents that a change adds to an index: made from pages, in a database of their own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.corpora.corpus import BadPage, Chunk, Page
from retrieval.index.building import pages_in
from retrieval.index.embedded.documents import (
    INDEXES,
    SCHEMA,
    TITLES,
    Documents,
    as_the_system_says,
    connected,
)
from retrieval.index.formats.records import (
    Record,
    block_of,
    lines_of,
    names_of,
    records_of,
    whole_of,
)
from retrieval.index.formats.titles import split_disambiguation, title_key
from retrieval.text.sentence_splitter import shared_splitter

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
# Fewer compress worse, and more take longer to be read for one.
_DOCUMENTS_A_BLOCK = 32


@dataclass(frozen=True, slots=True)
class Prepared:
    """A chunk of a corpus as rows.

    Numbers of documents are positions among the new documents of the chunk.

    Attributes:
        documents: a row of each new document.
        other_titles: (document, title, key, plain) of redirects.
        blocks: (first document, content) of the blocks of the records.
        texts: the new documents' texts.
        kept: (number, position) of each document of the version before that is here unchanged, with
            the position of the next new document.
        bad: the pages that could not be read.
    """

    documents: list[tuple[Any, ...]]
    other_titles: list[tuple[int, str, str, str | None]]
    blocks: list[tuple[int, bytes]]
    texts: list[str]
    kept: list[tuple[int, int]]
    bad: list[BadPage]


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
        size = _DOCUMENTS_A_BLOCK
        starts = range(0, len(records), size)
        return Prepared(
            [
                (position, *_row(record, digest), position // size * size)
                for position, (record, (_, digest)) in enumerate(zip(records, new, strict=True))
            ],
            [
                (position, title, *_keys_of(title))
                for position, record in enumerate(records)
                for title in names_of(record)[1:]
            ],
            [(start, block_of(records[start : start + size])) for start in starts],
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
        self._connection = connected(path, SCHEMA)
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
        at = f"? + {self.end}"
        inserts: list[tuple[str, Sequence[Any]]] = [
            (f"INSERT INTO documents VALUES ({at}, ?, ?, ?, ?, ?, ?, ?, {at})", chunk.documents),
            (f"INSERT INTO other_titles VALUES ({at}, ?, ?, ?)", chunk.other_titles),
            (f"INSERT INTO blocks VALUES ({at}, ?)", chunk.blocks),
            (f"INSERT OR REPLACE INTO kept VALUES (?, {at})", chunk.kept),
            ("INSERT INTO bad_pages VALUES (?, ?)", [(p.message, p.hint) for p in chunk.bad]),
        ]
        with as_the_system_says(), self._connection as connection:
            connection.execute("BEGIN")
            for insert, rows in inserts:
                connection.executemany(insert, rows)
            connection.execute(f"PRAGMA user_version = {self.chunks + 1}")
        self.chunks += 1
        self.pages += len(chunk.documents) + len(chunk.kept)
        self.end += len(chunk.documents)

    def texts(self) -> Iterator[str]:
        """Yield the text of each document."""
        for (content,) in self._connection.execute("SELECT content FROM blocks ORDER BY number"):
            yield from (json.loads(line)["text"] for line in lines_of(content))

    def titles(self) -> Iterator[tuple[int, str]]:
        """Yield each title that finds a document, with the document's number."""
        for number, _, title, _ in self._connection.execute(TITLES.format(where="")):
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
            self._connection.executescript(INDEXES)

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
        with self._attached(older):
            return [n for (n,) in self._connection.execute(_SAME_DOCUMENTS) if n < count]

    def kept(self, older: Path, count: int) -> tuple[NDArray[np.bool_], list[int]]:
        """Return which of another database's first ``count`` documents the source still has.

        And the new documents that they supersede: a source may have several pages with one id, of
        which the last is used.
        """
        kept = np.zeros(count, dtype=np.bool_)
        numbers = (number for (number,) in self._connection.execute("SELECT number FROM kept"))
        kept[np.fromiter(numbers, np.int64)] = True
        earlier = []
        with self._attached(older):
            for number, before, new in self._connection.execute(_READ_TWICE):
                if before > new:
                    earlier.append(new)
                else:
                    kept[number] = False
        return kept, earlier

    @contextmanager
    def _attached(self, older: Path) -> Iterator[None]:
        self._connection.execute("ATTACH ? AS older", [str(older)])
        try:
            yield
        finally:
            self._connection.execute("DETACH older")

    def close(self) -> None:
        """Close the database, which is a single file then."""
        self._connection.close()


def _row(record: Record, digest: bytes) -> tuple[Any, ...]:
    """Return a document as a row, without its number and its block."""
    whole = whole_of(record) if "passage" in record else None
    key, plain = _keys_of(record["title"]) if names_of(record) else (None, None)
    sentences = len(record["sentences"])
    return record["id"], whole, record["title"], key, plain, digest, sentences


def _keys_of(title: str) -> tuple[str, str | None]:
    """Return the keys of a title, with and without its words in parentheses."""
    plain, words = split_disambiguation(title)
    return title_key(title), None if words is None else title_key(plain)


def _digest_of(page: Page) -> bytes:
    content = f"{page!r}{page.source}{page.date}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=16).digest()
