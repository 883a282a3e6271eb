"""What every database takes, and errors of one that cannot be used, with how to fix them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from contextlib import closing
from pathlib import Path
from threading import Event, Thread, Timer

import pytest
from sqlalchemy import String, text
from sqlalchemy.dialects import postgresql, sqlite

from retrieval.errors import Problem
from tests.support.cases import cases
from worker.database import Database, StoreUnavailable
from worker.job_store import ClaimFilter, JobStore
from worker.jobs import UnknownJob
from worker.list_store import ListStore
from worker.lists import NewEntry, SourcePage
from worker.schema import Base, StoredText

DELETE = text("DELETE FROM claims")


def refused(url: str) -> StoreUnavailable:
    store = JobStore(Database(url))
    with pytest.raises(StoreUnavailable) as caught:
        store.recent(1)
    store.database.close()
    return caught.value


def test_only_this_user_can_read_the_database_and_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "new" / "home" / "claims.db"
    before = os.umask(0)
    try:
        store = JobStore(Database(f"sqlite:///{file}"))
        store.submit("Tea is a drink.", "esoteric")
        names = {part.name for part in file.parent.iterdir()}
        assert names == {"claims.db", "claims.db-wal", "claims.db-shm"}
        assert {stat.S_IMODE(part.stat().st_mode) for part in file.parent.iterdir()} == {0o600}
        for folder in (file.parent, file.parent.parent):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        store.database.close()
    finally:
        os.umask(before)


def test_the_mode_that_a_user_gave_to_the_database_and_its_folder_stays(tmp_path: Path) -> None:
    file = tmp_path / "claims.db"
    tmp_path.chmod(0o755)
    file.touch()
    file.chmod(0o640)
    store = JobStore(Database(f"sqlite:///{file}"))
    store.submit("Tea is a drink.", "esoteric")
    store.database.close()
    assert [stat.S_IMODE(one.stat().st_mode) for one in (file, tmp_path)] == [0o640, 0o755]


def test_a_file_that_was_read_only_can_be_written_as_soon_as_that_is_over() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "home"
        left_by_a_crash(folder)
        files = [Path(name), folder, *folder.iterdir()]
        database = Database(f"sqlite:///{folder}/claims.db")
        reading, read, user = Event(), Event(), os.geteuid()

        def read_slowly() -> None:
            with database.reading() as session:
                session.execute(text("SELECT 1"))
                reading.set()
                read.wait(10)

        for path in files:
            path.chmod(0o555 if path.is_dir() else 0o444)
        try:
            os.seteuid(user or 65534)  # who may do everything tries it as one who may not
            reader = Thread(target=read_slowly)
            reader.start()
            reading.wait(10)
            with pytest.raises(StoreUnavailable, match="readonly"), database.writing() as session:
                session.execute(DELETE)
        finally:
            os.seteuid(user)
            for path in files:
                path.chmod(0o755)
        Timer(0.2, read.set).start()
        with database.writing() as session:
            session.execute(DELETE)
        reader.join()
        database.close()


def left_by_a_crash(folder: Path) -> None:
    """Make a folder with a database and the files that SQLite has while it is open."""
    with tempfile.TemporaryDirectory() as other:
        store = JobStore(Database(f"sqlite:///{other}/claims.db"))
        store.submit("Tea is a drink.", "esoteric")
        shutil.copytree(other, folder)
        store.database.close()


def test_a_folder_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    error = refused(f"sqlite:///{tmp_path}/file/claims.db")
    assert "ESOTERIC_HOME" in error.hint


@cases("database_urls", "url")
def test_a_wrong_url_is_refused_before_anything_is_opened(url: str) -> None:
    with pytest.raises(StoreUnavailable, match="ESOTERIC_DATABASE_URL") as caught:
        Database(url)
    assert caught.value.code == "database_url"
    assert "hush" not in str(caught.value)


def test_a_writer_waits_for_another_writer(tmp_path: Path) -> None:
    """The transaction of another program ends after half a second; nothing is lost."""
    store = JobStore(Database(f"sqlite:///{tmp_path}/claims.db"))
    store.counts()
    with closing(
        sqlite3.connect(tmp_path / "claims.db", isolation_level=None, check_same_thread=False)
    ) as other:
        other.execute("BEGIN IMMEDIATE")
        timer = Timer(0.5, other.execute, ["COMMIT"])
        timer.start()
        assert store.submit("Tea is a drink.", "esoteric")[1]
        timer.join()
    store.database.close()


def test_every_column_of_text_goes_by_the_rule() -> None:
    for table in Base.metadata.tables.values():
        for column in table.columns:
            assert not isinstance(column.type, String), f"{table.name}.{column.name}"
    assert isinstance(Base.metadata.tables["list_rows"].columns["claim"].type, StoredText)
    for dialect in (postgresql.dialect(), sqlite.dialect()):  # as the migrations make them
        assert StoredText().compile(dialect) == "TEXT"
        assert StoredText(32).compile(dialect) == "VARCHAR(32)"


def test_nothing_that_is_stored_or_looked_for_has_what_a_database_refuses(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/claims.db")
    lists, bad = ListStore(database), "x\0\ud800"
    entry = NewEntry(bad, bad, {bad: bad}, Problem("claim_link", "A link.", ""), (0, 3))
    page = SourcePage(bad, f"https://a.example/{bad}")
    list_id = lists.create(bad, "combined", [entry], None, bad, None, page)
    clean = "x\ufffd\ufffd"
    assert lists.get(list_id).name == clean
    row = lists.entries(list_id, "all", 9, 0)[0]
    assert (row.place, row.claim, row.others) == (clean, clean, {clean: clean})
    source = lists.source_text(list_id)
    assert source is not None
    assert (source.text, source.page) == (clean, SourcePage(clean, f"https://a.example/{clean}"))
    with pytest.raises(UnknownJob):
        JobStore(database).get(bad)
    assert JobStore(database).listed(ClaimFilter(text=bad), 9) == ([], 0)
    database.close()
