"""The database: what it takes, its file and other versions of it, and what is wrong with it."""

from __future__ import annotations

import os
import random
import re
import shutil
import sqlite3
import stat
import tarfile
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread, Timer

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import String, create_engine, delete, insert, text
from sqlalchemy.dialects import postgresql, sqlite

from app import create_app
from app.services import services_of
from retrieval.errors import Problem
from retrieval.index.open import open_index
from retrieval.llm_judge.interface import answer_digest
from retrieval.result import ClaimResult
from retrieval.types import Progress
from settings import Settings
from tests.app.claim_documents import claim_document
from tests.support.cases import cases
from tests.support.command import printed
from tests.worker.conftest import at_once
from worker.answer_store import AnswerStore
from worker.database import Database, StoreUnavailable
from worker.file_upkeep import FileUpkeep
from worker.job_store import ClaimFilter, JobStore
from worker.jobs import Job, UnknownJob
from worker.list_store import ListStore
from worker.lists import NewEntry, SourcePage
from worker.migrations import config_of
from worker.run_store import RunStore
from worker.schema import REVISION, Base, ClaimRow, StoredText

DELETE = text("DELETE FROM claims")


def test_the_database_is_private_but_where_a_user_gave_it_another_mode(tmp_path: Path) -> None:
    file, given = tmp_path / "new" / "home" / "claims.db", tmp_path / "claims.db"
    before = os.umask(0)
    try:
        store = JobStore(Database(f"sqlite:///{file}"))
        submit(store, "Tea is a drink.")
        parts = list(file.parent.iterdir())
        assert {part.name for part in parts} == {"claims.db", "claims.db-wal", "claims.db-shm"}
        assert {stat.S_IMODE(part.stat().st_mode) for part in parts} == {0o600}
        for folder in (file.parent, file.parent.parent):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        store.database.close()
    finally:
        os.umask(before)
    tmp_path.chmod(0o755)
    given.touch()
    given.chmod(0o640)
    store = JobStore(Database(f"sqlite:///{given}"))
    submit(store, "Tea is a drink.")
    store.database.close()
    assert [stat.S_IMODE(one.stat().st_mode) for one in (given, tmp_path)] == [0o640, 0o755]


def test_a_file_that_was_read_only_can_be_written_as_soon_as_that_is_over() -> None:
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as other:
        folder = Path(name) / "home"
        store = JobStore(Database(f"sqlite:///{other}/claims.db"))
        submit(store, "Tea is a drink.")
        shutil.copytree(other, folder)  # as a crash leaves it, with the files of an open database
        store.database.close()
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


def submit(store: JobStore, claim: str) -> Job:
    return store.submit(claim, "esoteric")[0]


def test_a_folder_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable) as caught:
        JobStore(Database(f"sqlite:///{tmp_path}/file/claims.db")).recent(1)
    assert "ESOTERIC_HOME" in caught.value.hint


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
    assert (source.text, source.page) == (clean, SourcePage(clean, f"https://a.example/{clean}"))
    with pytest.raises(UnknownJob):
        JobStore(database).get(bad)
    assert JobStore(database).listed(ClaimFilter(text=bad), 9) == ([], 0)
    database.close()


SEED = 1


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "esoteric.db"


@pytest.fixture
def store(file: Path) -> JobStore:
    return JobStore(Database(f"sqlite:///{file}"))


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
    with pytest.raises(StoreUnavailable, match="removed or replaced"), store.database.writing():
        file.unlink()  # meanwhile


def test_another_database_in_place_of_the_first_is_refused(store: JobStore, file: Path) -> None:
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


def test_a_damage_that_no_claim_has_met_is_found_said_once_and_ends_all_writing(
    store: JobStore, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    job, halt = submit(store, "Tea is a drink."), Event()
    FileUpkeep(store.database, halt).look()
    damage_events(file)
    upkeep = FileUpkeep(store.database, halt)
    halt.set()
    for _ in range(2):
        upkeep.run()
    (line,) = (record.getMessage() for record in caplog.records if record.levelname == "CRITICAL")
    assert "is damaged" in line
    assert "esoteric restore" in line
    with pytest.raises(StoreUnavailable) as caught:
        FileUpkeep(store.database, Event()).look()
    assert caught.value.code == "store_damaged"
    assert "esoteric restore FILE --replace" in caught.value.hint
    for use in (store.database.reach, lambda: submit(store, "Milk is white.")):
        with pytest.raises(StoreUnavailable, match="damaged"):
            use()
    assert store.get(job.id).claim == "Tea is a drink."  # what can be read is
    store.database.close()


def test_a_copied_file_is_whole_once_it_is_settled(
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


def test_no_word_of_what_was_deleted_stays_in_any_file(store: JobStore, file: Path) -> None:
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


def test_what_is_deleted_is_gone_when_others_have_read(store: JobStore, file: Path) -> None:
    claim, runs = "The kettle of Quillby is old.", RunStore(store.database)
    job, kept = submit(store, claim), submit(store, "The bell of Varnby is cracked.")
    run = runs.start(job.id, "a worker")
    runs.record(run, Progress("spans", f"Looking for: {claim}", 1, 9))
    runs.finish(run, ClaimResult.model_validate(claim_document(claim)))
    answers = AnswerStore(store.database)
    answers.keep_answer(answer_digest(claim, "m"), "Of Quillby, says the page.")
    with closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM claims").fetchall()
        store.delete(job.id)
        assert not store.database.settle()
    assert "Quillby" in all_text(file.parent)
    assert store.database.settle()
    assert "quillby" not in all_text(file.parent).lower()
    assert store.get(kept.id).claim == "The bell of Varnby is cracked."
    store.database.close()


OLD_HOMES = Path(__file__).parent / "old_homes"
READ = [path.name for path in OLD_HOMES.glob("*.tar.xz") if path.name[:2] > "20"]
DONE = "Varnby has a harbour."


def unpack(home: str, into: Path) -> Path:
    """Unpack a home whose name begins so, and return the file of its database."""
    (packed,) = OLD_HOMES.glob(f"{home}*")
    with tarfile.open(packed) as archive:
        archive.extractall(into, filter="data")
    return into / "esoteric.db"


def script(file: Path, statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executescript(statements)


@pytest.mark.parametrize("home", READ)
def test_old_claims_and_verdicts_are_in_the_tables_of_today(home: str, tmp_path: Path) -> None:
    file = unpack(home, tmp_path)
    app = create_app(Settings.from_environment({"ESOTERIC_HOME": str(tmp_path)}))
    with closing(services_of(app)):
        store = services_of(app).store
        assert [(one.claim, one.state, one.label) for one in store.recent(9)] == [
            ("Varnby has a theatre.", "queued", None),
            (DONE, "done", "SUPPORTS"),
        ]
        job = store.get(store.recent(9)[1].id)
        assert job.result is not None
        assert job.result.verdict.label == "SUPPORTS"
        client = app.test_client()
        assert DONE in client.get(f"/claims/{job.id}").text
        submitted = client.post("/api/v1/claims", json={"claim": "Varnby has a castle."})
        assert submitted.status_code == 202
    assert_of_today(f"sqlite:///{file}")


def test_new_tables_are_those_of_the_mapped_classes(url: str) -> None:
    assert_of_today(url)


def assert_of_today(url: str) -> None:
    database = Database(url)
    database.reach()
    engine = create_engine(url)
    with engine.connect() as connection:
        # Homes of before have a table more, with the number of a schema without revisions.
        options = {"include_name": lambda name, kind, _: (name, kind) != ("schema", "table")}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, Base.metadata) == []
        assert context.get_current_revision() == REVISION
        assert ScriptDirectory.from_config(config_of(connection)).get_current_head() == REVISION
    engine.dispose()
    database.close()


@pytest.mark.parametrize(
    ("home", "statement", "code", "said", "hint"),
    [
        ("01", "", "store_older", "schema 0000, which is older", "esoteric restore"),
        ("20", "", "store_older", "schema users_0010, which is older", "esoteric backup"),
        (
            "21",
            "UPDATE alembic_version SET version_num = 'later_9999'",
            "store_version",
            f"schema later_9999; this ESOTERIC uses schema {REVISION}",
            "or a newer one",
        ),
    ],
)
def test_a_database_that_is_not_read_here_is_refused_and_stays_as_it_is(
    tmp_path: Path, home: str, statement: str, code: str, said: str, hint: str
) -> None:
    file = unpack(home, tmp_path)
    script(file, statement)
    with closing(sqlite3.connect(file)) as connection:
        before = list(connection.iterdump())
    with pytest.raises(StoreUnavailable) as caught:
        JobStore(Database(f"sqlite:///{file}")).counts()
    assert caught.value.code == code
    assert str(file) in caught.value.message
    assert said in caught.value.message
    assert hint in caught.value.hint
    with closing(sqlite3.connect(file)) as connection:
        assert list(connection.iterdump()) == before


def test_an_index_of_an_old_home_is_searched(tmp_path: Path) -> None:
    unpack("20", tmp_path)
    view = open_index(tmp_path / "index", tmp_path / "snapshots").open(None)
    assert [one.text for one in view.documents(["Varnby"])] == [
        "Varnby is a town in Norvik. Varnby has a harbour."
    ]


@pytest.mark.parametrize("home", [*READ, "new"])
def test_a_database_that_many_open_is_brought_to_today_once(home: str, tmp_path: Path) -> None:
    file = tmp_path / "esoteric.db" if home == "new" else unpack(home, tmp_path)
    stores = [JobStore(Database(f"sqlite:///{file}")) for _ in range(8)]
    found = at_once(8, lambda which: stores[which].counts()["queued"])
    assert found == [0 if home == "new" else 1] * 8
    for store in stores:
        store.database.close()


@pytest.mark.server
def test_a_database_of_today_is_opened_without_alembic(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/claims.db"
    reach = "import sys; from worker.database import Database; Database(sys.argv[1]).reach(); "
    for loaded in ("True", "False"):  # the first makes it
        assert printed(reach + "print('alembic' in sys.modules)", url) == [loaded]
