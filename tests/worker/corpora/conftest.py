"""A store of corpora that may have the folder ``minutes``."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker.corpora.corpus_store import CorpusStore


@pytest.fixture
def store(tmp_path: Path) -> CorpusStore:
    minutes = tmp_path / "minutes"
    minutes.mkdir()
    (minutes / "may.txt").write_text("The council met in May. It voted for the new pier.")
    return CorpusStore(tmp_path / "documents", {"minutes": minutes})
