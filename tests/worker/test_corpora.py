"""Corpora beside the default one: made, uploaded to, indexed, removed."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path
from threading import Thread

import pytest

from retrieval.index.embedded.embedded_index import EmbeddedIndex
from tests.retrieval.corpora.pdf_files import pdf_of
from tests.support.corpora import for_workers
from tests.support.encoders import WordEncoder
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import CorpusNotReady, CorpusRefused, UnknownCorpus
from worker.corpora.indexing import index_corpus
from worker.corpora.records import Indexing
from worker.corpora.uploads import Upload, receive

MOST = 1_000_000


@pytest.fixture
def store(tmp_path: Path) -> CorpusStore:
    minutes = tmp_path / "minutes"
    minutes.mkdir()
    (minutes / "may.txt").write_text("The council met in May. It voted for the new pier.")
    return CorpusStore(tmp_path / "documents", {"minutes": minutes})


def upload(store: CorpusStore, name: str, **files: str | bytes) -> None:
    """Upload files; of their names the last underscore stands for a dot."""
    uploads = [
        Upload(".".join(file.rsplit("_", 1)), io.BytesIO(c.encode() if isinstance(c, str) else c))
        for file, c in files.items()
    ]
    with store.receiving() as place:
        received = receive(uploads, place, MOST)
        store.add(name, received.files, received.left_out)


def zipped(
    *files: tuple[str, bytes], mode: int = 0, packed_by: int = zipfile.ZIP_DEFLATED
) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, said in files:
            member = zipfile.ZipInfo(name, (2024, 3, 5, 12, 0, 0))
            member.external_attr = mode << 16
            archive.writestr(member, said, packed_by)
    return content.getvalue()


def misplaced() -> bytes:
    """A zip whose directory is said to be later than it is, so that its file begins before it."""
    whole = bytearray(zipped(("x.txt", b"Ships go.")))
    whole[-6:-2] = (whole.index(b"PK\x01\x02") + 40).to_bytes(4, "little")
    return bytes(whole)


def damaged(packed_by: int) -> bytes:
    """A zip whose directory is whole, but not the data of its file."""
    name = "x.txt"
    whole = bytearray(zipped((name, bytes(range(256)) * 20), packed_by=packed_by))
    data = 30 + len(name)  # after the header of the file
    whole[data + 8 : data + 40] = b"\xff" * 32
    return bytes(whole)


def index(store: CorpusStore, name: str) -> None:
    index_corpus(for_workers(store), name, WordEncoder)


def test_a_corpus_is_empty_then_waits_then_is_ready_with_a_report_on_each_file(
    store: CorpusStore,
) -> None:
    name = store.make("  Norvik\npapers ")
    assert (store.get(name).title, store.get(name).state) == ("Norvik papers", "empty")
    assert name.startswith("norvik-papers-")
    upload(store, name, budget_txt="The pier cost 4 million.", plan_md="# Plan\n\nBuild a pier.")
    assert store.get(name).state == "waiting"
    assert for_workers(store).to_index() == [name]
    with pytest.raises(CorpusNotReady):
        store.searchable(name)
    index(store, name)
    found = store.get(name)
    assert (found.state, found.documents, found.searchable) == ("ready", 2, True)
    assert [(f.name, f.report and f.report.passages) for f in found.files] == [
        ("budget.txt", 1),
        ("plan.md", 1),
    ]
    assert for_workers(store).to_index() == []


def test_a_file_replaces_one_of_its_name_and_a_removed_one_is_found_no_more(
    store: CorpusStore,
) -> None:
    name = store.make("Papers")
    upload(store, name, a_txt="Ships go.", b_txt="Ships come.")
    index(store, name)
    upload(store, name, a_txt="A pier stands.")
    assert store.get(name).searchable  # the index of before, until the new one is whole
    store.remove_file(name, "b.txt")
    index(store, name)
    view = EmbeddedIndex(store.index(name)).open("words")
    assert [document.text for document in view.documents(["a.txt"])] == ["A pier stands."]
    assert view.info().documents == 1
    store.remove_file(name, "a.txt")
    index(store, name)
    assert (store.get(name).state, store.get(name).searchable) == ("empty", False)


@pytest.mark.server
def test_what_cannot_be_read_of_a_file_is_said_of_this_file(
    store: CorpusStore, tmp_path: Path
) -> None:
    name = store.make("Papers")
    upload(
        store, name, good_txt="The pier cost 4 million.", none_pdf=b"This is no PDF.", empty_txt=""
    )
    index(store, name)
    reports = {one.name: one.report for one in store.get(name).files}
    assert store.get(name).state == "ready"
    for file, said in (("none.pdf", "not a PDF"), ("empty.txt", "empty")):
        report = reports[file]
        assert report is not None
        assert report.passages == 0
        assert said in report.problems[0]


def test_files_without_any_text_fail_and_leave_nothing_to_search(store: CorpusStore) -> None:
    name = store.make("Papers")
    upload(store, name, good_txt="The pier cost 4 million.")
    index(store, name)
    upload(store, name, good_txt="")
    index(store, name)
    found = store.get(name)
    assert (found.state, found.searchable) == ("failed", False)
    assert found.problem is not None
    assert found.problem.code == "no_text"


def test_a_zip_is_unpacked_with_its_folders_and_dates_and_says_what_it_leaves_out(
    store: CorpusStore,
) -> None:
    name = store.make("Papers")
    packed = zipped(
        ("2024/a.txt", b"Ships go."), ("2024/b.exe", b"MZ"), ("__MACOSX/2024/._a.txt", b"x")
    )
    upload(store, name, papers_zip=packed)
    index(store, name)
    found = store.get(name)
    assert [one.name for one in found.files] == ["2024/a.txt"]
    assert found.left_out == ("“2024/b.exe” is not of a format that is read.",)
    assert found.text_date == "2024-03-05"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (zipped(("../../etc/cron.d/x.txt", b"Ships go.")), "zip_path"),
        (zipped(("/etc/x.txt", b"Ships go.")), "zip_path"),
        (zipped(("..\\x.txt", b"Ships go.")), "zip_path"),
        (zipped(("x.txt", bytes(11 * MOST))), "zip_too_large"),
        (b"PK\x03\x04 and no more", "bad_zip"),
        (misplaced(), "bad_zip"),
        (damaged(zipfile.ZIP_DEFLATED), "bad_zip"),
        (damaged(zipfile.ZIP_LZMA), "bad_zip"),
        (damaged(zipfile.ZIP_BZIP2), "bad_zip"),
        (zipped(("x.txt", b"Ships go."), ("x.txt/y.txt", b"Ships come.")), "name_taken"),
        (zipped(("a.txt", b"Ships go."), (("d" * 99 + "/") * 60 + "x.txt", b"A")), "path_too_long"),
        (zipped(("a.txt", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777), "no_document"),
        (zipped(), "no_document"),
    ],
)
def test_a_hostile_zip_is_refused_and_nothing_is_taken(
    store: CorpusStore, tmp_path: Path, content: bytes, code: str
) -> None:
    name = store.make("Papers")
    with pytest.raises(CorpusRefused) as refused:
        upload(store, name, papers_zip=content)
    assert refused.value.code == code
    assert store.get(name).files == ()
    assert sorted(path.name for path in (tmp_path / "documents").iterdir()) == [name]


def test_names_of_files_lead_nowhere_else_and_are_short_enough(store: CorpusStore) -> None:
    name = store.make("Papers")
    uploads = [
        Upload("C:\\Users\\me\\plan.txt", io.BytesIO(b"A")),
        Upload("../../.hidden\x00.txt", io.BytesIO(b"B")),
        Upload("ü" * 400 + ".txt", io.BytesIO(b"C")),
    ]
    with store.receiving() as place:
        store.add(name, receive(uploads, place, MOST).files, ())
    names = [one.name for one in store.get(name).files]
    assert names[:2] == ["hidden.txt", "plan.txt"]
    assert len(names[2].encode()) <= 255
    for wrong in ("../corpus.json", "/etc/passwd", "nothing.txt", "a\0b"):
        with pytest.raises(CorpusRefused):
            store.remove_file(name, wrong)


def test_an_upload_above_the_limit_is_refused(store: CorpusStore) -> None:
    name = store.make("Papers")
    with pytest.raises(CorpusRefused, match="larger than 1 MB"):
        upload(store, name, a_txt=bytes(600_000), b_txt=bytes(600_000))
    assert store.get(name).files == ()


def test_several_zips_of_one_upload_have_one_limit_of_bytes_and_of_files(
    store: CorpusStore,
) -> None:
    name = store.make("Papers")
    large = zipped(("a.txt", bytes(6 * MOST)))
    many = zipped(*((f"{number}.txt", b"") for number in range(1100)))
    for packed in (large, many):
        with pytest.raises(CorpusRefused) as refused:
            upload(store, name, first_zip=packed, second_zip=packed)
        assert refused.value.code == "zip_too_large"
    upload(store, name, first_zip=large)
    assert [one.name for one in store.get(name).files] == ["a.txt"]


def test_an_upload_that_a_file_of_before_forbids_changes_nothing(store: CorpusStore) -> None:
    name = store.make("Papers")
    upload(store, name, x_txt="Ships go.")
    with pytest.raises(CorpusRefused, match="one name"):
        upload(store, name, a_zip=zipped(("a.txt", b"A"), ("x.txt/y.txt", b"B")))
    assert [one.name for one in store.get(name).files] == ["x.txt"]


def test_uploads_at_the_same_time_are_all_kept(store: CorpusStore) -> None:
    name = store.make("Papers")
    threads = [
        Thread(target=upload, args=[store, name], kwargs={f"n{number}_txt": "Ships go."})
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.name for one in store.get(name).files] == [f"n{n}.txt" for n in range(8)]


def test_a_removed_corpus_is_gone_for_all_and_what_has_opened_it_still_reads_it(
    store: CorpusStore, tmp_path: Path
) -> None:
    name = store.make("Papers")
    upload(store, name, a_txt="Ships go.")
    index(store, name)
    view = EmbeddedIndex(store.index(name)).open("words")
    store.remove(name)
    assert view.documents(["a.txt"])[0].text == "Ships go."
    for ask in (store.get, store.searchable, store.remove, store.index_again):
        with pytest.raises(UnknownCorpus):
            ask(name)
    index(store, name)  # which had begun
    for_workers(store).report(name, Indexing(of="x"))
    assert list((tmp_path / "documents").iterdir()) == []


def test_titles_are_short_and_differ(store: CorpusStore) -> None:
    name = store.make("Papers")
    for wrong in ("", " \u200b ", "x" * 81, "PAPERS", "Default", name.upper()):
        with pytest.raises(CorpusRefused):
            store.make(wrong)
    store.rename(name, "papers")
    assert store.get(name).title == "papers"


def test_only_a_folder_that_is_allowed_becomes_a_corpus_and_it_is_not_changed(
    store: CorpusStore,
) -> None:
    with pytest.raises(CorpusRefused):
        store.make("Secrets", folder="/etc")
    name = store.make("Minutes", folder="minutes")
    index(store, name)
    found = store.get(name)
    assert (found.state, [one.name for one in found.files]) == ("ready", ["may.txt"])
    with pytest.raises(CorpusRefused):
        upload(store, name, a_txt="Ships go.")
    with pytest.raises(CorpusRefused):
        store.remove_file(name, "may.txt")


def test_a_folder_that_is_not_allowed_any_more_fails_with_a_reason(
    store: CorpusStore, tmp_path: Path
) -> None:
    name = store.make("Minutes", folder="minutes")
    later = CorpusStore(tmp_path / "documents", {})
    index(later, name)
    problem = later.get(name).problem
    assert problem is not None
    assert problem.code == "folder_not_allowed"


def test_the_index_of_a_folder_that_is_away_for_a_while_stays(
    store: CorpusStore, tmp_path: Path
) -> None:
    name = store.make("Minutes", folder="minutes")
    index(store, name)
    (tmp_path / "minutes").rename(tmp_path / "away")
    store.index_again(name)
    index(store, name)
    assert (store.get(name).state, store.get(name).searchable) == ("failed", True)


def test_an_indexing_that_dies_again_and_again_fails_with_a_reason(store: CorpusStore) -> None:
    name = store.make("Papers")
    upload(store, name, a_txt="Ships go.")
    for _ in range(3):
        assert for_workers(store).to_index() == [name]
        for_workers(store).report_death(name)
    assert (store.get(name).state, for_workers(store).to_index()) == ("failed", [])
    store.index_again(name)
    index(store, name)
    assert store.get(name).state == "ready"


@pytest.mark.server
def test_the_page_of_a_pdf_is_kept(store: CorpusStore) -> None:
    name = store.make("Papers")
    pages = ["The pier was built in 1902. It is long.", "The tower was built in 1874."]
    upload(store, name, two_pdf=pdf_of(pages))
    index(store, name)
    view = EmbeddedIndex(store.index(name)).open("words")
    (match,) = view.nearest_sentences(WordEncoder().encode(["The tower was built in 1874."]), 1)[0]
    assert view.documents([match.key.document_id])[0].page == 2
