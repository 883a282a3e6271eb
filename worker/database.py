"""Sessions on the database of claims: SQLite in a file, or a server that SQLAlchemy supports."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from threading import Condition
from typing import Any, cast

from sqlalchemy import URL, Engine, create_engine, delete, false, text
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError
from sqlalchemy.orm import Session

from retrieval.errors import EsotericError, Problem
from retrieval.system.files import make_private_file, make_private_folder
from worker import postgresql, sqlite
from worker.schema import REVISION, WorkerRow, revision_of

# How long a check of readiness waits for another writer.
REACH_SECONDS = 1.0
_HIGHEST_PORT = 65535
# The file is not where it was opened, or has other bytes than SQLite wrote.
REMOVED, DAMAGED = "store_removed", "store_damaged"


class StoreUnavailable(EsotericError):
    """The database of claims cannot be opened, read or written."""


def is_locked(error: StoreUnavailable) -> bool:
    """Return whether the database could not be used because another connection writes."""
    found = getattr(error.__cause__, "orig", None)
    return isinstance(found, sqlite3.Error) and sqlite.is_locked(found)


class Database:
    """Sessions on one database; the first one opens it and brings it to the schema of today.

    If its file is removed or replaced, no session works until the same file is back: what was
    accepted must not be looked for, or stored, in another. A damaged file is not written any more.
    The instance is safe to share between threads.
    """

    def __init__(self, url: str) -> None:
        """Open nothing yet.

        Raises:
            StoreUnavailable: this is no address of a database, or its driver is not installed.
        """
        self._url = read_url(url)
        self._file = sqlite.file_of(self._url)
        # What was opened, by path.
        self._inodes: dict[Path, int] = {}
        self._damage: Problem | None = None
        self._lock = Condition()
        self._engine: Engine | None = None
        self._sessions = 0
        self._read_only = False

    @property
    def folder(self) -> Path | None:
        """Folder of the database's file; ``None`` for a database on a server."""
        return None if self._file is None else self._file.parent

    def size_bytes(self) -> int | None:
        """Return the size of the database, ``None`` where that is not known."""
        try:
            if self._file is not None:
                return self._file.stat().st_size
            if self._url.get_backend_name() == "postgresql":
                with self.reading() as session:
                    size = text("SELECT pg_database_size(current_database())")
                    return cast("int | None", session.scalar(size))
        except (OSError, StoreUnavailable):
            return None
        return None

    def log_bytes(self) -> int:
        """Return the size of the write-ahead log beside the file, 0 if there is none."""
        if self._file is None:
            return 0
        log = self._file.with_name(f"{self._file.name}-wal")
        return log.stat().st_size if log.exists() else 0

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Yield a session in a transaction that only reads.

        Raises:
            StoreUnavailable: the database cannot be used; the hint says how to fix it.
        """
        with self._session(writes=False) as session:
            yield session

    @contextmanager
    def writing(self, busy_seconds: float = sqlite.BUSY_SECONDS) -> Iterator[Session]:
        """Yield a session in a transaction that is committed at the end of the block.

        ``busy_seconds``: how long to wait for another writer; SQLite only.

        Raises:
            StoreUnavailable: the database cannot be used; the hint says how to fix it.
        """
        with self._session(writes=True, busy_seconds=busy_seconds) as session:
            yield session

    @contextmanager
    def erasing(self) -> Iterator[Session]:
        """Yield a session as ``writing`` does; ``settle`` brings out of the file what it deletes.

        Raises:
            StoreUnavailable: the database cannot be used; the hint says how to fix it.
        """
        with self.writing() as session:
            if self._file is None:
                yield session
                return
            before = sqlite.changes(session.connection())
            yield session
            session.flush()
            if sqlite.changes(session.connection()) != before:
                sqlite.mark_erased(session.connection())

    def reach(self) -> None:
        """Find out within about a second whether the database can be written.

        Raises:
            StoreUnavailable: it cannot.
        """
        with self.writing(REACH_SECONDS) as session:
            # SQLite notices only at a statement that writes that the file is read-only.
            session.execute(delete(WorkerRow).where(false()))

    def check(self) -> None:
        """Read all of a database in a file; one on a server is its server's to check.

        Raises:
            StoreUnavailable: it is damaged, removed or cannot be read.
        """
        with self._on_file() as file:
            if file is not None:
                sqlite.check(file)

    def settle(self) -> bool:
        """Make the file whole without others beside it, and free of what was deleted.

        False: others used it, and it is to be tried again.

        Raises:
            StoreUnavailable: it is damaged, removed or cannot be written.
        """
        with self._on_file() as file:
            return file is None or sqlite.settle(file)

    @contextmanager
    def _on_file(self) -> Iterator[Path | None]:
        """Yield the file that there is, ``None`` if there is none yet, or a server."""
        self._refuse_damaged()
        self._refuse_another_file()
        there = self._file is not None and self._file.exists()
        try:
            yield self._file if there else None
        except sqlite3.Error as error:
            raise self._unavailable(error) from error

    def close(self) -> None:
        """Close every connection; the next session opens what is there then."""
        self._disconnect()
        with self._lock:
            self._inodes, self._damage = {}, None

    def _disconnect(self) -> None:
        """Close every connection; the next session opens the same database again."""
        with self._lock:
            engine, self._engine = self._engine, None
            # SQLite removes the log with the last connection.
            self._inodes = {file: of for file, of in self._inodes.items() if file == self._file}
        if engine is not None:
            engine.dispose()

    @contextmanager
    def _session(self, writes: bool, **options: Any) -> Iterator[Session]:
        with self._lock:
            self._lock.wait_for(lambda: not self._read_only, sqlite.BUSY_SECONDS)
            self._sessions += 1
        committing = False
        try:
            if writes:
                self._refuse_damaged()
            engine = self._opened().execution_options(writes=writes, **options)
            with Session(engine, expire_on_commit=False) as session, session.begin():
                yield session
                committing = writes
            if writes:  # into a file that is still there
                self._refuse_another_file()
        except IntegrityError:
            raise  # handled by the caller: a unique value exists already
        except DBAPIError as error:
            if sqlite.is_read_only(error):
                self._read_only = True
            else:
                # A server may have been started again.
                self._disconnect()
            raise self._unavailable(error.orig, committing) from error
        finally:
            self._leave()

    def _leave(self) -> None:
        """End a session; the last one closes a file that was read-only.

        What SQLite opened read-only stays so until no connection of the process has it open.
        """
        with self._lock:
            self._sessions -= 1
            reopen = self._read_only and self._sessions == 0
        if reopen:
            self._disconnect()
            with self._lock:
                self._read_only = False
                self._lock.notify_all()

    def _opened(self) -> Engine:
        with self._lock:
            self._refuse_another_file()
            if self._engine is None:
                engine = self._connect()
                try:
                    self._prepare(engine)
                except BaseException:
                    engine.dispose()
                    raise
                self._engine = engine
                if self._file is not None:
                    self._inodes = sqlite.inodes(self._file)
            return self._engine

    def _refuse_damaged(self) -> None:
        """Raise ``StoreUnavailable`` if the file is known to be damaged."""
        if self._damage is not None:
            raise StoreUnavailable(*astuple(self._damage))

    def _refuse_another_file(self) -> None:
        """Raise ``StoreUnavailable`` if the files that were opened are not at their places."""
        if self._file is None or self._inodes.items() <= sqlite.inodes(self._file).items():
            return
        raise StoreUnavailable(
            REMOVED,
            f"The database {self._file} or its write-ahead log was removed or replaced while it was"
            " in use.",
            "Put the same files back if they were moved. Otherwise stop the service, bring a backup"
            " back with esoteric restore FILE --replace, and start it again.",
        )

    def _connect(self) -> Engine:
        arguments: dict[str, Any] = {}
        if self._url.get_backend_name() == "sqlite":
            arguments["timeout"] = sqlite.BUSY_SECONDS
        if self._url.get_backend_name() == "postgresql":
            arguments |= postgresql.ARGUMENTS
        try:
            if self._file is not None:
                make_private_folder(self._file.parent)
                make_private_file(self._file)  # SQLite gives its other files the same mode
        except OSError as error:
            raise StoreUnavailable(
                "store_unavailable",
                f"The database or its folder cannot be made: {error}.",
                "Set ESOTERIC_HOME to a folder that can be written.",
            ) from error
        # Errors are logged; with their parameters they would hold claims.
        engine = create_engine(
            self._url, connect_args=arguments, pool_pre_ping=True, hide_parameters=True
        )
        if engine.dialect.name == "sqlite":
            sqlite.set_up(engine)
        return engine

    def _prepare(self, engine: Engine) -> None:
        """Make the tables, or bring those of another version to the schema of today."""
        with engine.begin() as connection:
            if revision_of(connection) == REVISION:
                return
        # Alembic is loaded only for this: it takes as long as SQLAlchemy.
        from worker.migrations import UnknownSchema, upgrade

        try:
            with engine.execution_options(writes=True).begin() as connection:
                if engine.dialect.name == "postgresql":
                    postgresql.lock_migrations(connection)  # SQLite has one writer anyway
                upgrade(connection)
        except UnknownSchema as error:
            message = f"The database {self._place()} has schema {error}"
            if error.older:
                raise StoreUnavailable(
                    "store_older",
                    f"{message}, which is older than all that this ESOTERIC reads.",
                    "Use the ESOTERIC that wrote it: its esoteric backup keeps the claims in a file"
                    " that its esoteric restore brings back. Or move the database away to start a"
                    " new one.",
                ) from error
            raise StoreUnavailable(
                "store_version",
                f"{message}; this ESOTERIC uses schema {REVISION} and knows none after it.",
                "Use the ESOTERIC version that wrote it or a newer one, or move the database away"
                " to start a new one.",
            ) from error

    def _unavailable(
        self, error: BaseException | None, committing: bool = False
    ) -> StoreUnavailable:
        """Return what to say of an error of the driver, and remember a damage.

        ``committing``: it came when all had been written.
        """
        # Drivers of servers write several lines, with hints of their own.
        why = str(error).strip().partition("\n")[0].rstrip(".")
        name = getattr(error, "sqlite_errorname", "")
        if sqlite.is_damaged(error):
            self._damage = Problem(
                DAMAGED,
                f"The database {self._place()} is damaged: {why}. Nothing more is written to it.",
                "Stop the service, bring a backup back with esoteric restore FILE --replace (it"
                " keeps the damaged file under another name), and start it again.",
            )
            return StoreUnavailable(*astuple(self._damage))
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            hint = "Another program has locked it; try again, or end that program."
        elif name.startswith("SQLITE_FULL"):
            hint = "Free some space on its disk and try again; stored data is not lost."
        elif name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
            hint = "Make the file and its folder writable, or set ESOTERIC_HOME to another folder."
        elif name:
            hint = (
                "Check its disk, and the database with `esoteric doctor`;"
                " `esoteric restore` brings a backup back."
            )
        else:
            hint = (
                "Start the database's server, and check user, password and name in"
                " ESOTERIC_DATABASE_URL; `esoteric doctor` tries them."
            )
        message = f"The database {self._place()} cannot be used: {why}."
        if committing and not name:
            # A server may have committed before its answer was lost; SQLite has not.
            message += " It is not known whether the last change was stored."
        return StoreUnavailable("store_unavailable", message, hint)

    def _place(self) -> str:
        in_file = self._url.get_backend_name() == "sqlite" and self._url.database
        return (
            str(self._url.database) if in_file else self._url.render_as_string(hide_password=True)
        )


def read_url(url: str) -> URL:
    """Return the address of a database that can be asked here; connect to nothing.

    Raises:
        StoreUnavailable: this is no address of a database, or its driver is not installed.
    """
    try:
        engine = create_engine(url)
    except ValueError as error:
        # What stands there may be a password whose host was left out, so it is not shown.
        raise _bad_url("its port or an option is wrong") from error
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        raise _bad_url(str(error).rstrip(".")) from error
    if engine.dialect.is_async:
        raise _bad_url(f"{engine.url.drivername} is an asynchronous driver")
    if engine.url.port is not None and not 1 <= engine.url.port <= _HIGHEST_PORT:
        raise _bad_url(f"its port is not between 1 and {_HIGHEST_PORT}")
    return engine.url


def _bad_url(why: str) -> StoreUnavailable:
    return StoreUnavailable(
        "database_url",
        f"ESOTERIC_DATABASE_URL cannot be used: {why}.",
        "Set it to an SQLAlchemy URL whose driver is installed, or unset it for SQLite. For"
        " PostgreSQL: pip install -r requirements-postgresql.txt, and postgresql+psycopg://.",
    )
