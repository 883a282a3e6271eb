"""The time of a claim in a warm process, one at a time, and the share of each stage."""

from __future__ import annotations

import time
from collections import defaultdict

from research.benchmarks.corpus import claims, everyday_claims, vital_index
from research.benchmarks.row import Row, percentile
from retrieval.pipeline.assembly import Retriever
from retrieval.recipes.recipes import DEFAULT_RECIPE
from retrieval.types import Progress
from settings import Settings

WARM = 3
ROUNDS = 3
EVERYDAY = (
    85  # of ``research/datasets/everyday``, at equal distances: all kinds, with undecided ones
)


def measure() -> list[Row]:
    """Check every easy claim three times and every everyday claim once, after a warm-up."""
    settings = Settings.from_environment()
    folders = settings.model_folders
    retriever = Retriever(vital_index(), settings.snapshots, settings.threads, folders)
    started = time.perf_counter()
    retriever.warm_up()
    loading = time.perf_counter() - started
    easy = claims()
    for text in easy[:WARM]:
        retriever.check(text, DEFAULT_RECIPE, _ignore)
    everyday = everyday_claims()
    everyday = everyday[:: len(everyday) // EVERYDAY][:EVERYDAY]
    return [
        *_checked(retriever, "easy claim", easy * ROUNDS, ("1.2 s", "3.0 s")),
        *_checked(
            retriever, "everyday claim", [claim["claim"] for claim in everyday], ("1.5 s", "3.5 s")
        ),
        Row("models and index loaded", f"{loading:.1f} s"),
    ]


def _checked(
    retriever: Retriever, kind: str, texts: list[str], targets: tuple[str, str]
) -> list[Row]:
    totals: list[float] = []
    stages: dict[str, float] = defaultdict(float)
    hops: list[int] = []
    for text in texts:
        report = retriever.check(text, DEFAULT_RECIPE, _ignore)
        seconds = dict(report.seconds)
        totals.append(seconds.pop("total"))
        hops.append(len(report.hops))
        for stage, spent in seconds.items():
            stages[stage] += spent
    slowest = sorted(stages, key=lambda stage: -stages[stage])[:5]
    shares = ", ".join(f"{stage} {stages[stage] / sum(totals):.0%}" for stage in slowest)
    return [
        Row(f"{kind}, p50", f"{percentile(totals, 50):.2f} s", targets[0]),
        Row(f"{kind}, p95", f"{percentile(totals, 95):.2f} s", targets[1]),
        Row(f"{kind}, share of the time by stage", shares),
        Row(f"{kind}, hops, mean", f"{sum(hops) / len(hops):.2f}"),
    ]


def _ignore(progress: Progress) -> None:
    pass
