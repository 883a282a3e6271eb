"""Checks the same claims with both indexes: the time, and whether the results agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from research.benchmarks import corpus
from research.benchmarks.elastic.report import Cells, both, doing, elastic_only, side_by_side, table
from research.benchmarks.row import percentile, resident_megabytes
from research.evaluation.claims import read_fever_claims
from retrieval.index.elastic.cluster import Cluster
from retrieval.index.open import IndexLocation
from retrieval.pipeline.assembly import Retriever
from retrieval.recipes.recipes import DEFAULT_RECIPE
from retrieval.types import Progress, Report
from settings import Settings

WARM = 20  # claims that are checked before those that are timed
_FIRST = 5
# The stages that search for the first hop's documents; the stage "questions" does not.
_FINDING = ("titles", "texts", "ranking", "dense")
_UNITS = {"ms": (1000, "{:,.1f}"), "s": (1, "{:,.2f}")}  # of a second, and how it is shown


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim's report, and how many requests it took: to find the first documents, and in all."""

    report: Report
    finding: int
    requests: int


Pairs = Sequence[tuple[Checked, Checked]]


def texts(annotated: Path | None) -> list[str]:
    """Return the decided ones of annotated claims; without a file, those about synthetic pages."""
    if annotated is None:
        return corpus.claims()
    return [claim.text for claim in read_fever_claims(annotated) if claim.evidence]


def checked(
    locations: Sequence[IndexLocation], settings: Settings, warm: list[str], asked: list[str]
) -> Pairs:
    """Check each claim with both indexes, one after the other; they alternate in order."""
    doing("claims")
    folders = settings.model_folders
    retrievers = [
        Retriever(location, settings.snapshots, settings.threads, folders) for location in locations
    ]
    with _requests() as count:
        for retriever in retrievers:
            retriever.warm_up()
            for text in warm:
                _check(retriever, text, count)
        pairs = []
        for number, text in enumerate(asked):
            order = (0, 1) if number % 2 == 0 else (1, 0)
            of = {place: _check(retrievers[place], text, count) for place in order}
            pairs.append((of[0], of[1]))
    return pairs


def _check(retriever: Retriever, text: str, count: Callable[[], int]) -> Checked:
    counts: dict[str, int] = {}

    def note(progress: Progress) -> None:
        counts.setdefault(progress.stage, count())

    report = retriever.check(text, DEFAULT_RECIPE, note)
    finding = counts["dense"] - counts["spans"]
    return Checked(report, finding, counts["done"] - counts["start"])


@contextmanager
def _requests() -> Iterator[Callable[[], int]]:
    """Yield a function that returns how many requests this process has sent to Elasticsearch."""
    ask = Cluster.ask
    with mock.patch.object(Cluster, "ask", autospec=True, side_effect=ask) as asking:
        yield lambda: int(asking.call_count)


def described(pairs: Pairs, node_pid: int | None) -> str:
    """Return the report's part about the time of claims, and the node's memory after them."""
    reports = [[pair[place].report for pair in pairs] for place in (0, 1)]
    hops = [sum(len(report.hops) for report in of) for of in reports]
    requests = sum(elastic.requests for _, elastic in pairs)
    finding = [elastic.finding for _, elastic in pairs]

    def took(what: str, percent: int, unit: str, *stages: str) -> Cells:
        times, shown = _UNITS[unit]
        seconds = ([sum(r.seconds[stage] for stage in stages) for r in of] for of in reports)
        figures = (times * percentile(of, percent) for of in seconds)
        return both(f"{what}, p{percent}, {unit}", shown, *figures)

    rows = [
        *(took("documents of the first hop", percent, "ms", *_FINDING) for percent in (50, 95)),
        *(took(f"of these {stage}", 50, "ms", stage) for stage in _FINDING),
        *(took("whole claim", percent, "s", "total") for percent in (50, 95)),
        both("hops, mean", "{:.2f}", *(count / len(pairs) for count in hops)),
        elastic_only(
            "requests for the documents of the first hop, p50", f"{percentile(finding, 50):.0f}"
        ),
        elastic_only("requests for them, most", f"{max(finding)}"),
        elastic_only("requests a hop, all of its stages, mean", f"{requests / hops[1]:.1f}"),
    ]
    if node_pid is not None:
        memory = f"{resident_megabytes(node_pid):,.0f}"
        rows.append(elastic_only("resident memory of the node, MB", memory))
    return f"""{side_by_side(rows)}

Each claim is checked once with one index and then with the other in the same process, in
alternating order, after {WARM} other claims. "Documents of the first hop" are the stages
{", ".join(_FINDING)}; the encoding of the questions and of the claim is part of them."""


def agreement(pairs: Pairs) -> str:
    """Return the report's part about equal answers of both indexes."""
    reports = [(embedded.report, elastic.report) for embedded, elastic in pairs]
    verdicts = [one.verdict.label == other.verdict.label for one, other in reports]
    keys = [[[item.key for item in r.evidence[:_FIRST]] for r in pair] for pair in reports]
    evidence = [one == other for one, other in keys]
    rows = [
        ("the same verdict", share_of(verdicts)),
        (f"the same first {_FIRST} pieces of evidence in the same order", share_of(evidence)),
    ]
    return table(("claims with", "share"), rows)


def share_of(held: Sequence[bool]) -> str:
    """Return how many of all are true, in percent and in numbers."""
    return f"{100 * sum(held) / len(held):.1f} % ({sum(held)} of {len(held)})"
