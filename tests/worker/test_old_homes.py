"""Homes of all earlier versions open: claims with verdicts, and their indexes or what to do."""

from __future__ import annotations

import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command

from app import create_app
from app.services import services_of
from retrieval.errors import IndexUnavailable
from retrieval.index.embedded.layout import FORMAT
from retrieval.index.open import description_of, needs_build, open_index
from settings import Settings
from worker.database import Database
from worker.job_store import JobStore
from worker.migrations import config_of
from worker.schema import REVISION

HOMES = sorted((Path(__file__).parent / "old_homes").glob("*.tar.xz"))
NAMES = [path.name.removesuffix(".tar.xz") for path in HOMES]
DONE = "Varnby has a harbour."


@pytest.fixture
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with tarfile.open(HOMES[NAMES.index(request.param)]) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path


def columns(file: Path) -> dict[str, set[str]]:
    """Return the columns of each table of claims, by its name."""
    with closing(sqlite3.connect(file)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {
            name: {row[1] for row in connection.execute(f"PRAGMA table_info({name})")}
            for (name,) in tables.fetchall()
            if not name.startswith("sqlite_") and name != "alembic_version"
        }


def revision(file: Path) -> str:
    with closing(sqlite3.connect(file)) as connection:
        (found,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        return str(found)


@pytest.mark.parametrize("home", NAMES, indirect=True)
def test_old_claims_are_there_with_their_verdicts(home: Path) -> None:
    app = create_app(Settings.from_environment({"ESOTERIC_HOME": str(home)}))
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
        for path in (f"/claims/{job.id}", "/claims"):
            answer = client.get(path)
            assert answer.status_code == 200
            assert DONE in answer.text
        submitted = client.post("/api/v1/claims", json={"claim": "Varnby has a castle."})
        assert submitted.status_code == 202
    assert revision(home / "esoteric.db") == REVISION


@pytest.mark.parametrize("home", [n for n in NAMES if "-index" in n], indirect=True)
def test_an_old_index_is_searched_or_the_command_that_builds_it_again_is_named(
    home: Path, request: pytest.FixtureRequest
) -> None:
    index, made_in = home / "index", int(request.node.callspec.params["home"][-1])
    described = description_of(index)
    assert described.source == "jsonl:/srv/varnby.jsonl"
    if made_in == FORMAT:
        assert needs_build(index, described.source) is None
        view = open_index(index, home / "snapshots").open(None)
        assert [one.text for one in view.documents(["Varnby"])] == [
            "Varnby is a town in Norvik. Varnby has a harbour."
        ]
        return
    assert needs_build(index, described.source) == "outdated"
    with pytest.raises(IndexUnavailable) as caught:
        open_index(index, home / "snapshots").open(None)
    assert caught.value.code == "index_format"
    assert "index build --source jsonl:/srv/varnby.jsonl" in caught.value.hint


@pytest.mark.parametrize("home", [n for n in NAMES if "_" in n or "0001" in n], indirect=True)
def test_the_way_back_leads_to_the_tables_of_then_and_keeps_the_claims(home: Path) -> None:
    file = home / "esoteric.db"
    then, before = revision(file), columns(file)
    database = Database(f"sqlite:///{file}")
    assert JobStore(database).counts()["done"] == 1
    with database.migrating() as connection:
        command.downgrade(config_of(connection), then)
    database.close()
    assert (revision(file), columns(file)) == (then, before)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT claim FROM claims WHERE state = 'done'").fetchall() == [
            (DONE,)
        ]
