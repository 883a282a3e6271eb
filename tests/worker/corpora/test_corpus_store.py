"""Corpora that are named, and removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.index.embedded.embedded_index import EmbeddedIndex
from tests.support.corpora import for_workers
from tests.worker.corpora.filled_corpora import index, upload
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
