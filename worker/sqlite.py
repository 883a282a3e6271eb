"""How SQLite is used: in a private file, with write-ahead logging, and waiting for its locks."""

from __future__ import annotations

import secrets
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, event
from sqlalchemy.exc import DBAPIError

from retrieval.system.files import make_private_file

# How long a writer waits for another one; transactions here take milliseconds.
BUSY_SECONDS = 10
# How long ``settle`` waits for readers, who wait for nothing meanwhile; writers do.
_SETTLE_SECONDS = 1.0
# A larger file is not written anew: others could not write, nor a worker show that it is alive, for
# too long on a slow disk.
MOST_REWRITTEN_BYTES = 100_000_000
_EMPTY_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"


def file_of(url: URL) -> Path | None:
    """Return the file of a database of SQLite, unless it is given as a URI with options."""
    name = url.database or ":memory:"
    in_file = url.get_backend_name() == "sqlite" and not name.startswith((":memory:", "file:"))
    return Path(name) if in_file else None


def is_read_only(error: DBAPIError) -> bool:
    """Return whether the file could only be read."""
    return getattr(error.orig, "sqlite_errorname", "").startswith("SQLITE_READONLY")


def is_damaged(error: BaseException | None) -> bool:
    """Return whether the file has other bytes than SQLite wrote, which no waiting repairs."""
    name = getattr(error, "sqlite_errorname", "")
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


def inodes(file: Path) -> dict[Path, int]:
    """Return the inodes of a database and of its write-ahead log, as far as they exist."""
    found = {}
    for path in (file, file.with_name(f"{file.name}-wal")):
        with suppress(OSError):
            found[path] = path.stat().st_ino
    return found


def copy(file: Path, into: Path) -> None:
    """Copy a database, as it is at one moment while others write, into one private file.

    Raises:
        sqlite3.Error: it cannot be read or written.
    """
    make_private_file(into)
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(into)) as target:
        source.backup(target)
    leave_wal(into)


def leave_wal(file: Path) -> None:
    """Bring the write-ahead log into the file, which is then whole without others beside it.

    Raises:
        sqlite3.Error: it cannot be written; ``is_locked``: another connection has it open.
    """
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


def changes(connection: Connection) -> int:
    """Return how many rows this connection has added, changed or deleted so far."""
    return int(connection.exec_driver_sql("SELECT total_changes()").scalar_one())


def mark_erased(connection: Connection) -> None:
    """Note in the database, within a transaction, that texts are deleted, for ``settle``."""
    connection.exec_driver_sql(f"PRAGMA user_version = {secrets.randbelow(2**31 - 1) + 1}")


def settle(file: Path) -> bool:
    """Bring all that was written into the file itself, and what was deleted out of it.

    The write-ahead log has the pages of before until it is emptied. In the file the bytes of a
    deleted row are overwritten (``secure_delete``), but not a copy that SQLite left in an unused
    part of a page when it moved the row; only writing the file anew leaves these out.

    False: others used the database, and it is to be tried again.

    Raises:
        sqlite3.Error: it cannot be written.
    """
    try:
        with closing(_existing(file)) as connection:
            busy = _one(connection, _EMPTY_LOG)
            erased = _one(connection, "PRAGMA user_version")
            size = _one(connection, "PRAGMA page_count") * _one(connection, "PRAGMA page_size")
            if busy or not erased or size > MOST_REWRITTEN_BYTES:
                return not busy
            connection.execute("VACUUM")
            connection.execute("BEGIN IMMEDIATE")
            if _one(connection, "PRAGMA user_version") == erased:  # no more was deleted
                connection.execute("PRAGMA user_version = 0")
            connection.execute("COMMIT")
            return not _one(connection, _EMPTY_LOG)
    except sqlite3.Error as error:
        if is_locked(error):
            return False
        raise


def check(file: Path) -> None:
    """Read all pages of a database.

    Raises:
        sqlite3.Error: it is damaged (``is_damaged``), or cannot be read.
    """
    with closing(_existing(file)) as connection:
        found = _one(connection, "PRAGMA quick_check(1)")
    if found != "ok":
        raise damage(str(found))


def damage(found: str) -> sqlite3.DatabaseError:
    """Return the error for what a check of SQLite has found."""
    error = sqlite3.DatabaseError(" ".join(found.removeprefix("*** in database main ***").split()))
    error.sqlite_errorname = "SQLITE_CORRUPT"
    return error


def _existing(file: Path) -> sqlite3.Connection:
    """Connect to a file that is there; transactions begin when they are begun."""
    address = f"{file.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(address, uri=True, timeout=_SETTLE_SECONDS, isolation_level=None)
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _one(connection: sqlite3.Connection, statement: str) -> Any:
    return connection.execute(statement).fetchone()[0]


def is_locked(error: sqlite3.Error) -> bool:
    """Return whether another connection is the reason."""
    name = getattr(error, "sqlite_errorname", "")
    return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


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
