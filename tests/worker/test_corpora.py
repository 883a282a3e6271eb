"""Corpora of users: what is taken of an upload, and from their files to what can be searched."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path
from threading import Event

import pytest

from retrieval.index.embedded.embedded_index import EmbeddedIndex
from tests.retrieval.corpora.pdf_files import pdf_of
from tests.support.corpora import MOST, for_workers, index, upload
from tests.support.encoders import WordEncoder
from tests.worker.conftest import at_once
from worker.corpora.builder import Builder
from worker.corpora.corpus_folders import Indexing
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import CorpusNotReady, CorpusRefused, UnknownCorpus
from worker.database import Database


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


@pytest.fixture
def store(tmp_path: Path) -> CorpusStore:
    minutes = tmp_path / "minutes"
    minutes.mkdir()
    (minutes / "may.txt").write_text("The council met in May. It voted for the new pier.")
    return CorpusStore(tmp_path / "documents", {"minutes": minutes})


def test_titles_are_short_and_differ(store: CorpusStore) -> None:
    name = store.make("Papers")
    for wrong in ("", " \u200b ", "x" * 81, "PAPERS", "Default", name.upper()):
        with pytest.raises(CorpusRefused):
            store.make(wrong)
    store.rename(name, "papers")
    assert store.get(name).title == "papers"


def test_a_folder_that_is_allowed_becomes_a_corpus_and_is_not_changed_and_may_be_away(
    store: CorpusStore, tmp_path: Path
) -> None:
    with pytest.raises(CorpusRefused):
        store.make("Secrets", folder="/etc")
    name = store.make("Minutes", folder="minutes")
    index(store, name)
    found = store.get(name)
    assert (found.state, [one.name for one in found.files]) == ("ready", ["may.txt"])
    for change in (
        lambda: upload(store, name, a_txt="Ships go."),
        lambda: store.remove_file(name, "may.txt"),
    ):
        with pytest.raises(CorpusRefused):
            change()
    (tmp_path / "minutes").rename(tmp_path / "away")
    store.index_again(name)
    index(store, name)
    assert (store.get(name).state, store.get(name).searchable) == ("failed", True)
    later = CorpusStore(tmp_path / "documents", {})
    index(later, name)
    assert later.get(name).problem.code == "folder_not_allowed"


@pytest.mark.server
def test_a_corpus_is_empty_then_waits_then_is_ready_with_reports(store: CorpusStore) -> None:
    name = store.make("  Norvik\npapers ")
    assert (store.get(name).title, store.get(name).state) == ("Norvik papers", "empty")
    assert name.startswith("norvik-papers-")
    pdf = pdf_of(["The pier was built in 1902. It is long.", "The tower was built in 1874."])
    upload(store, name, plan_md="# Plan\n\nBuild a pier.", two_pdf=pdf)
    upload(store, name, none_pdf=b"This is no PDF.", empty_txt="")
    assert store.get(name).state == "waiting"
    assert for_workers(store).to_index() == [name]
    with pytest.raises(CorpusNotReady):
        store.searchable(name)
    index(store, name)
    found = store.get(name)
    assert (found.state, found.searchable) == ("ready", True)
    reports = {one.name: one.report for one in found.files}
    passages = {"empty.txt": 0, "none.pdf": 0, "plan.md": 1, "two.pdf": 2}
    assert {name: one and one.passages for name, one in reports.items()} == passages
    for file, said in (("none.pdf", "not a PDF"), ("empty.txt", "empty")):
        report = reports[file]
        assert said in report.problems[0]
    view = EmbeddedIndex(store.index(name)).open("words")
    (match,) = view.nearest_sentences(WordEncoder().encode(["The tower was built in 1874."]), 1)[0]
    assert view.documents([match.key.document_id])[0].page == 2
    assert for_workers(store).to_index() == []


def test_a_file_that_is_replaced_or_removed_leaves_the_disk(store: CorpusStore) -> None:
    name = store.make("Papers")
    files = {f"keep{number}_txt": f"The harbour has {number} piers." for number in range(5)}
    upload(store, name, old_txt="The kettle is of pewter.", secret_txt="Quillby rang.", **files)
    index(store, name)
    assert b"pewter" in content_below(store.place(name))
    upload(store, name, old_txt="A pier stands.")
    assert store.get(name).searchable  # the index of before, until the new one is whole
    store.remove_file(name, "secret.txt")
    index(store, name)
    content = content_below(store.place(name))
    said = [word in content for word in (b"pewter", b"quillby", b"piers")]
    assert said == [False, False, True]
    found = store.get(name)
    assert [(one.name, one.report and one.report.passages) for one in found.files] == [
        *((f"keep{number}.txt", 1) for number in range(5)),
        ("old.txt", 1),
    ]
    assert (found.state, found.documents) == ("ready", 6)
    view = EmbeddedIndex(store.index(name)).open("words")
    assert [document.text for document in view.documents(["old.txt"])] == ["A pier stands."]
    assert view.info().documents == 6
    for one in found.files:
        store.remove_file(name, one.name)
    index(store, name)
    assert (store.get(name).state, store.get(name).searchable) == ("empty", False)


def content_below(folder: Path) -> bytes:
    return b"".join(one.read_bytes().lower() for one in folder.rglob("*") if one.is_file())


def test_files_without_text_and_an_indexing_that_dies_again_and_again_fail_with_a_reason(
    store: CorpusStore,
) -> None:
    name = store.make("Papers")
    upload(store, name, good_txt="The pier cost 4 million.")
    index(store, name)
    upload(store, name, good_txt="")
    index(store, name)
    found = store.get(name)
    assert (found.state, found.searchable, found.problem.code) == ("failed", False, "no_text")
    upload(store, name, good_txt="Ships go.")
    for _ in range(3):
        assert for_workers(store).to_index() == [name]
        for_workers(store).report_death(name)
    assert (store.get(name).state, for_workers(store).to_index()) == ("failed", [])
    store.index_again(name)
    index(store, name)
    assert store.get(name).state == "ready"


def test_corpora_are_indexed_in_the_order_of_their_uploads_two_at_once(store: CorpusStore) -> None:
    names = [store.make(title) for title in ("First", "Second", "Third", "Fourth")]
    first, second, third, _ = names
    for name in (third, first, second):
        upload(store, name, a_txt="Ships go.")
    upload(store, third, b_txt="Boats go.")  # it keeps its place
    assert for_workers(store).to_index() == [third, first, second]
    assert [store.before(name) for name in names] == [1, 2, 0, 0]
    with (
        for_workers(store).next_to_index() as one,
        for_workers(store).next_to_index() as other,
        for_workers(store).next_to_index() as more,
    ):
        assert (one, other, more) == (third, first, None)
        index(store, third)
    with for_workers(store).next_to_index() as next_one:
        assert next_one == first
    upload(store, third, c_txt="Trains go.")
    assert for_workers(store).to_index() == [first, second, third]


def test_what_a_removal_that_was_cut_off_has_left_is_swept_away(store: CorpusStore) -> None:
    left = store.root / ".gone-papers-1a2b" / "files"
    left.mkdir(parents=True)
    (left / "secret.txt").write_text("Quillby rang.")
    Builder(for_workers(store), Database("sqlite://"), Event()).look()
    assert b"quillby" not in content_below(store.root)


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


def test_a_zip_keeps_folders_and_dates_and_names_what_it_leaves_out(store: CorpusStore) -> None:
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


def test_an_upload_and_its_zips_have_one_limit_of_bytes_and_files(store: CorpusStore) -> None:
    name = store.make("Papers")
    with pytest.raises(CorpusRefused, match="larger than 1 MB"):
        upload(store, name, a_txt=bytes(600_000), b_txt=bytes(600_000))
    large = zipped(("a.txt", bytes(6 * MOST)))
    many = zipped(*((f"{number}.txt", b"") for number in range(1100)))
    for packed in (large, many):
        with pytest.raises(CorpusRefused) as refused:
            upload(store, name, first_zip=packed, second_zip=packed)
        assert refused.value.code == "zip_too_large"
    assert store.get(name).files == ()
    upload(store, name, first_zip=large)
    assert [one.name for one in store.get(name).files] == ["a.txt"]


def test_uploads_at_the_same_time_are_kept_but_not_what_a_file_of_before_forbids(
    store: CorpusStore,
) -> None:
    name = store.make("Papers")
    at_once(8, lambda number: upload(store, name, **{f"n{number}_txt": "Ships go."}))
    with pytest.raises(CorpusRefused, match="one name"):
        upload(store, name, a_zip=zipped(("a.txt", b"A"), ("n1.txt/y.txt", b"B")))
    assert [one.name for one in store.get(name).files] == [f"n{n}.txt" for n in range(8)]
