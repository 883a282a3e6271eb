"""Corpora whose files lie in a folder that the operator allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.worker.corpora.filled_corpora import index, upload
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import CorpusRefused


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
