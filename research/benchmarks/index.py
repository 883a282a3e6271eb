"""The time to build the default index from nothing."""

from __future__ import annotations

import shutil
import time

from cli.index import build_with_progress
from research.benchmarks.corpus import HOME
from research.benchmarks.row import Row


def measure() -> list[Row]:
    """Build ``vital`` once into an empty folder; the other benchmarks use it."""
    shutil.rmtree(HOME / "index", ignore_errors=True)
    started = time.monotonic()
    info = build_with_progress("vital", HOME / "index")
    seconds = time.monotonic() - started
    size = f"{info.documents} documents, {info.sentences} sentences, {info.bytes / 1e6:.0f} MB"
    return [Row(f"index of `vital` ({size})", f"{seconds:.0f} s", "180 s")]
