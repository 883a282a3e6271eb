"""From the files of a corpus to what can be searched."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from retrieval.index.embedded.embedded_index import EmbeddedIndex
from tests.retrieval.corpora.pdf_files import pdf_of
from tests.support.corpora import for_workers
from tests.support.encoders import WordEncoder
from tests.worker.corpora.conftest import index, upload
from worker.corpora.builder import Builder
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import CorpusNotReady
from worker.database import Database


@pytest.mark.server
def test_a_corpus_is_empty_then_waits_then_is_ready_with_a_report_on_each_file(
    store: CorpusStore,
) -> None:
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
        assert report is not None
        assert said in report.problems[0]
    view = EmbeddedIndex(store.index(name)).open("words")
    (match,) = view.nearest_sentences(WordEncoder().encode(["The tower was built in 1874."]), 1)[0]
    assert view.documents([match.key.document_id])[0].page == 2
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


def test_the_text_of_a_removed_or_replaced_file_leaves_the_disk(store: CorpusStore) -> None:
    name = store.make("Papers")
    files = {f"keep{number}_txt": f"The harbour has {number} piers." for number in range(5)}
    upload(store, name, old_txt="The kettle is of pewter.", secret_txt="Quillby rang.", **files)
    index(store, name)
    assert b"pewter" in content_below(store.place(name))
    upload(store, name, old_txt="A pier stands.")
    store.remove_file(name, "secret.txt")
    index(store, name)
    content = content_below(store.place(name))
    assert (b"pewter" in content, b"quillby" in content, b"piers" in content) == (
        False,
        False,
        True,
    )
    found = store.get(name)
    assert [(one.name, one.report and one.report.passages) for one in found.files] == [
        *((f"keep{number}.txt", 1) for number in range(5)),
        ("old.txt", 1),
    ]
    assert (found.state, found.documents) == ("ready", 6)


def content_below(folder: Path) -> bytes:
    return b"".join(one.read_bytes().lower() for one in folder.rglob("*") if one.is_file())


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


def test_what_a_removal_that_was_cut_off_has_left_is_swept_away_without_a_new_upload(
    store: CorpusStore,
) -> None:
    left = store.root / ".gone-papers-1a2b" / "files"
    left.mkdir(parents=True)
    (left / "secret.txt").write_text("Quillby rang.")
    Builder(for_workers(store), Database("sqlite://"), Event()).look()
    assert b"quillby" not in content_below(store.root)
