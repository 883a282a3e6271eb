"""What every database takes, and that every column of text goes by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import String
from sqlalchemy.dialects import postgresql, sqlite

from retrieval.errors import Problem
from worker.database import Database
from worker.job_store import ClaimFilter, JobStore
from worker.jobs import UnknownJob
from worker.list_store import ListStore
from worker.lists import NewEntry, SourcePage
from worker.schema import Base, StoredText


def test_every_column_of_text_goes_by_the_rule() -> None:
    for table in Base.metadata.tables.values():
        for column in table.columns:
            assert not isinstance(column.type, String), f"{table.name}.{column.name}"
    assert isinstance(Base.metadata.tables["list_rows"].columns["claim"].type, StoredText)
    for dialect in (postgresql.dialect(), sqlite.dialect()):  # as the migrations make them
        assert StoredText().compile(dialect) == "TEXT"
        assert StoredText(32).compile(dialect) == "VARCHAR(32)"


def test_nothing_that_is_stored_or_looked_for_has_what_a_database_refuses(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/claims.db")
    lists, bad = ListStore(database), "x\0\ud800"
    entry = NewEntry(bad, bad, {bad: bad}, Problem("claim_link", "A link.", ""), (0, 3))
    page = SourcePage(bad, f"https://a.example/{bad}")
    list_id = lists.create(bad, "combined", [entry], None, bad, None, page)
    clean = "x\ufffd\ufffd"
    assert lists.get(list_id).name == clean
    row = lists.entries(list_id, "all", 9, 0)[0]
    assert (row.place, row.claim, row.others) == (clean, clean, {clean: clean})
    source = lists.source_text(list_id)
    assert source is not None
    assert (source.text, source.page) == (clean, SourcePage(clean, f"https://a.example/{clean}"))
    with pytest.raises(UnknownJob):
        JobStore(database).get(bad)
    assert JobStore(database).listed(ClaimFilter(text=bad), 9) == ([], 0)
    database.close()
