"""Writes research/reports/scale.md and its plots."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from typing import Any

from matplotlib.figure import Figure

from research.benchmarks.processor import described
from research.benchmarks.scale.baselines import ASKED
from research.benchmarks.scale.serving import CLAIMS
from settings import CHECKOUT, Settings

REPORT = CHECKOUT / "research" / "reports" / "scale.md"
PLOTS = CHECKOUT / "research" / "reports" / "scale"
COMMAND = (
    "python -m research.benchmarks.scale --work FOLDER --around DATA/fever-dev/wiki-pages"
    " --claims DATA/fever-dev/dev.jsonl"
)
# The targets at 5.4 million pages.
_ROWS = (
    ("lexical part, s", "lexical", "seconds", "{:,.0f}", "600"),
    ("its size with the texts, GB", "lexical", "gigabytes", "{:.2f}", "5"),
    ("memory of that build, MB", "lexical", "megabytes", "{:,.0f}", ""),
    ("static vectors, s", "vectors", "seconds", "{:,.0f}", "1,200"),
    ("size with them, GB", "vectors", "gigabytes", "{:.2f}", ""),
    ("memory of that build, MB", "vectors", "megabytes", "{:,.0f}", ""),
    ("transformer's vectors instead, s", "transformer", "seconds", "{:,.0f}", "10,800"),
    ("models and index loaded, s", "serving", "loaded", "{:.1f}", ""),
    ("first claim, files not in memory, s", "serving", "first", "{:.2f}", ""),
    ("its hops", "serving", "first_rounds", "{}", ""),
    ("documents found, first time, p50, s", "serving", "finding_first_time_p50", "{:.3f}", ""),
    ("documents found, warm, p50, s", "serving", "finding_p50", "{:.3f}", "0.080"),
    ("documents found, warm, p95, s", "serving", "finding_p95", "{:.3f}", "0.250"),
    ("whole claim, first time, p50, s", "serving", "whole_first_time_p50", "{:.2f}", ""),
    ("whole claim, warm, p50, s", "serving", "whole_p50", "{:.2f}", "1.2"),
    ("whole claim, warm, p95, s", "serving", "whole_p95", "{:.2f}", "2.5"),
    ("hops, mean", "serving", "rounds", "{:.2f}", ""),
    ("evidence recall@5, %", "serving", "recall", "{:.1f}", ""),
    ("resident while serving, MB", "serving", "resident", "{:,.0f}", "2,000"),
    ("of that the process's own, MB", "serving", "own", "{:,.0f}", ""),
    ("SQLite FTS5: build, s", "fts5", "seconds", "{:,.0f}", ""),
    ("SQLite FTS5: a claim's words, p50, s", "fts5", "p50", "{:.3f}", ""),
    ("SQLite FTS5: p95, s", "fts5", "p95", "{:.3f}", ""),
    ("SQLite FTS5: size, GB", "fts5", "gigabytes", "{:.2f}", ""),
    ("bm25s: build, s", "bm25s", "seconds", "{:,.0f}", ""),
    ("bm25s: p50, s", "bm25s", "p50", "{:.3f}", ""),
    ("bm25s: p95, s", "bm25s", "p95", "{:.3f}", ""),
    ("bm25s: resident, MB", "bm25s", "megabytes", "{:,.0f}", ""),
    ("exact search of document vectors: p50, s", "exact", "p50", "{:.3f}", ""),
    ("exact search: resident, MB", "exact", "megabytes", "{:,.0f}", ""),
)
# The plots: file, unit, and the lines with their names.
_PLOTTED = (
    (
        "building.png",
        "s",
        (
            ("lexical", "seconds", "lexical part"),
            ("vectors", "seconds", "static vectors"),
            ("fts5", "seconds", "SQLite FTS5"),
        ),
    ),
    (
        "disk.png",
        "GB",
        (
            ("lexical", "gigabytes", "lexical part and texts"),
            ("vectors", "gigabytes", "and static vectors"),
            ("fts5", "gigabytes", "SQLite FTS5"),
        ),
    ),
    (
        "memory.png",
        "MB",
        (
            ("serving", "resident", "ESOTERIC, all models"),
            ("bm25s", "megabytes", "bm25s"),
            ("exact", "megabytes", "exact search of vectors"),
        ),
    ),
    (
        "latency.png",
        "s",
        (
            ("serving", "whole_p50", "ESOTERIC: whole claim"),
            ("serving", "finding_p50", "ESOTERIC: documents found"),
            ("fts5", "p50", "SQLite FTS5"),
            ("exact", "p50", "exact search of vectors"),
            ("bm25s", "p50", "bm25s"),
        ),
    ),
)
_SHOWN = {
    "building.png": "Seconds to build",
    "disk.png": "Gigabytes on disk",
    "memory.png": "Megabytes resident",
    "latency.png": "Median seconds a claim",
}


def write(figures: dict[int, dict[str, Any]]) -> None:
    """Write the table and the plots of these sizes."""
    sizes = sorted(figures)
    PLOTS.mkdir(exist_ok=True)
    for name, unit, lines in _PLOTTED:
        _plot(figures, unit, lines).savefig(PLOTS / name, dpi=110)
    head = " | ".join(f"{figures[size]['lexical']['documents']:,}" for size in sizes)
    rows = [
        f"| {what} | "
        + " | ".join(
            shown.format(figures[size][step][key]) if figures[size][step] else "not measured"
            for size in sizes
        )
        + f" | {target} |"
        for what, step, key, shown, target in _ROWS
    ]
    plots = "\n\n".join(f"![{_SHOWN[name]}, by pages](scale/{name})" for name, _, _ in _PLOTTED)
    table = "\n".join(
        (f"| pages | {head} | aimed at |", "|---|" + "---|" * (len(sizes) + 1), *rows)
    )
    real = figures[0]["lexical"]["documents"]
    hours = _hours_of_transformer(figures)
    REPORT.write_text(
        f"""# Scale

Written by

    {COMMAND}

on {datetime.now(UTC):%Y-%m-%d}: {described()},
{Settings.from_environment().threads} threads, Python {platform.python_version()}. The pages are
synthetic (`research/benchmarks/make_corpus.py`): with the number, length and word frequencies of an
encyclopaedia's, in FEVER's format, whose sentences are split already; splitting other texts takes
most of the time of their lexical part. Among them are {real:,} real ones, which the {CLAIMS}
claims are about. Times grow with all pages; evidence recall only shows which real pages are still
found among synthetic ones, and among as many real pages it would be lower. Single times vary; only
their growth is important. A run continues an earlier one, so figures may be of several days.

{table}

"Evidence recall@5": claims of which a whole set of evidence is among the first five sentences, of
the first {CLAIMS} decided ones of dev; the other systems get the first {ASKED} of these. "Not
measured": too little memory or time.
"Documents found": spans, titles, texts, questions, ranking and dense search of the first hop.
At the rate of the largest index measured the transformer's vectors for the last column would take
{hours:.0f} hours.
What this means for today's Wikipedia is in [corpora](../../docs/corpora.md).
"Resident" counts parts of the index's files that the system maps and releases when it needs memory.

{plots}
""",
        encoding="utf-8",
    )


def _hours_of_transformer(figures: dict[int, dict[str, Any]]) -> float:
    """Return the time for the last column, at the rate of the largest measured index."""
    timed = figures[max(size for size in figures if figures[size]["transformer"])]["transformer"]
    documents: int = figures[max(figures)]["lexical"]["documents"]
    hours: float = documents / timed["documents"] * timed["seconds"] / 3600
    return hours


def _plot(
    figures: dict[int, dict[str, Any]], unit: str, lines: tuple[tuple[str, str, str], ...]
) -> Figure:
    figure = Figure(figsize=(6, 3.8), layout="constrained")
    axes = figure.subplots()
    sizes = sorted(figures)
    for step, key, called in lines:
        measured = [size for size in sizes if figures[size][step]]
        pages = [figures[size]["lexical"]["documents"] for size in measured]
        values = [figures[size][step][key] for size in measured]
        axes.plot(pages, values, marker="o", label=called)
    axes.set(xscale="log", yscale="log", xlabel="pages", ylabel=unit)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return figure
