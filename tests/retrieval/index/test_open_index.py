"""Which kind of index a location opens, and that nothing else decides it."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.index.elastic.elastic_index import ElasticIndex
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.index.open import open_index
from settings import CHECKOUT
from tests.support.command import printed

# The product opens an index by ``open_index`` alone. The research also builds indexes that are not
# the user's own, and names their kind.
NAME_A_KIND = {
    "retrieval/index/embedded/embedded_index.py",
    "retrieval/index/open.py",
    "worker/corpora/indexing.py",  # uploaded documents always have an index in a folder
}


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


def test_which_kind_there_is_one_place_decides() -> None:
    found = {
        str(path.relative_to(CHECKOUT))
        for package in ("app", "cli", "retrieval", "worker")
        for path in (CHECKOUT / package).rglob("*.py")
        if "import EmbeddedIndex" in path.read_text(encoding="utf-8")
    }
    assert found <= NAME_A_KIND
