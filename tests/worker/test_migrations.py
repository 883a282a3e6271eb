"""Databases of other versions: brought to the tables of today with their rows, or refused."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from app import create_app
from app.services import services_of
from retrieval.index.open import open_index
from settings import CHECKOUT, Settings
from tests.worker.test_job_store_races import at_once
from worker.database import Database, StoreUnavailable
from worker.job_store import JobStore
from worker.migrations import config_of
from worker.schema import REVISION, Base

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
def test_old_claims_are_there_with_their_verdicts_in_the_tables_of_today(
    home: str, tmp_path: Path
) -> None:
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
def test_a_database_that_many_open_at_once_is_brought_to_today_once(
    home: str, tmp_path: Path
) -> None:
    file = tmp_path / "esoteric.db" if home == "new" else unpack(home, tmp_path)
    stores = [JobStore(Database(f"sqlite:///{file}")) for _ in range(8)]
    found = at_once(8, lambda which: stores[which].counts()["queued"])
    assert found == [0 if home == "new" else 1] * 8
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
