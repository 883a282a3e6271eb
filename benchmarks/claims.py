"""How long a claim takes in a warm process, and where the time goes."""

from __future__ import annotations

import time
from collections import defaultdict

from benchmarks.corpus import claims, vital_index
from benchmarks.row import Row, percentile
from retrieval.assembly import open_retriever
from retrieval.models import ModelFolders
from retrieval.recipes import DEFAULT_RECIPE
from retrieval.types import Progress
from settings import Settings

WARM = 3
ROUNDS = 3


def measure() -> list[Row]:
    """Check every claim three times after a warm-up of three claims."""
    settings = Settings.from_environment()
    folders = ModelFolders(settings.packaged_models)
    retriever = open_retriever(vital_index(), settings.threads, folders)
    started = time.perf_counter()
    retriever.warm_up()
    loading = time.perf_counter() - started
    texts = claims()
    for text in texts[:WARM]:
        retriever.check(text, DEFAULT_RECIPE, _ignore)
    totals: list[float] = []
    stages: dict[str, list[float]] = defaultdict(list)
    hops: list[int] = []
    for _ in range(ROUNDS):
        for text in texts:
            report = retriever.check(text, DEFAULT_RECIPE, _ignore)
            totals.append(report.seconds["total"])
            hops.append(len(report.hops))
            for stage, seconds in report.seconds.items():
                if stage != "total":
                    stages[stage].append(seconds)
    slowest = sorted(stages, key=lambda stage: -sum(stages[stage]))[:4]
    shares = ", ".join(f"{stage} {sum(stages[stage]) / sum(totals):.0%}" for stage in slowest)
    return [
        Row("warm claim, p50", f"{percentile(totals, 50):.2f} s", "1.2 s"),
        Row("warm claim, p95", f"{percentile(totals, 95):.2f} s", "3.0 s"),
        Row("share of the time by stage", shares),
        Row("rounds of retrieval per claim, mean", f"{sum(hops) / len(hops):.2f}"),
        Row("models and index loaded", f"{loading:.1f} s"),
    ]


def _ignore(progress: Progress) -> None:
    pass
