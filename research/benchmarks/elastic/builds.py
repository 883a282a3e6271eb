"""Builds both indexes of the same pages, each in a separate process as users do."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elasticsearch import Elasticsearch

from research.benchmarks.elastic.report import both, doing, elastic_only, side_by_side
from research.benchmarks.scale import building
from retrieval.index.elastic.cluster import Cluster
from retrieval.index.elastic.elastic_index import ElasticIndex
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.elastic.meta import all_versions
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from settings import CHECKOUT

_SIZE_SECONDS = 11  # for this time the node reports the old size of an index


@dataclass(frozen=True, slots=True)
class Build:
    """The cost of a build and the size of its index.

    Attributes:
        megabytes: the most private memory of the building processes.
        merging: seconds after the build until the node had merged its segments.
        bytes: on disk, of one copy; ``title_bytes``: of the files that each machine which uses
            Elasticsearch stores in addition.
        vector_bytes: of the document vectors and their graph, which should be in the node's
            memory; None if the node does not report it.
    """

    documents: int
    seconds: float
    megabytes: float
    bytes: int
    merging: float = 0.0
    title_bytes: int = 0
    vector_bytes: int | None = None


def make_pages(work: Path, pages: int, around: Path | None) -> None:
    """Write the pages again: synthetic ones and the real ones among them."""
    doing("pages")
    folder = work / "pages"
    shutil.rmtree(folder, ignore_errors=True)
    if around is not None:
        building.make_pages(work, pages, around)
        return
    program = str(CHECKOUT / "research" / "benchmarks" / "make_corpus.py")
    command = [sys.executable, program, "--pages", str(pages), "--out", str(folder)]
    subprocess.run(command, cwd=CHECKOUT, stdout=subprocess.DEVNULL, check=True)


def embedded(work: Path) -> Build:
    """Build the embedded index again."""
    doing("embedded build")
    folder = work / "index"
    shutil.rmtree(folder, ignore_errors=True)
    figures = _built(work, str(folder))
    info = EmbeddedIndex(folder).open(None).info()
    return Build(info.documents, bytes=info.bytes, **figures)


def elastic(work: Path, location: ElasticLocation, url: str, snapshots: Path) -> Build:
    """Build the index on Elasticsearch again and wait until the node has merged it."""
    doing("Elasticsearch build")
    index = ElasticIndex(location, snapshots)
    remove(location)
    figures = _built(work, url)
    version, client = index.version(), Cluster(location).patient
    titles = snapshots / location.index / version
    started = time.monotonic()
    while stats(client, version)["merges"]["current"]:
        time.sleep(1)
    merging = time.monotonic() - started
    time.sleep(_SIZE_SECONDS)
    measured = stats(client, version)
    return Build(
        documents=index.open(None).info().documents,
        bytes=measured["store"]["size_in_bytes"],
        merging=merging,
        title_bytes=sum(path.stat().st_size for path in titles.glob("*.npy")),
        vector_bytes=measured["dense_vector"].get("off_heap", {}).get("total_size_bytes"),
        **figures,
    )


def remove(location: ElasticLocation) -> None:
    """Remove an index, so that the next build neither continues an earlier one nor updates it."""
    cluster = Cluster(location)
    for version in all_versions(cluster):
        cluster.patient.indices.delete(index=version)


def _built(work: Path, store: str) -> dict[str, Any]:
    """Build and return the seconds and megabytes."""
    source = f"fever:{work / 'pages'}"
    command = ["index", "build", "--vectors", "static", "--source", source, "--to", store]
    return building.timed([sys.executable, "-m", "cli", *command])


def stats(client: Elasticsearch, index: str) -> dict[str, Any]:
    """Return the node's statistics of one copy of an index."""
    answer = client.indices.stats(index=index, metric="store,merge,dense_vector")
    primaries: dict[str, Any] = answer["_all"]["primaries"]
    return primaries


def described(embedded: Build, elastic: Build) -> str:
    """Return the report's part about the builds."""
    titles = f"{elastic.title_bytes / 1e6:,.1f}"
    rows = [
        both("documents", "{:,.0f}", embedded.documents, elastic.documents),
        both("seconds", "{:,.0f}", embedded.seconds, elastic.seconds),
        elastic_only("then until the node has merged, s", f"{elastic.merging:,.0f}"),
        both("bytes on disk, MB", "{:,.1f}", embedded.bytes / 1e6, elastic.bytes / 1e6),
        elastic_only("titles, on each machine that asks, MB", titles, "in that"),
        both("memory of the build, MB", "{:,.0f}", embedded.megabytes, elastic.megabytes),
    ]
    if elastic.vector_bytes is not None:
        vectors = f"{elastic.vector_bytes / 1e6:,.1f}"
        rows.insert(4, elastic_only("of that vectors and graph, MB", vectors))
    return f"""{side_by_side(rows)}

The builds run in separate processes (`esoteric index build --vectors static`). Their memory is the
peak of the private memory of all processes together, without mapped files and the memory of the
node. Each build makes the static encoder first. Bytes on
Elasticsearch are those of one copy."""
