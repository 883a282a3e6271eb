"""Corpora that are named, removed, and of a folder that the operator allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.index.embedded.embedded_index import EmbeddedIndex
from tests.support.corpora import for_workers
from tests.worker.corpora.conftest import index, upload
from worker.corpora.corpus_folders import Indexing
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import CorpusRefused, UnknownCorpus


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


def test_the_index_of_a_folder_that_is_away_for_a_while_stays(
    store: CorpusStore, tmp_path: Path
) -> None:
    name = store.make("Minutes", folder="minutes")
    index(store, name)
    (tmp_path / "minutes").rename(tmp_path / "away")
    store.index_again(name)
    index(store, name)
    assert (store.get(name).state, store.get(name).searchable) == ("failed", True)
    later = CorpusStore(tmp_path / "documents", {})
    index(later, name)
    problem = later.get(name).problem
    assert problem is not None
    assert problem.code == "folder_not_allowed"
