"""Computes the cost of all of Wikipedia from the measured build."""

from __future__ import annotations

from research.benchmarks.elastic.builds import Build
from research.benchmarks.elastic.report import table

_ALL_OF_WIKIPEDIA = 5_400_000
_COPIES = 2


def all_pages(build: Build) -> list[tuple[str, str, float]]:
    """Compute the figures of 5.4 million pages: the measured figure of a page times their number.

    Each row has the name of the figure, its value for a page as text, and the value for all.
    """
    gigabytes = _ALL_OF_WIKIPEDIA / 1e9
    seconds = build.seconds / build.documents

    def of(what: str, measured: float, copies: int = 1) -> tuple[str, str, float]:
        a_page = measured / build.documents
        return what, f"{a_page:,.0f} bytes", a_page * gigabytes * copies

    found = [
        of(f"disk, {_COPIES} copies, GB", build.bytes, _COPIES),
        of("disk of a node that holds a copy, GB", build.bytes),
        ("build, hours", f"{1000 * seconds:,.2f} ms", seconds * _ALL_OF_WIKIPEDIA / 3600),
        of("titles, on each machine that asks, GB", build.title_bytes),
    ]
    if build.vector_bytes is not None:
        what = "memory for vectors and graph, a node that holds a copy, GB"
        found.append(of(what, build.vector_bytes))
    return found


def described(build: Build) -> str:
    """Return the report's part about all of Wikipedia."""
    head = ("", f"a page, of {build.documents:,} measured", "5.4 million, computed")
    rows = ((what, a_page, f"{figure:,.2f}") for what, a_page, figure in all_pages(build))
    return f"""**Computed, not measured**: the figures of a page above, times 5,400,000.

{table(head, rows)}

An index has one shard and, where there is more than one node, {_COPIES} copies: two of three nodes
have a whole copy each, the third none. The build is that of this machine, where node and builder
share the processor. Its start is counted as if it grew with the pages; separate nodes shorten it,
and the graph takes somewhat more time than in proportion. During a swap of versions the old one
takes disk space too. The memory for vectors is that of the system's file cache, not of Java's heap.
The time of a claim cannot be computed from these measurements; [scale](scale.md) has the embedded
index at that size."""
