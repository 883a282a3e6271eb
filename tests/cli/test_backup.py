"""``esoteric backup`` and ``restore``: nothing lost, nothing half, nothing overwritten."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli.home_lock import running
from cli.main import main
from retrieval.index.embedded import layout
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from tests.app.claim_documents import claim_document
from tests.app.index import describe_index
from tests.app.worker_by_hand import WorkerByHand
from tests.support.corpora import for_workers, index, upload
from tests.worker.test_database_file import script, unpack
from worker.corpora.corpus_folders import Indexing
from worker.corpora.corpus_store import CorpusStore
from worker.database import Database
from worker.health import worker_health
from worker.job_store import JobStore
from worker.jobs import Job
from worker.run_store import RunStore
from worker.schema import REVISION
from worker.user_store import UserStore
from worker.worker_store import WorkerStore

NAMES = ["esoteric.db", "logs", "up.lock"]  # in a home after a restore


class Home:
    """A home folder with its claims."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "esoteric.db"
        self.store = JobStore(Database(f"sqlite:///{self.file}"))
        self.worker = WorkerByHand(self.store)

    def run(self, *arguments: str, **environment: str) -> Result:
        self.store.database.close()
        return self.run_beside(*arguments, **environment)

    def run_beside(self, *arguments: str, **environment: str) -> Result:
        """Run a command while the database is open."""
        settings = {"ESOTERIC_HOME": str(self.folder), "ESOTERIC_DATABASE_URL": ""}
        return CliRunner().invoke(main, arguments, env={**settings, **environment})

    def names(self) -> list[str]:
        self.store.database.close()
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "home")
    yield home
    home.store.database.close()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "other")
    yield home
    home.store.database.close()


@pytest.fixture
def file(home: Home, tmp_path: Path) -> Path:
    """A backup of a home with one claim that is done, one that runs and one that waits."""
    done, checked, _ = (home.store.submit(f"Tea is {n}.", "esoteric")[0] for n in range(3))
    home.worker.finish(done, claim_document(done.claim))
    home.worker.start(checked)
    file = tmp_path / "backup.zip"
    assert home.run("backup", str(file)).exit_code == 0
    return file


def jobs(home: Home) -> dict[str, Job]:
    return {listed.claim: home.store.get(listed.id) for listed in home.store.recent(9)}


def refused(run: Result, *said: str) -> None:
    """Check that a command failed with one line that says this."""
    assert run.exit_code == 1, run.output
    assert run.stdout == ""
    (line,) = run.stderr.splitlines()
    assert line.startswith("esoteric: ")
    for part in said:
        assert part in line


def test_a_backup_is_one_private_file_that_brings_back_claims_results_and_events(
    home: Home, other: Home, file: Path
) -> None:
    assert file.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in file.parent.iterdir()) == ["backup.zip", "home"]
    with zipfile.ZipFile(file) as pack:
        manifest = json.loads(pack.read("manifest.json"))
        assert sorted(pack.namelist()) == ["esoteric.db", "manifest.json"]
    assert (manifest["format"], manifest["claims"], manifest["index"]) == (2, 3, None)
    assert manifest["revision"] == REVISION
    run = other.run("restore", str(file))
    assert run.exit_code == 0, run.stderr
    assert run.stdout.startswith("3 claims of 20")
    assert other.names() == NAMES
    before, after = jobs(home)["Tea is 0."], jobs(other)["Tea is 0."]
    assert after == before
    assert after.result is not None
    assert other.store.events(after.id, 0) == home.store.events(before.id, 0)


def test_a_claim_that_was_being_checked_waits_again_as_if_it_had_not_been_begun(
    home: Home, other: Home, tmp_path: Path
) -> None:
    job, _ = home.store.submit("Tea is hot.", "esoteric")
    workers = WorkerStore(home.store.database)
    workers.beat("old", job.created_at, "ready")
    assert worker_health(workers).ready
    claims = RunStore(home.store.database)
    home.worker.start(job)
    assert claims.take_back(claims.running()[0])  # its worker is lost once
    home.worker.start(job)
    home.run("backup", str(tmp_path / "b.zip"))
    other.run("restore", str(tmp_path / "b.zip"))
    restored = other.store.get(job.id)
    assert (restored.state, restored.started_at) == ("queued", None)
    # Otherwise the reaper would find a claim that lost its worker twice, and fail it.
    run = RunStore(other.store.database).start(job.id, "new")
    assert run.attempt == 2
    assert RunStore(other.store.database).start(job.id, "another") is None
    assert worker_health(WorkerStore(other.store.database)).workers == 0  # nor does it live


def test_after_a_restore_users_log_in_again(home: Home, other: Home, tmp_path: Path) -> None:
    token = UserStore(home.store.database).add("anna", "checker")
    logged_in = UserStore(home.store.database).log_in(token)
    assert logged_in is not None
    home.run("backup", str(tmp_path / "b.zip"))
    assert "can log in: anna." in other.run("restore", str(tmp_path / "b.zip")).stdout
    users = UserStore(other.store.database)
    assert users.with_cookie(logged_in[1]) is None
    assert users.with_token(token) is not None


def test_a_backup_is_of_one_moment_as_others_write(home: Home, other: Home, tmp_path: Path) -> None:
    home.store.submit("Tea is hot.", "esoteric")
    with home.store.database.writing() as session:
        session.connection().exec_driver_sql("DELETE FROM claims")
        run = home.run_beside("backup", str(tmp_path / "b.zip"))
        assert run.stdout.startswith("1 claim in "), run.stderr
    assert home.store.recent(9) == []
    other.run("restore", str(tmp_path / "b.zip"))
    assert list(jobs(other)) == ["Tea is hot."]


def test_the_index_that_is_left_out_is_named_with_its_build(
    home: Home, other: Home, tmp_path: Path
) -> None:
    describe_index(home.folder, source="folder:/our files", encoder="")
    home.store.submit("Tea is hot.", "esoteric")
    build = "index build --source 'folder:/our files'"
    assert build in home.run("backup", str(tmp_path / "b.zip")).stdout
    assert build in other.run("restore", str(tmp_path / "b.zip")).stdout
    describe_index(other.folder)
    assert build not in other.run("restore", "--replace", str(tmp_path / "b.zip")).stdout


def test_a_backup_replaces_an_earlier_one_alone_and_is_of_no_damage(home: Home, file: Path) -> None:
    home.store.submit("Tea is black.", "esoteric")
    assert home.run("backup", str(file)).stdout.startswith("4 claims in ")
    before = home.file.read_bytes()
    refused(home.run("backup", str(home.file)), "is not a backup", "Name another file")
    assert home.file.read_bytes() == before
    file.unlink()
    home.file.write_bytes(before[:5000] + b"\xff" * 4000 + before[9000:])
    refused(home.run("backup", str(file)), "is damaged", "esoteric restore FILE")
    assert [path.name for path in file.parent.iterdir()] == ["home"]


def test_a_database_on_a_server_has_its_own_tool(home: Home, file: Path) -> None:
    url = "postgresql+psycopg://me:secret@host/claims"
    for command, tool in (("backup", "pg_dump"), ("restore", "pg_restore")):
        run = home.run(command, str(file), ESOTERIC_DATABASE_URL=url)
        refused(run, "no file of SQLite", tool)
        assert "secret" not in run.output


def test_what_is_no_backup_or_damaged_is_refused_and_changes_none(other: Home, file: Path) -> None:
    whole = file.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    for content in (b"", b"Tea is hot.", whole[:-1], whole[:middle], flipped):
        file.write_bytes(content)
        refused(other.run("restore", str(file)), "or it is damaged", "Name a whole file")
        assert "esoteric.db" not in (other.names() if other.folder.exists() else [])
    with zipfile.ZipFile(file, "w") as pack:
        pack.writestr("manifest.json", "[]")
    refused(other.run("restore", str(file)), "or it is damaged")


def repacked(file: Path, change: Callable[[dict[str, bytes], Any], None]) -> None:
    """Write a backup again with other members, or another manifest."""
    with zipfile.ZipFile(file) as pack:
        parts = {name: pack.read(name) for name in pack.namelist()}
    manifest = json.loads(parts.pop("manifest.json"))
    change(parts, manifest)
    with zipfile.ZipFile(file, "w") as pack:
        for name, content in parts.items():
            pack.writestr(name, content)
        pack.writestr("manifest.json", json.dumps(manifest))


def test_backups_of_other_formats_are_restored_or_refused(other: Home, file: Path) -> None:
    repacked(file, lambda _, manifest: manifest.update(format=3, claims="many"))
    refused(other.run("restore", str(file)), "format 3; this one reads format 2", "newer one")

    def before(_: dict[str, bytes], manifest: Any) -> None:
        del manifest["corpora"]
        manifest.update(format=1, claims=3)

    repacked(file, before)
    assert other.run("restore", str(file)).stdout.startswith("3 claims of 20")
    assert other.names() == NAMES


@pytest.mark.parametrize(
    ("of", "statement", "said"),
    [
        ("21", "", ()),
        ("20", "", ("made by an older ESOTERIC", "with the version that made it")),
        (
            "21",
            "UPDATE alembic_version SET version_num = '9999'",
            ("tables that this one does not know", "newer one"),
        ),
    ],
)
def test_a_database_of_another_version_is_backed_up_as_it_is_and_brought_to_today_or_refused(
    home: Home, other: Home, tmp_path: Path, of: str, statement: str, said: tuple[str, ...]
) -> None:
    home.folder.mkdir()
    refused(home.run("backup", str(tmp_path / "b.zip")), "no database", "Set ESOTERIC_HOME")
    script(unpack(of, home.folder), statement)
    assert home.run("backup", str(tmp_path / "b.zip")).exit_code == 0
    ended = other.run("restore", str(tmp_path / "b.zip"))
    if said:
        refused(ended, *said)
        assert other.names() == ["logs", "up.lock"]
    else:
        assert other.store.counts()["done"] == 1


def test_a_database_is_replaced_only_when_asked_and_then_kept(other: Home, file: Path) -> None:
    other.store.submit("Coffee is cold.", "esoteric")
    refused(other.run("restore", str(file)), "has 1 claim", "--replace")
    assert list(jobs(other)) == ["Coffee is cold."]
    run = other.run("restore", str(file), "--replace")
    assert f"is now {other.file}.1." in run.stdout
    assert len(jobs(other)) == 3
    kept = JobStore(Database(f"sqlite:///{other.file}.1"))
    assert [listed.claim for listed in kept.recent(9)] == ["Coffee is cold."]
    kept.database.close()
    other.store.database.close()
    for end in ("", "-wal"):
        other.file.with_name(f"esoteric.db{end}").write_bytes(b"no database" * 1000)
    refused(other.run("restore", str(file)), "cannot be read", "--replace")
    assert f"is now {other.file}.2." in other.run("restore", str(file), "--replace").stdout
    assert len(jobs(other)) == 3
    assert other.file.with_name("esoteric.db.2").read_bytes() == b"no database" * 1000
    assert set(other.names()) >= {"esoteric.db", "esoteric.db.1", "esoteric.db.2"}


def test_a_home_where_a_service_or_a_worker_runs_is_refused(other: Home, file: Path) -> None:
    with running(other.folder, 4711, "127.0.0.1", 8000):
        refused(other.run("restore", str(file)), "already running", "(process 4711)", "Stop it")
    assert other.store.recent(9) == []
    refused(other.run_beside("restore", str(file)), "Another program has", "Stop the web server")
    assert other.run("restore", str(file)).exit_code == 0


__all__ = ["other"]
PIER = "The pier of Norvik cost 4 million crowns."


@pytest.fixture
def archive(home: Home) -> Home:
    """A home with a claim."""
    home.store.submit("Tea is hot.", "esoteric")
    return home


def documents(archive: Home) -> CorpusStore:
    return CorpusStore(archive.folder / "documents", {})


def corpus_of(archive: Home, title: str = "Papers") -> str:
    """Make a corpus of two files that is indexed, and return its name."""
    store = documents(archive)
    name = store.make(title)
    upload(store, name, pier_txt=PIER, plan_md="# Plan\n\nBuild a pier.")
    index(store, name)
    return name


def texts(archive: Home, name: str, *files: str) -> list[str]:
    view = EmbeddedIndex(documents(archive).index(name)).open("words")
    return [document.text for document in view.documents(list(files))]


def test_restored_documents_are_searched_at_once(
    archive: Home, other: Home, tmp_path: Path
) -> None:
    name = corpus_of(archive)
    os.utime(documents(archive).files(name) / "pier.txt", (1_700_000_000, 1_700_000_000))
    run = archive.run("backup", str(tmp_path / "b.zip"))
    assert run.stdout.startswith("1 claim and 1 corpus of 2 documents in "), run.output
    run = other.run("restore", str(tmp_path / "b.zip"))
    assert run.stdout.startswith("1 claim and 1 corpus of 2 documents of 20"), run.output
    before, after = documents(archive).get(name), documents(other).get(name)
    assert (after, after.state) == (before, "ready")
    assert for_workers(documents(other)).to_index() == []
    assert texts(other, name, "pier.txt") == [PIER]
    restored = documents(other).files(name) / "pier.txt"
    assert restored.stat().st_mtime == 1_700_000_000
    assert restored.stat().st_mode & 0o077 == 0
    upload(documents(other), name, more_txt="A ship came.")
    index(documents(other), name)
    assert texts(other, name, "pier.txt", "more.txt") == [PIER, "A ship came."]


def test_of_a_corpus_that_is_not_indexed_as_it_is_the_files_are_kept_and_this_is_said(
    archive: Home, other: Home, tmp_path: Path
) -> None:
    ready, changed, empty = corpus_of(archive), corpus_of(archive, "Letters"), "Nothing yet"
    documents(archive).make(empty)
    upload(documents(archive), changed, new_txt="A ship came.")
    wanted = documents(archive).corpus(changed).wanted
    for_workers(documents(archive)).report(changed, Indexing(of=wanted, step="encoding"))
    run = archive.run("backup", str(tmp_path / "b.zip"))
    assert "“Letters” is not indexed yet" in run.stdout
    assert "“Papers”" not in run.stdout
    assert empty not in run.stdout
    run = other.run("restore", str(tmp_path / "b.zip"))
    assert "“Letters” is indexed again when the service starts." in run.stdout
    assert "“Papers”" not in run.stdout
    store = documents(other)
    assert for_workers(store).to_index() == [changed]
    assert {one.title: one.state for one in store.all()} == {
        "Letters": "waiting",
        empty: "empty",
        "Papers": "ready",
    }
    index(store, changed)
    assert texts(other, changed, "new.txt") == ["A ship came."]
    assert texts(other, ready, "pier.txt") == [PIER]


def test_a_backup_and_an_upload_wait_for_each_other(archive: Home, tmp_path: Path) -> None:
    name = corpus_of(archive)
    store, file = documents(archive), tmp_path / "b.zip"
    backup = Thread(target=archive.run, args=("backup", str(file)))
    with store.holding(name):
        backup.start()
        backup.join(0.5)
        assert backup.is_alive()
    backup.join()
    with zipfile.ZipFile(file) as pack:
        assert pack.read(f"documents/{name}/files/pier.txt").decode() == PIER


def test_damaged_documents_and_names_that_lead_out_are_refused_and_change_nothing(
    archive: Home, other: Home, tmp_path: Path
) -> None:
    name, file = corpus_of(archive), tmp_path / "b.zip"
    pier = f"documents/{name}/files/pier.txt"

    def other_bytes(parts: dict[str, bytes], manifest: Any) -> None:
        parts[pier] = parts[pier].replace(b"4", b"5")

    def missing(parts: dict[str, bytes], manifest: Any) -> None:
        del parts[pier]

    def named(corpus: str, path: str) -> Callable[[dict[str, bytes], Any], None]:
        def change(parts: dict[str, bytes], manifest: Any) -> None:
            packed = manifest["corpora"][0]
            file = next(one for one in packed["files"] if one["path"] == "files/pier.txt")
            parts[f"documents/{corpus}/{path}"] = parts[pier]
            packed["name"], file["path"] = corpus, path

        return change

    hostile = [named(name, path) for path in ("../../x", "/tmp/x", "files/../../x", "", "a\0b")]
    hostile += [named("..", "files/x"), named("a/b", "files/x"), named("", "files/x")]
    for change in (other_bytes, missing, *hostile):
        archive.run("backup", str(file))
        repacked(file, change)
        refused(other.run("restore", str(file)), "or it is damaged")
        assert other.names() == ["logs", "up.lock"]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["b.zip", "home", "other"]
        file.unlink()


def test_documents_stay_where_a_backup_has_none_and_are_replaced_only_when_asked_and_kept(
    archive: Home, other: Home, tmp_path: Path
) -> None:
    theirs, file = corpus_of(other, "Theirs"), tmp_path / "b.zip"
    archive.run("backup", str(file))
    assert other.run("restore", str(file)).exit_code == 0
    assert documents(other).names() == [theirs]
    name = corpus_of(archive)
    archive.run("backup", str(file))
    refused(other.run("restore", str(file)), "documents has 1 corpus", "--replace")
    assert documents(other).names() == [theirs]
    run = other.run("restore", "--replace", str(file))
    assert "documents.1." in run.stdout
    assert documents(other).names() == [name]
    assert CorpusStore(other.folder / "documents.1", {}).names() == [theirs]


def test_a_corpus_of_a_folder_comes_back_without_its_files_and_this_is_said(
    archive: Home, other: Home, tmp_path: Path
) -> None:
    minutes = tmp_path / "minutes"
    minutes.mkdir()
    (minutes / "may.txt").write_text("The council met in May.")
    store = CorpusStore(archive.folder / "documents", {"minutes": minutes})
    index(store, store.make("Minutes of May", "minutes"))
    run = archive.run("backup", str(tmp_path / "b.zip"), ESOTERIC_FOLDERS=str(minutes))
    assert "the folder minutes, whose files are not in it" in run.stdout
    run = other.run("restore", str(tmp_path / "b.zip"))
    assert "“Minutes of May” needs a folder minutes in ESOTERIC_FOLDERS." in run.stdout
    assert documents(other).choices()[0].title == "Minutes of May"


def test_an_index_that_this_version_does_not_read_is_built_again(
    archive: Home, other: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = corpus_of(archive)
    archive.run("backup", str(tmp_path / "b.zip"))
    monkeypatch.setattr(layout, "FORMAT", layout.FORMAT + 1)
    run = other.run("restore", str(tmp_path / "b.zip"))
    assert "“Papers” is indexed again" in run.stdout
    assert for_workers(documents(other)).to_index() == [name]
    index(documents(other), name)
    assert texts(other, name, "pier.txt") == [PIER]
