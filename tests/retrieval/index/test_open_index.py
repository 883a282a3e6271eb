"""Which kind of index a location opens, and what needs no opening."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrieval.errors import IndexUnavailable
from retrieval.index.embedded.layout import write_meta
from retrieval.index.interface import Description
from retrieval.index.open import description_of
from tests.app.index import description_file
from tests.support.command import printed

NOTES = Description(name="notes", source="folder:/notes", encoder="words", documents=3)


_IMPORT = """
import sys
import retrieval.index.open
import settings
print({"elasticsearch", "faiss", "numpy", "tantivy"} & set(sys.modules))
"""


@pytest.mark.server
def test_nothing_is_imported_before_an_index_is_opened() -> None:
    assert printed(_IMPORT) == ["set()"]


def test_a_description_is_read_from_an_index_of_any_format(tmp_path: Path) -> None:
    path = description_file(tmp_path)
    with pytest.raises(IndexUnavailable, match="There is no index yet"):
        description_of(tmp_path / "index")
    path.parent.mkdir(parents=True)
    write_meta(path.parent, NOTES)
    assert description_of(tmp_path / "index") == NOTES
    path.write_text(json.dumps({"format": 0, "name": "notes", "source": "list", "pages": 3}))
    assert description_of(tmp_path / "index") == Description(name="notes", source="list")
