"""Threads that spin shortly, sleep or spin on while they wait, alone and beside a busy program.

A process takes its policy when it loads torch, so each measurement is a process of its own:
``python -m benchmarks.waiting`` checks some claims once and prints the median seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from benchmarks.corpus import claims, vital_index
from benchmarks.row import Row, percentile
from retrieval.assembly import open_retriever
from retrieval.models import ModelFolders
from settings import CHECKOUT, Settings

RUNS = 3
SLEEPING = {"GOMP_SPINCOUNT": "0"}
SPINNING = {"GOMP_SPINCOUNT": "300000"}  # what libgomp does where no policy is set
BUSY = [sys.executable, "-c", "while True: pass"]


def measure() -> list[Row]:
    """Run all three in turn, first alone and then beside a program that keeps one core busy."""
    rows = [_compared("alone")]
    with subprocess.Popen(BUSY) as busy:
        try:
            rows.append(_compared("beside one busy program"))
        finally:
            busy.kill()
    return rows


def _compared(where: str) -> Row:
    runs = [[_median(way) for way in ({}, SLEEPING, SPINNING)] for _ in range(RUNS)]
    ratios = [percentile([run[0] / run[other] for run in runs], 50) for other in (1, 2)]
    seconds = [percentile([run[way] for run in runs], 50) for way in range(3)]
    return Row(
        f"warm claim {where}, threads that spin shortly / sleep, / spin on, medians of ratios",
        f"{ratios[0]:.2f}, {ratios[1]:.2f} ({' / '.join(f'{s:.2f} s' for s in seconds)})",
    )


def _median(environment: dict[str, str]) -> float:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.waiting"],
        cwd=CHECKOUT,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return float(run.stdout)


def main() -> None:
    """Print the median of every fourth claim, each checked once in a warm process."""
    settings = Settings.from_environment()
    folders = ModelFolders(settings.packaged_models)
    retriever = open_retriever(vital_index(), settings.threads, folders)
    retriever.warm_up()
    texts = claims()[::4]
    spent = []
    for text in [*texts[:2], *texts]:
        started = time.perf_counter()
        retriever.check(text, "esoteric", lambda progress: None)
        spent.append(time.perf_counter() - started)
    print(percentile(spent[2:], 50))


if __name__ == "__main__":
    main()
