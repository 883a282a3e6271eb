"""The tables of the job store, and the connections to them.

The schema has a version. A database of an earlier version is upgraded if the change is
known; any other version is refused.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    Connection,
    DateTime,
    Dialect,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError
from sqlalchemy.types import TypeDecorator

from retrieval.errors import EsotericError
from retrieval.system.private_files import make_private_file, make_private_folder

SCHEMA_VERSION = 7
# The statement that upgrades each version to the next one.
_CHANGES = {
    2: "ALTER TABLE workers ADD COLUMN corpus TEXT",
    3: "ALTER TABLE workers ADD COLUMN language_model TEXT",
    4: "ALTER TABLE claims ADD COLUMN confidence FLOAT",
    5: "ALTER TABLE claims ADD COLUMN leans VARCHAR(16)",
    # Their digests did not name a statement, so no claim could be deleted with them.
    6: "DELETE FROM answers",
}
# How long a writer waits for another one; transactions here take milliseconds.
BUSY_SECONDS = 10


class StoreUnavailable(EsotericError):
    """The database of claims cannot be opened, read or written."""


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC, stored without time zone because SQLite has none."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time as the database stores it."""
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time with its time zone."""
        return None if value is None else value.replace(tzinfo=UTC)


METADATA = MetaData()

SCHEMA = Table("schema", METADATA, Column("version", Integer, primary_key=True))

CLAIMS = Table(
    "claims",
    METADATA,
    # The order of the history, also for two claims of the same millisecond.
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("claim", Text, nullable=False),
    # The claim casefolded: LIKE ignores case only for ASCII in SQLite, and never in PostgreSQL.
    Column("folded", Text, nullable=False),
    Column("recipe", String(64), nullable=False),
    # A digest of claim and recipe while the job is pending, NULL afterwards. UNIQUE allows
    # many NULLs, so it means "one pending job", on every database.
    Column("pending", String(64), unique=True),
    Column("state", String(16), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    # When the broker last took a message for it; NULL: the claim is not accepted yet.
    Column("dispatched_at", UtcDateTime),
    Column("started_at", UtcDateTime),
    Column("finished_at", UtcDateTime),
    Column("attempts", Integer, nullable=False),
    # Identifies one run of the job. Only the worker with this token may write events or a result.
    Column("token", String(32)),
    Column("worker", String(128)),
    # Changes when the worker renews its lease. Others only look whether it changes: they do not
    # compare this time with their clocks, which may differ from the worker's.
    Column("lease_until", UtcDateTime),
    # Copies of the result's verdict, so that a list of claims need not read the results.
    Column("label", String(16)),
    Column("confidence", Float),
    Column("leans", String(16)),
    Column("result", Text),
    Column("error", Text),
    Index("claims_by_state", "state", "lease_until"),
    sqlite_autoincrement=True,
)

EVENTS = Table(
    "events",
    METADATA,
    Column("claim_id", String(32), ForeignKey("claims.id", ondelete="CASCADE"), primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("at", UtcDateTime, nullable=False),
    Column("stage", String(32), nullable=False),
    Column("message", Text, nullable=False),
    Column("done", Integer, nullable=False),
    Column("of", Integer, nullable=False),
)

WORKERS = Table(
    "workers",
    METADATA,
    Column("id", String(128), primary_key=True),
    Column("started_at", UtcDateTime, nullable=False),
    Column("seen_at", UtcDateTime, nullable=False),
    Column("state", String(16), nullable=False),
    Column("problem", Text),
    Column("corpus", Text),
    Column("language_model", Text),
)

# Answers of language models, by a digest of the statement and one of the model and its prompts.
ANSWERS = Table(
    "answers",
    METADATA,
    Column("digest", String(64), primary_key=True),
    Column("answer", Text, nullable=False),
    Column("kept_at", UtcDateTime, nullable=False),
)


class Database:
    """Connections to one database; the first call of a method opens it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = Lock()
        self._engine: Engine | None = None

    @property
    def folder(self) -> Path | None:
        """Folder of the database's file; ``None`` if there is none."""
        try:
            file = _file(make_url(self._url))
        except ArgumentError:
            return None  # the first call of a method reports it
        return None if file is None else file.parent

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection in a transaction that only reads.

        Raises:
            StoreUnavailable: the database cannot be used; the hint says how to fix it.
        """
        with self._transaction(writes=False) as connection:
            yield connection

    @contextmanager
    def writing(self, busy_seconds: float = BUSY_SECONDS) -> Iterator[Connection]:
        """Yield a connection in a transaction that is committed at the end of the block.

        ``busy_seconds``: how long to wait for another writer; SQLite only.

        Raises:
            StoreUnavailable: the database cannot be used; the hint says how to fix it.
        """
        with self._transaction(writes=True, busy_seconds=busy_seconds) as connection:
            yield connection

    def close(self) -> None:
        """Close every connection; the next call opens a new one."""
        with self._lock:
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.dispose()

    @contextmanager
    def _transaction(
        self, *, writes: bool, busy_seconds: float = BUSY_SECONDS
    ) -> Iterator[Connection]:
        try:
            connection = (
                self._opened().connect().execution_options(writes=writes, busy_seconds=busy_seconds)
            )
            with connection, connection.begin():
                yield connection
        except IntegrityError:
            raise  # handled by the caller: a unique value exists already
        except DBAPIError as error:
            # Opening the file again notices that it was replaced.
            self.close()
            raise self._unavailable(error) from error

    def _opened(self) -> Engine:
        with self._lock:
            if self._engine is None:
                engine = self._connect()
                try:
                    self._prepare(engine)
                except BaseException:
                    engine.dispose()
                    raise
                self._engine = engine
            return self._engine

    def _connect(self) -> Engine:
        try:
            url = make_url(self._url)
            arguments: dict[str, Any] = {}
            if url.get_backend_name() == "sqlite":
                arguments["timeout"] = BUSY_SECONDS
            file = _file(url)
            if file is not None:
                make_private_folder(file.parent)
                make_private_file(file)  # SQLite gives its other files the same mode
            # Errors are logged; with their parameters they would hold claims.
            engine = create_engine(
                url, connect_args=arguments, pool_pre_ping=True, hide_parameters=True
            )
        except (ArgumentError, NoSuchModuleError, ImportError) as error:
            raise StoreUnavailable(
                "database_url",
                f"ESOTERIC_DATABASE_URL cannot be used: {error}.",
                "Set it to an SQLAlchemy URL whose driver is installed, or unset it for SQLite.",
            ) from error
        except OSError as error:
            raise StoreUnavailable(
                "store_unavailable",
                f"The database or its folder cannot be made: {error}.",
                "Set ESOTERIC_HOME to a folder that can be written.",
            ) from error
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _set_up_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
        return engine

    def _prepare(self, engine: Engine) -> None:
        """Create missing tables, and refuse a schema of an unknown version."""
        with engine.connect().execution_options(writes=False) as connection, connection.begin():
            ready = inspect(connection).has_table(SCHEMA.name)
            version = connection.scalar(select(SCHEMA.c.version)) if ready else None
        if version is None or version in _CHANGES:
            version = self._upgrade(engine)
        if version != SCHEMA_VERSION:
            raise StoreUnavailable(
                "store_version",
                f"The database {self._place(engine)} has schema version {version}; this ESOTERIC"
                f" uses version {SCHEMA_VERSION}.",
                "Use the ESOTERIC version that created it, or move it away to start a new one.",
            )

    def _upgrade(self, engine: Engine) -> int:
        """Create the tables, or upgrade those of an earlier version; return the version.

        Another process may do the same at this time.
        """
        with engine.connect().execution_options(writes=True) as connection, connection.begin():
            METADATA.create_all(connection)
            version = connection.scalar(select(SCHEMA.c.version).with_for_update())
            if version is None:
                version = SCHEMA_VERSION
                connection.execute(insert(SCHEMA).values(version=version))
            while version in _CHANGES:
                connection.execute(text(_CHANGES[version]))
                version += 1
                connection.execute(update(SCHEMA).values(version=version))
        return version

    def _unavailable(self, error: DBAPIError) -> StoreUnavailable:
        place = make_url(self._url).render_as_string(hide_password=True)
        if place.startswith("sqlite"):
            place = make_url(self._url).database or place
        reason = str(error.orig)
        name = getattr(error.orig, "sqlite_errorname", "")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            hint = "Another program has locked it; try again, or end that program."
        elif name.startswith("SQLITE_FULL"):
            hint = "Free some space on its disk and try again; stored data is not lost."
        elif name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
            hint = "Make the file and its folder writable, or set ESOTERIC_HOME to another folder."
        elif name:
            hint = (
                "Move the file away and start again (the history starts empty);"
                " `esoteric doctor` checks it."
            )
        else:
            hint = "Start the database server, or unset ESOTERIC_DATABASE_URL; `esoteric doctor`."
        return StoreUnavailable(
            "store_unavailable", f"The database {place} cannot be used: {reason}.", hint
        )

    def _place(self, engine: Engine) -> str:
        if engine.dialect.name == "sqlite":
            return str(engine.url.database)
        return engine.url.render_as_string(hide_password=True)


def _file(url: URL) -> Path | None:
    """Return the file of a database of SQLite, unless it is given as a URI with options."""
    name = url.database or ":memory:"
    in_file = url.get_backend_name() == "sqlite" and not name.startswith((":memory:", "file:"))
    return Path(name) if in_file else None


def _write_ahead(cursor: Any) -> None:
    """Turn on write-ahead logging; SQLite does not wait here for locks, so this does."""
    give_up = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
            if not busy or time.monotonic() > give_up:
                raise
            time.sleep(0.01)


def _set_up_sqlite(connection: Any, _record: object) -> None:
    # _begin_sqlite begins the transactions: the driver would begin them late, and a
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


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    writes = options.get("writes", False)
    milliseconds = int(options.get("busy_seconds", BUSY_SECONDS) * 1000)
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {milliseconds}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
