"""The databases of an index (SQLite): one of documents, and one of their vectors.

A row has the number of its document, and never changes. An addition appends rows, so that several
versions of an index share a database: each reads only the rows that existed when it was made.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

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
