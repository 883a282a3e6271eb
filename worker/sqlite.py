"""How SQLite is used: in a private file, with write-ahead logging, and waiting for its locks."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, event
from sqlalchemy.exc import DBAPIError

from retrieval.system.private_files import make_private_file

# How long a writer waits for another one; transactions here take milliseconds.
BUSY_SECONDS = 10


def file_of(url: URL) -> Path | None:
    """Return the file of a database of SQLite, unless it is given as a URI with options."""
    name = url.database or ":memory:"
    in_file = url.get_backend_name() == "sqlite" and not name.startswith((":memory:", "file:"))
    return Path(name) if in_file else None


def is_read_only(error: DBAPIError) -> bool:
    """Return whether the file could only be read."""
    return getattr(error.orig, "sqlite_errorname", "").startswith("SQLITE_READONLY")


def copy(file: Path, into: Path) -> None:
    """Copy a database, as it is at one moment while others write, into one private file.

    Raises:
        sqlite3.Error: it cannot be read or written.
    """
    make_private_file(into)
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(into)) as target:
        source.backup(target)
    settle(into)


def settle(file: Path) -> None:
    """Bring the write-ahead log into the file, which is then whole without others beside it.

    Raises:
        sqlite3.Error: it cannot be written; ``is_locked``: another connection has it open.
    """
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


def is_locked(error: sqlite3.Error) -> bool:
    """Return whether another connection is the reason."""
    return error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def set_up(engine: Engine) -> None:
    """Set up every connection and transaction of the engine."""
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)


def _set_up(connection: Any, _record: object) -> None:
    # _begin begins the transactions: the driver would begin them late, and a
    # transaction that first reads and then writes would fail instead of waiting.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
    _write_ahead(cursor)
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    # What is deleted is overwritten in the file.
    cursor.execute("PRAGMA secure_delete = ON")
    cursor.close()


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    writes = options.get("writes", False)
    milliseconds = int(options.get("busy_seconds", BUSY_SECONDS) * 1000)
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {milliseconds}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _write_ahead(cursor: Any) -> None:
    """Turn on write-ahead logging; SQLite does not wait here for locks, so this does."""
    give_up = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not is_locked(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.01)
