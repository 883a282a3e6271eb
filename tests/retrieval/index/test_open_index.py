"""Which kind of index a location opens, and what needs no opening."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrieval.errors import IndexUnavailable
from retrieval.index.elastic.elastic_index import ElasticIndex
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.index.embedded.layout import write_meta
from retrieval.index.interface import Description
from retrieval.index.open import description_of, open_index
from tests.app.index import description_file
from tests.support.command import printed

NOTES = Description(name="notes", source="folder:/notes", encoder="words", documents=3)


def test_a_location_opens_its_kind(tmp_path: Path) -> None:
    on_server = ElasticLocation.read("elasticsearch://127.0.0.1:9/notes")
    assert isinstance(open_index(tmp_path / "index", tmp_path), EmbeddedIndex)
    assert isinstance(open_index(on_server, tmp_path), ElasticIndex)


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
