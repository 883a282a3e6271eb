"""Documents in ``esoteric backup`` and ``restore``: whole and searchable, or said to be not."""

from __future__ import annotations

import io
import os
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from werkzeug.datastructures import FileStorage
from werkzeug.test import encode_multipart

from retrieval.index.embedded import layout
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from settings import Settings
from tests.cli.test_backup import Home, other, refused, repacked
from tests.ops.up_process import Up, esoteric
from tests.support.corpora import for_workers
from tests.support.waiting import wait_until
from tests.worker.corpora.conftest import index, upload
from worker.corpora.corpus_folders import Indexing
from worker.corpora.corpus_store import CorpusStore
from worker.database import Database
from worker.job_store import JobStore

__all__ = ["other"]

PIER = "The pier of Norvik cost 4 million crowns."


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "home")
    home.store.submit("Tea is hot.", "esoteric")
    yield home
    home.store.database.close()


def documents(home: Home) -> CorpusStore:
    return CorpusStore(home.folder / "documents", {})


def corpus_of(home: Home, title: str = "Papers") -> str:
    """Make a corpus of two files that is indexed, and return its name."""
    store = documents(home)
    name = store.make(title)
    upload(store, name, pier_txt=PIER, plan_md="# Plan\n\nBuild a pier.")
    index(store, name)
    return name


def texts(home: Home, name: str, *files: str) -> list[str]:
    view = EmbeddedIndex(documents(home).index(name)).open("words")
    return [document.text for document in view.documents(list(files))]


def test_restored_documents_are_searched_at_once_and_keep_their_days(
    home: Home, other: Home, tmp_path: Path
) -> None:
    name = corpus_of(home)
    os.utime(documents(home).files(name) / "pier.txt", (1_700_000_000, 1_700_000_000))
    run = home.run("backup", str(tmp_path / "b.zip"))
    assert run.stdout.startswith("1 claim and 1 corpus of 2 documents in "), run.output
    run = other.run("restore", str(tmp_path / "b.zip"))
    assert run.stdout.startswith("1 claim and 1 corpus of 2 documents of 20"), run.output
    before, after = documents(home).get(name), documents(other).get(name)
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
    home: Home, other: Home, tmp_path: Path
) -> None:
    ready, changed, empty = corpus_of(home), corpus_of(home, "Letters"), "Nothing yet"
    documents(home).make(empty)
    upload(documents(home), changed, new_txt="A ship came.")
    wanted = documents(home).corpus(changed).wanted
    for_workers(documents(home)).report(changed, Indexing(of=wanted, step="encoding"))
    run = home.run("backup", str(tmp_path / "b.zip"))
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


def test_a_backup_waits_for_an_upload_and_an_upload_for_a_backup(
    home: Home, tmp_path: Path
) -> None:
    name = corpus_of(home)
    store, file = documents(home), tmp_path / "b.zip"
    backup = Thread(target=home.run, args=("backup", str(file)))
    with store.holding(name):
        backup.start()
        backup.join(0.5)
        assert backup.is_alive()
    backup.join()
    with zipfile.ZipFile(file) as pack:
        assert pack.read(f"documents/{name}/files/pier.txt").decode() == PIER


def test_damaged_documents_and_names_that_lead_out_are_refused_and_change_nothing(
    home: Home, other: Home, tmp_path: Path
) -> None:
    name, file = corpus_of(home), tmp_path / "b.zip"
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
        home.run("backup", str(file))
        repacked(file, change)
        refused(other.run("restore", str(file)), "or it is damaged")
        assert other.names() == ["logs", "up.lock"]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["b.zip", "home", "other"]
        file.unlink()


def test_documents_are_replaced_only_when_asked_and_then_kept(
    home: Home, other: Home, tmp_path: Path
) -> None:
    name, file = corpus_of(home), tmp_path / "b.zip"
    theirs = corpus_of(other, "Theirs")
    home.run("backup", str(file))
    refused(other.run("restore", str(file)), "documents has 1 corpus", "--replace")
    assert documents(other).names() == [theirs]
    run = other.run("restore", "--replace", str(file))
    assert "documents.1." in run.stdout
    assert documents(other).names() == [name]
    assert CorpusStore(other.folder / "documents.1", {}).names() == [theirs]


def test_a_corpus_of_a_folder_comes_back_without_its_files_and_this_is_said(
    home: Home, other: Home, tmp_path: Path
) -> None:
    minutes = tmp_path / "minutes"
    minutes.mkdir()
    (minutes / "may.txt").write_text("The council met in May.")
    store = CorpusStore(home.folder / "documents", {"minutes": minutes})
    index(store, store.make("Minutes of May", "minutes"))
    run = home.run("backup", str(tmp_path / "b.zip"), ESOTERIC_FOLDERS=str(minutes))
    assert "the folder minutes, whose files are not in it" in run.stdout
    run = other.run("restore", str(tmp_path / "b.zip"))
    assert "“Minutes of May” needs a folder minutes in ESOTERIC_FOLDERS." in run.stdout
    assert documents(other).choices()[0].title == "Minutes of May"


def uploaded(up: Up, name: str, file: str, content: str) -> None:
    boundary, body = encode_multipart({"files": FileStorage(io.BytesIO(content.encode()), file)})
    request = urllib.request.Request(
        f"{up.address}/api/v1/corpora/{name}/files",
        data=body,
        headers={"Content-Type": f"multipart/form-data; boundary={boundary}"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert answer.status < 300


def asked(up: Up, claim: str, corpus: str) -> str:
    body: Any = {"claim": claim, "corpora": [corpus]}
    return str(up.ask("/api/v1/claims", body)["id"])


def times_done(store: JobStore, job_id: str) -> int:
    return [event.stage for event in store.events(job_id, 0)].count("done")


@pytest.mark.server
@pytest.mark.models
def test_documents_that_are_backed_up_while_a_claim_runs_are_searched_in_another_home(
    unpacked: Path, tmp_path: Path
) -> None:
    homes, file = [tmp_path / "one", tmp_path / "two"], tmp_path / "backup.zip"
    for home in homes:
        home.mkdir()
        (home / "models").symlink_to(unpacked)
    with ExitStack() as ends:
        # The smallest default index there can be.
        (tmp_path / "tea.jsonl").write_text('{"id": "t", "title": "Tea", "text": "Tea is hot."}')
        for home in homes:
            built = esoteric("index", "build", "--source", f"jsonl:{tmp_path}/tea.jsonl", home=home)
            assert built.returncode == 0, built.stderr
        up = Up(homes[0])
        ends.callback(up.close)
        up.wait_until_ready()
        name = str(up.ask("/api/v1/corpora", {"title": "Norvik papers"})["name"])
        uploaded(up, name, "pier.txt", PIER)
        address = f"/api/v1/corpora/{name}"
        wait_until(lambda: up.ask(address)["state"] == "ready", "the index")
        first = f"/api/v1/claims/{asked(up, PIER, name)}"
        wait_until(lambda: up.ask(first)["state"] == "done", "a result", 240)
        document = up.ask(first)
        for number in range(20):
            asked(up, f"The pier of Norvik has {number} lamps.", name)
        backed_up = esoteric("backup", str(file), home=homes[0])
        assert backed_up.stdout.startswith("21 claims and 1 corpus of 1 document in "), (
            backed_up.stderr
        )
        running = homes[0]
        restored = esoteric("restore", "--replace", str(file), home=running)
        assert "already running" in restored.stderr
    restored = esoteric("restore", str(file), home=homes[1])
    assert restored.stdout.startswith("21 claims and 1 corpus of 1 document of "), restored.stderr
    settings = Settings.from_environment({"ESOTERIC_HOME": str(homes[1])})
    store = JobStore(Database(settings.database_url))
    with ExitStack() as ends:
        ends.callback(store.database.close)
        # The one that was checked at the time of the backup may have said already that it was done.
        queued = [listed.id for listed in store.recent(99) if listed.state == "queued"]
        waited = {job_id: times_done(store, job_id) for job_id in queued}
        assert waited
        up = Up(homes[1])
        ends.callback(up.close)
        up.wait_until_ready()
        assert up.ask(first) == document
        again = asked(up, PIER, name)
        # Also those that waited at the time of the backup find the documents.
        wait_until(lambda: store.counts()["done"] == 22, "the results", 240)
        result: Any = up.ask(f"/api/v1/claims/{again}")["result"]
        assert result["verdict"]["label"] == "SUPPORTS"
        assert [one["sentence"] for one in result["evidence"]] == [PIER]
        for job_id, before in waited.items():  # checked once
            assert times_done(store, job_id) == before + 1


def test_an_index_that_this_version_does_not_read_is_built_again(
    home: Home, other: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = corpus_of(home)
    home.run("backup", str(tmp_path / "b.zip"))
    monkeypatch.setattr(layout, "FORMAT", layout.FORMAT + 1)
    run = other.run("restore", str(tmp_path / "b.zip"))
    assert "“Papers” is indexed again" in run.stdout
    assert for_workers(documents(other)).to_index() == [name]
    index(documents(other), name)
    assert texts(other, name, "pier.txt") == [PIER]


def test_documents_stay_where_a_backup_has_none(home: Home, other: Home, tmp_path: Path) -> None:
    theirs = corpus_of(other)
    home.run("backup", str(tmp_path / "b.zip"))
    assert other.run("restore", str(tmp_path / "b.zip")).exit_code == 0
    assert documents(other).names() == [theirs]
