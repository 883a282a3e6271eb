"""The file of the database: removed, damaged, copied alone, and what deletion leaves in it."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import delete, insert, text

from worker.database import Database, StoreUnavailable
from worker.file_upkeep import FileUpkeep
from worker.job_store import JobStore
from worker.jobs import Job
from worker.schema import ClaimRow

SEED = 1


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "esoteric.db"


@pytest.fixture
def store(file: Path) -> JobStore:
    return JobStore(Database(f"sqlite:///{file}"))


def submit(store: JobStore, claim: str) -> Job:
    return store.submit(claim, "esoteric")[0]


def moved_away(files: list[Path], folder: Path) -> None:
    folder.mkdir()
    for one in files:
        one.rename(folder / one.name)


@pytest.mark.parametrize("pattern", ["esoteric.db*", "esoteric.db", "esoteric.db-wal"])
def test_nothing_is_read_or_stored_while_a_file_is_away_and_all_is_there_when_it_is_back(
    store: JobStore, file: Path, pattern: str
) -> None:
    job = submit(store, "Tea is a drink.")
    aside, gone = file.parent / "aside", list(file.parent.glob(pattern))
    moved_away(gone, aside)
    for use in (lambda: submit(store, "Coffee is a drink."), lambda: store.get(job.id)):
        with pytest.raises(StoreUnavailable, match="removed or replaced") as caught:
            use()
        assert caught.value.code == "store_removed"
        assert "esoteric restore" in caught.value.hint
    for one in gone:
        assert not one.exists()
        (aside / one.name).rename(one)
    assert [listed.claim for listed in store.recent(9)] == ["Tea is a drink."]
    store.database.close()


def test_another_database_in_the_place_of_the_first_is_refused_also_after_an_error(
    store: JobStore, file: Path
) -> None:
    submit(store, "Tea is a drink.")
    with pytest.raises(StoreUnavailable), store.database.reading() as session:
        session.execute(text("SELECT * FROM nowhere"))  # after an error, it connects anew
    moved_away(list(file.parent.glob("esoteric.db*")), file.parent / "aside")
    another = JobStore(Database(f"sqlite:///{file}"))
    submit(another, "Milk is a drink.")
    with pytest.raises(StoreUnavailable, match="removed or replaced"):
        submit(store, "Coffee is a drink.")
    assert [listed.claim for listed in another.recent(9)] == ["Milk is a drink."]
    another.database.close()


def test_what_is_stored_in_a_file_that_is_removed_meanwhile_is_not_accepted(
    store: JobStore, file: Path
) -> None:
    submit(store, "Tea is a drink.")
    with (
        pytest.raises(StoreUnavailable, match="removed or replaced"),
        store.database.writing(),
    ):
        file.unlink()


def damage_events(file: Path) -> None:
    """Overwrite the pages of the table of events, as a bad disk does."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages = connection.execute("PRAGMA page_size").fetchone()[0]
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'events'"
        ).fetchone()
    with file.open("r+b") as content:
        content.seek((root - 1) * pages)
        content.write(b"\xa5" * pages)


def test_a_damage_that_no_claim_has_met_is_found_and_ends_all_writing(
    store: JobStore, file: Path
) -> None:
    job = submit(store, "Tea is a drink.")
    upkeep = FileUpkeep(store.database, Event())
    upkeep.look()
    damage_events(file)
    with pytest.raises(StoreUnavailable) as caught:
        FileUpkeep(store.database, Event()).look()
    assert caught.value.code == "store_damaged"
    assert "esoteric restore FILE --replace" in caught.value.hint
    for use in (store.database.reach, lambda: submit(store, "Milk is white.")):
        with pytest.raises(StoreUnavailable, match="damaged"):
            use()
    assert store.get(job.id).claim == "Tea is a drink."  # what can be read is
    store.database.close()


def test_a_file_is_looked_at_again_soon_and_a_damage_is_said_once(
    store: JobStore, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    submit(store, "Tea is a drink.")
    damage_events(file)
    halt = Event()
    upkeep = FileUpkeep(store.database, halt)
    halt.set()
    for _ in range(2):
        upkeep.run()
    (line,) = (record.getMessage() for record in caplog.records if record.levelname == "CRITICAL")
    assert "is damaged" in line
    assert "esoteric restore" in line
    store.database.close()


def test_a_file_that_is_copied_alone_is_whole_once_it_is_settled(
    store: JobStore, file: Path, tmp_path: Path
) -> None:
    for number in range(5):
        submit(store, f"Tea {number} is a drink.")
    FileUpkeep(store.database, Event()).look()  # while it stays open
    (tmp_path / "copy").mkdir()
    copy = JobStore(Database(f"sqlite:///{shutil.copy(file, tmp_path / 'copy' / 'a.db')}"))
    assert copy.counts()["queued"] == 5
    for one in (copy, store):
        one.database.close()


def test_no_word_of_what_was_deleted_stays_in_any_file_while_the_database_is_open(
    store: JobStore, file: Path
) -> None:
    """Claims of many lengths in any order: SQLite moves them between its pages, and leaves copies.

    With this seed some stay in the file itself if only the log is emptied.
    """
    chance, kept = random.Random(SEED), dict[str, str]()
    numbers = chance.sample(range(100_000, 1_000_000), 1500)
    for _ in range(30):
        words = [f"quillby{numbers.pop()}" for _ in range(50)]
        kept |= {word: f"{number:06}{word}" for number, word in enumerate(words)}
        with store.database.writing() as session:
            session.execute(insert(ClaimRow), [row(chance, word, kept[word]) for word in words])
        gone = [kept.pop(word) for word in chance.sample(list(kept), 30)]
        with store.database.erasing() as session:
            session.execute(delete(ClaimRow).where(ClaimRow.id.in_(gone)))
    assert store.database.settle()
    assert set(re.findall(r"quillby\d{6}", all_text(file.parent))) == set(kept)
    store.database.close()


def row(chance: random.Random, word: str, job_id: str) -> dict[str, object]:
    claim = f"{chance.random()} {word}{' is old' * chance.randrange(60)}"
    more = {"recipe": "esoteric", "state": "done", "created_at": datetime.now(UTC), "attempts": 1}
    return {"id": job_id, "claim": claim, "folded": claim, **more}


def all_text(folder: Path) -> str:
    files = (one for one in folder.rglob("*") if one.is_file())
    return "\n".join(one.read_bytes().decode("latin-1") for one in files)


def test_what_is_deleted_while_others_read_is_gone_when_they_have_read(
    store: JobStore, file: Path
) -> None:
    job = submit(store, "The kettle of Quillby is old.")
    with closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM claims").fetchall()
        store.delete(job.id)
        assert not store.database.settle()
    assert "Quillby" in all_text(file.parent)
    assert store.database.settle()
    assert "Quillby" not in all_text(file.parent)
    store.database.close()
