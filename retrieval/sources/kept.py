"""Articles that were read are kept here, for later claims and for times without a network.

The file is SQLite, so that several processes share it. What was not used for ``DAYS`` is removed,
and so is what was used least recently where there is too much.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import zstandard

from retrieval.corpora.passages import Block
from retrieval.sources.interface import About, Article

T = TypeVar("T")

MOST_BYTES = 500_000_000
DAYS = 30
_DAY = 86_400  # seconds
_SCHEMA = """
CREATE TABLE IF NOT EXISTS articles (place TEXT, id TEXT, revision TEXT, used REAL, bytes INTEGER,
    content BLOB, PRIMARY KEY (place, id));
CREATE TABLE IF NOT EXISTS names (place TEXT, name TEXT, id TEXT, PRIMARY KEY (place, name));
CREATE TABLE IF NOT EXISTS about (place TEXT PRIMARY KEY, at REAL, content TEXT);
"""
_FORGET_NAMES = """
DELETE FROM names WHERE NOT EXISTS (SELECT 1 FROM articles AS a
    WHERE a.place = names.place AND a.id = names.id)
"""


@dataclass(frozen=True, slots=True)
class Holding:
    """How many articles of a place are kept, in how many bytes.

    ``since``: when the one that was not used for the longest time was used, in seconds since 1970.
    """

    place: str
    articles: int
    bytes: int
    since: float


class KeptArticles:
    """The articles that are kept in a file; where it cannot be used, none are."""

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES) -> None:
        """Open nothing yet."""
        self._path, self._most_bytes = path, most_bytes

    def article(self, place: str, article_id: str, revision: str | None = None) -> Article | None:
        """Return an article, ``None`` if it is not kept, or not in this revision."""

        def found(connection: sqlite3.Connection) -> Article | None:
            row = connection.execute(
                "UPDATE articles SET used = ? WHERE place = ? AND id = ? AND revision = ifnull(?,"
                " revision) RETURNING content",
                [time.time(), place, article_id, revision],
            ).fetchone()
            return _article(row[0]) if row else None

        return self._run(found, None)

    def keep(self, place: str, article: Article) -> None:
        """Keep an article instead of another revision; remove what is too old or too much."""
        content = zstandard.ZstdCompressor().compress(json.dumps(asdict(article)).encode())
        row = [place, article.id, article.revision, time.time(), len(content), content]

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO articles VALUES (?, ?, ?, ?, ?, ?)", row)
            connection.execute("DELETE FROM articles WHERE used < ?", [time.time() - DAYS * _DAY])
            connection.execute(_FORGET_NAMES)
            (held,) = connection.execute("SELECT SUM(bytes) FROM articles").fetchone()
            oldest = "SELECT place, id, bytes FROM articles ORDER BY used"
            for *key, size in connection.execute(oldest).fetchall():
                if held <= self._most_bytes:
                    break
                connection.execute("DELETE FROM articles WHERE place = ? AND id = ?", key)
                held -= size

        self._run(write, None)

    def keep_names(self, place: str, article_id: str, names: Iterable[str]) -> None:
        """Keep the names that an article was found by, as long as the article."""
        rows = [(place, name, article_id) for name in names]
        insert = "INSERT OR REPLACE INTO names VALUES (?, ?, ?)"
        self._run(lambda connection: connection.executemany(insert, rows), None)

    def named(self, place: str, names: Sequence[str]) -> dict[str, str]:
        """Return the ids of kept articles with these names."""
        question = (
            "SELECT name, id FROM names JOIN articles USING (place, id)"
            f" WHERE place = ? AND name IN ({','.join('?' * len(names))})"
        )
        return self._run(lambda c: dict(c.execute(question, [place, *names]).fetchall()), {})

    def about(self, place: str) -> About | None:
        """Return what a source said of itself, if that is not too old."""
        question = "SELECT content FROM about WHERE place = ? AND at > ?"
        values = [place, time.time() - DAYS * _DAY]
        row = self._run(lambda connection: connection.execute(question, values).fetchone(), None)
        return About(**json.loads(row[0])) if row else None

    def keep_about(self, place: str, about: About) -> None:
        """Keep what a source says of itself."""
        row = [place, time.time(), json.dumps(asdict(about))]
        insert = "INSERT OR REPLACE INTO about VALUES (?, ?, ?)"
        self._run(lambda connection: connection.execute(insert, row), None)

    def holdings(self) -> list[Holding]:
        """Return what is kept."""
        question = (
            "SELECT place, COUNT(*), SUM(bytes), MIN(used) FROM articles GROUP BY place"
            " ORDER BY place"
        )
        return self._run(lambda c: [Holding(*row) for row in c.execute(question)], [])

    def clear(self) -> None:
        """Remove all that is kept."""
        for end in ("", "-wal", "-shm"):
            Path(f"{self._path}{end}").unlink(missing_ok=True)

    @property
    def folder(self) -> Path:
        """The folder of the file, where processes that share it can find each other."""
        return self._path.parent

    def _run(self, work: Callable[[sqlite3.Connection], Any], otherwise: T) -> T | Any:
        """Return what some statements return, ``otherwise`` where the file cannot be used."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=10)) as connection, connection:
                connection.execute("PRAGMA journal_mode = WAL")
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    connection.execute(statement)
                return work(connection)
        except (sqlite3.Error, OSError, ValueError, zstandard.ZstdError):
            return otherwise


def _article(content: bytes) -> Article:
    record: dict[str, Any] = json.loads(zstandard.ZstdDecompressor().decompress(content))
    blocks = tuple(Block(**one | {"section": tuple(one["section"])}) for one in record["blocks"])
    return Article(**record | {"blocks": blocks, "leads_to": tuple(record["leads_to"])})
