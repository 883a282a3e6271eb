"""How long the default index takes to build from nothing."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.row import Row
from cli.index import build_with_progress


def measure() -> list[Row]:
    """Build ``vital`` once in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        info = build_with_progress("vital", Path(folder) / "index")
        seconds = time.monotonic() - started
    size = f"{info.documents} documents, {info.sentences} sentences, {info.bytes / 1e6:.0f} MB"
    return [Row(f"index of `vital` ({size})", f"{seconds:.0f} s", "180 s")]
