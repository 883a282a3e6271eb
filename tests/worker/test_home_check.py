"""``esoteric verify`` and the daily check find what was really damaged, and say what to do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from click.testing import CliRunner, Result

from app import create_app
from app.services import services_of
from cli.main import main
from settings import Settings
from tests.support.corpora import index, upload
from tests.worker.test_database_file import damage_events
from worker import home_check
from worker.corpora.corpus_folders import DIGESTS
from worker.corpora.corpus_store import CorpusStore
from worker.database import Database
from worker.home_check import HomeCheck, last_outcome
from worker.job_store import JobStore

PAPERS = "files of “Papers”"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a claim, two uploaded files with their index, and a default index."""
    home = tmp_path_factory.mktemp("made") / "home"
    jobs = JobStore(Database(f"sqlite:///{home}/esoteric.db"))
    jobs.submit("Tea is a drink.", "esoteric")
    jobs.database.close()
    store = CorpusStore(home / "documents", {})
    name = store.make("Papers")
    upload(store, name, a_txt="Ships go.", b_txt="Ships come.")
    index(store, name)
    shutil.copytree(store.index(name), home / "index", symlinks=True)
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "home", symlinks=True)


def verify(home: Path, *options: str) -> Result:
    settings = {"ESOTERIC_HOME": str(home), "ESOTERIC_DATABASE_URL": "", "ESOTERIC_STORE": ""}
    return CliRunner().invoke(main, ["verify", *options], env=settings)


def change(pattern: str, at: int = 2) -> Callable[[Path], None]:
    """Return what overwrites some bytes of the first such file of a home, in its middle or end."""

    def do(home: Path) -> None:
        path = sorted(home.glob(pattern))[0]
        content = bytearray(path.read_bytes())
        place = len(content) // at - (4 if at == 1 else 0)
        content[place : place + 4] = bytes(byte ^ 0xFF for byte in content[place : place + 4])
        path.write_bytes(content)

    return do


def removed(pattern: str) -> Callable[[Path], None]:
    return lambda home: next(home.glob(pattern)).unlink()


def test_a_whole_home_has_a_line_for_each_part(home: Path) -> None:
    ended = verify(home, "--all")
    assert ended.exit_code == 0, ended.output
    lines = [line.split(":")[0] for line in ended.stdout.splitlines()]
    parts = ["database", "write-ahead log", "free disk", "index", PAPERS, "index of “Papers”"]
    assert lines == [f"ok      {part}" for part in parts]
    assert verify(home).exit_code == 0


@pytest.mark.parametrize(
    ("damage", "part", "said", "todo"),
    [
        (
            lambda home: damage_events(home / "esoteric.db"),
            *("database", "is damaged", "esoteric restore FILE --replace"),
        ),
        (change("documents/*/files/a.txt"), PAPERS, "1 of 2 files", "Upload them again"),
        (removed("documents/*/files/b.txt"), PAPERS, "“b.txt”", "Upload them again"),
        (
            change("documents/*/index/versions/*/title_tokens.npy", at=1),
            *("index of “Papers”", "The index is damaged", ""),
        ),
        (
            change("documents/*/index/databases/*.documents"),
            *("index of “Papers”", "The index is damaged", ""),
        ),
        (change("index/versions/*/meta.json"), "index", "The index is damaged", ""),
        (lambda home: shutil.rmtree(home / "index"), "index", "no index", "index build"),
    ],
)
def test_what_is_damaged_is_named_with_what_to_do(
    home: Path, damage: Callable[[Path], None], part: str, said: str, todo: str
) -> None:
    damage(home)
    ended = verify(home, "--all", "--json")
    assert ended.exit_code == 1
    broken = [one for one in json.loads(ended.stdout)["findings"] if not one["works"]]
    assert [one["subject"] for one in broken] == [part]
    assert said in broken[0]["detail"]
    assert todo in broken[0]["mend"]
    assert broken[0]["mend"]


def test_a_file_of_before_digests_were_kept_gets_one_and_may_be_replaced_by_its_user(
    home: Path,
) -> None:
    (corpus,) = (home / "documents").glob("papers-*")
    (corpus / DIGESTS).unlink()
    assert verify(home, "--all").exit_code == 0
    change("documents/*/files/a.txt")(home)
    assert verify(home).exit_code == 0  # it is there
    assert "“a.txt”" in verify(home, "--all").stdout
    store = CorpusStore(home / "documents", {})
    upload(store, corpus.name, a_txt="Boats go.")
    store.remove_file(corpus.name, "b.txt")
    assert f"ok      {PAPERS}: 1 file\n" in verify(home, "--all").stdout


@pytest.mark.server
def test_a_damaged_index_in_use_is_found_once_a_day_and_said_until_it_is_replaced(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ESOTERIC_HOME", str(home))
    settings = Settings.from_environment()
    monkeypatch.setattr(home_check, "FIRST_SECONDS", (0.0, 0.0))
    app = create_app(settings)
    client = app.test_client()

    def problems() -> list[str]:
        return [one["code"] for one in client.get("/readyz").get_json()["problems"]]

    assert "index_damaged" not in problems()
    change("index/databases/*.documents")(home)
    check = HomeCheck(settings, Event())
    check.look()
    outcome = last_outcome(settings)
    assert [part.kind for part in outcome.parts if part.problem] == ["index"]
    assert "index: The index is damaged" in caplog.text
    check.look()
    assert last_outcome(settings) == outcome  # not again on the same day
    assert "index_damaged" in problems()
    metrics = client.get("/metrics").text
    assert 'esoteric_home_problems{part="index"} 1.0' in metrics
    assert 'esoteric_home_problems{part="database"} 0.0' in metrics
    current = home / "index" / "current"
    another = home / "index" / "versions" / "another"
    shutil.copytree(current.resolve(), another)
    current.unlink()
    current.symlink_to(another)
    assert "index_damaged" not in problems()
    services_of(app).close()
