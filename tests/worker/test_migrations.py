"""Databases of other versions: brought to the tables of today and back, with their rows."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from retrieval.result import ClaimResult
from settings import CHECKOUT
from tests.app.claim_documents import claim_document
from tests.worker.test_job_store_races import at_once
from worker.database import Database, StoreUnavailable
from worker.job_store import JobStore
from worker.migrations import config_of, is_mapped
from worker.run_store import RunStore
from worker.schema import REVISION, Base
from worker.worker_store import WorkerStore

# As the versions without Alembic made them, in SQLite.
TABLES_OF_VERSION_2 = """
CREATE TABLE schema (version INTEGER NOT NULL, PRIMARY KEY (version));
CREATE TABLE claims (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, id VARCHAR(32) NOT NULL,
    claim TEXT NOT NULL, folded TEXT NOT NULL, recipe VARCHAR(64) NOT NULL, pending VARCHAR(64),
    state VARCHAR(16) NOT NULL, created_at DATETIME NOT NULL, dispatched_at DATETIME,
    started_at DATETIME, finished_at DATETIME, attempts INTEGER NOT NULL, token VARCHAR(32),
    worker VARCHAR(128), lease_until DATETIME, label VARCHAR(16), result TEXT, error TEXT,
    UNIQUE (id), UNIQUE (pending)
);
CREATE INDEX claims_by_state ON claims (state, lease_until);
CREATE TABLE workers (
    id VARCHAR(128) NOT NULL, started_at DATETIME NOT NULL, seen_at DATETIME NOT NULL,
    state VARCHAR(16) NOT NULL, problem TEXT, PRIMARY KEY (id)
);
CREATE TABLE events (
    claim_id VARCHAR(32) NOT NULL, n INTEGER NOT NULL, at DATETIME NOT NULL,
    stage VARCHAR(32) NOT NULL, message TEXT NOT NULL, done INTEGER NOT NULL,
    "of" INTEGER NOT NULL, PRIMARY KEY (claim_id, n),
    FOREIGN KEY(claim_id) REFERENCES claims (id) ON DELETE CASCADE
);
"""
MORE_OF_VERSION_7 = """
ALTER TABLE workers ADD COLUMN corpus TEXT;
ALTER TABLE workers ADD COLUMN language_model TEXT;
ALTER TABLE claims ADD COLUMN confidence FLOAT;
ALTER TABLE claims ADD COLUMN leans VARCHAR(16);
CREATE TABLE answers (
    digest VARCHAR(64) NOT NULL, answer TEXT NOT NULL, kept_at DATETIME NOT NULL,
    PRIMARY KEY (digest)
);
INSERT INTO answers VALUES ('d1', '{}', '2026-11-20 09:30:00.000000');
"""
ROWS = """
INSERT INTO claims (id, claim, folded, recipe, pending, state, created_at, attempts)
    VALUES ('c1', 'Tea is hot.', 'tea is hot.', 'esoteric', 'p1', 'queued',
            '2026-11-20 09:30:00.000000', 0);
INSERT INTO events VALUES ('c1', 1, '2026-11-20 09:31:00.000000', 'spans', 'Tea', 1, 9);
INSERT INTO workers (id, started_at, seen_at, state)
    VALUES ('w1', '2026-11-20 09:30:00.000000', '2026-11-20 09:30:01.000000', 'ready');
"""
LONG = timedelta(days=99_999)


def rows(file: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(query).fetchall()


def script(file: Path, statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executescript(statements)


def older(file: Path, version: int) -> None:
    """Make a database of version 2 or 7, with rows."""
    script(file, TABLES_OF_VERSION_2 + (MORE_OF_VERSION_7 if version == 7 else "") + ROWS)
    script(file, f"INSERT INTO schema VALUES ({version})")


@pytest.mark.parametrize(("version", "answers"), [(2, []), (7, [("d1",)])])
def test_a_database_without_revisions_is_brought_to_today_and_keeps_its_rows(
    tmp_path: Path, version: int, answers: list[Any]
) -> None:
    file = tmp_path / "claims.db"
    older(file, version)
    for _ in range(2):
        store = JobStore(Database(f"sqlite:///{file}"))
        assert store.get("c1").claim == "Tea is hot."
        assert store.get("c1").created_at == datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
        assert [event.message for event in store.events("c1", 0)] == ["Tea"]
        assert [listed.confidence for listed in store.recent(1)] == [None]
        assert [one.corpus for one in WorkerStore(store.database).alive(LONG)] == [None]
        store.database.close()
    assert rows(file, "SELECT version_num FROM alembic_version") == [(REVISION,)]
    assert rows(file, "SELECT digest FROM answers") == answers


@pytest.mark.parametrize("older_version", [2, 7])
def test_the_tables_of_before_become_those_of_the_mapped_classes(
    tmp_path: Path, older_version: int
) -> None:
    older(tmp_path / "claims.db", older_version)
    assert_of_today(f"sqlite:///{tmp_path}/claims.db")


def test_new_tables_are_those_of_the_mapped_classes(url: str) -> None:
    assert_of_today(url)


def assert_of_today(url: str) -> None:
    database = Database(url)
    database.reach()
    with database.migrating() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": is_mapped})
        assert compare_metadata(context, Base.metadata) == []
        assert ScriptDirectory.from_config(config_of(connection)).get_current_head() == REVISION
    database.close()


def test_going_back_lets_the_program_before_open_it_and_forward_again_loses_nothing(
    store: JobStore,
) -> None:
    runs = RunStore(store.database)
    job, _ = store.submit("Tea is a drink.", "esoteric")
    run = runs.start(job.id, "a worker")
    assert run is not None
    found = claim_document("Tea is a drink.")
    found["evidence"][1] |= {"stance": "REFUTES", "selected": True}
    assert runs.finish(run, ClaimResult.model_validate(found))
    other, _ = store.submit("Ice is cold.", "esoteric")
    run = runs.start(other.id, "a worker")
    assert run is not None
    assert runs.finish(run, ClaimResult.model_validate(claim_document("Ice is cold.")))
    done = store.get(job.id)
    store.database.close()
    # The program before refuses this.
    assert found_in(store, "SELECT version FROM schema") == [(8,)]
    store.database.close()
    with store.database.migrating() as connection:
        command.downgrade(config_of(connection), "base")
        assert connection.execute(text("SELECT version FROM schema")).all() == [(7,)]
        assert connection.execute(text("SELECT count(*) FROM alembic_version")).all() == [(0,)]
        kept = connection.execute(text("SELECT id, state FROM claims")).all()
        assert set(kept) == {(job.id, "done"), (other.id, "done")}
    assert store.get(job.id) == done
    assert found_in(store, "SELECT version_num FROM alembic_version") == [(REVISION,)]
    # Only where the result says so; the other row is not written again.
    divided = found_in(store, "SELECT divided FROM claims ORDER BY number")
    assert divided == [(True,), (None,)]
    store.database.close()


def found_in(store: JobStore, query: str) -> list[Any]:
    with store.database.reading() as session:
        return list(session.execute(text(query)).all())


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE alembic_version SET version_num = '9999'", "schema 9999"),
        ("DELETE FROM alembic_version; UPDATE schema SET version = 999", "schema 999"),
    ],
)
def test_a_database_newer_than_the_program_is_refused_and_stays_as_it_is(
    tmp_path: Path, statement: str, named: str
) -> None:
    file = tmp_path / "claims.db"
    store = JobStore(Database(f"sqlite:///{file}"))
    store.submit("Tea is a drink.", "esoteric")
    store.database.close()
    script(file, statement)
    before = rows(file, "SELECT * FROM schema"), rows(file, "SELECT * FROM alembic_version")
    with pytest.raises(StoreUnavailable) as caught:
        store.counts()
    assert caught.value.code == "store_version"
    assert str(file) in caught.value.message
    assert named in caught.value.message
    assert f"this ESOTERIC uses schema {REVISION}" in caught.value.message
    assert "newer" in caught.value.hint
    assert before == (
        rows(file, "SELECT * FROM schema"),
        rows(file, "SELECT * FROM alembic_version"),
    )


def test_an_old_database_that_many_open_at_once_is_brought_to_today_once(tmp_path: Path) -> None:
    file = tmp_path / "claims.db"
    older(file, 2)
    stores = [JobStore(Database(f"sqlite:///{file}")) for _ in range(8)]
    assert at_once(8, lambda which: stores[which].get("c1").state) == ["queued"] * 8
    for store in stores:
        store.database.close()


@pytest.mark.server
def test_a_database_of_today_is_opened_without_alembic(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/claims.db"
    database = Database(url)
    database.reach()
    database.close()
    program = (
        "import sys; from worker.database import Database;"
        " Database(sys.argv[1]).reach(); sys.exit('alembic' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program, url], cwd=CHECKOUT, check=True)
