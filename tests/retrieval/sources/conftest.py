from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.retrieval.sources.fault_proxy import FaultProxy, fault_proxy


@pytest.fixture
def proxy(wiki_address: str) -> Iterator[FaultProxy]:
    """A real MediaWiki behind a proxy that can fail."""
    with fault_proxy(wiki_address) as proxy:
        yield proxy
