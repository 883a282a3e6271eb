"""Nodes that a test may kill, and indexes of their own on the node that all share."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from retrieval.index.elastic.elastic_index import ElasticIndex
from retrieval.index.elastic.location import ElasticLocation
from tests.retrieval.index.elastic.node import Node, store_url


def index_at(host: str, folder: Path, name: str = "faults") -> ElasticIndex:
    """Return the index of this name on these hosts."""
    return ElasticIndex(ElasticLocation.read(f"elasticsearch://{host}/{name}"), folder)


@pytest.fixture
def index_name() -> str:
    """The name of ``index``; the server has those of other tests too."""
    return f"t-{uuid.uuid4().hex}"


@pytest.fixture
def index(index_name: str, tmp_path: Path) -> ElasticIndex:
    """An index that is not there yet, on the server that the tests share."""
    return ElasticIndex(ElasticLocation.read(store_url(index_name)), tmp_path)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A server of the module's own; a test that kills it starts it again."""
    often = ["cluster.info.update.interval=10s", "health.reporting.local.monitor.interval=10s"]
    own = Node(tmp_path_factory.mktemp("node"), settings=often)
    own.start()
    own.wait()
    yield own
    own.kill()


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Node]]:
    """A cluster of three."""
    three = [Node(tmp_path_factory.mktemp(f"node{number}")) for number in range(3)]
    seeds = ",".join(f"127.0.0.1:{one.transport}" for one in three)
    for number, one in enumerate(three):
        one.settings = [
            f"node.name=n{number}",
            "discovery.type=multi-node",
            f"discovery.seed_hosts={seeds}",
            "cluster.initial_master_nodes=n0,n1,n2",
        ]
        one.start()
    for one in three:
        one.wait(nodes=3)
    yield three
    for one in three:
        one.kill()
