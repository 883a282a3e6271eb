from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.retrieval.sources.fault_proxy import FaultProxy, fault_proxy
from tests.retrieval.sources.wiki_server import missing, wiki


@pytest.fixture(scope="session")
def wiki_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real MediaWiki with the pages of ``wiki_pages``."""
    if why := missing():
        pytest.skip(why)
    with wiki(tmp_path_factory.mktemp("wiki")) as address:
        yield address


@pytest.fixture
def proxy(wiki_address: str) -> Iterator[FaultProxy]:
    """That wiki behind a proxy that can fail."""
    with fault_proxy(wiki_address) as proxy:
        yield proxy
