"""The time of ``make run`` on a new clone, and a second time."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from research.benchmarks.row import Row, free_port
from settings import CHECKOUT


def measure() -> list[Row]:
    """Clone the last commit and time ``make run`` until ready, twice; packages are fetched."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "esoteric"
        subprocess.run(["git", "clone", "--quiet", str(CHECKOUT), str(clone)], check=True)
        first = _seconds_to_ready(clone)
        second = _seconds_to_ready(clone)
    return [
        Row("`make run` to ready from nothing, packages fetched", f"{first:.0f} s", "200 s"),
        Row("`make run` to ready the second time", f"{second:.1f} s", "8 s"),
    ]


def _seconds_to_ready(clone: Path) -> float:
    # Without this process's virtual environment: the clone creates one.
    environment = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "ESOTERIC_HOME")}
    started = time.monotonic()
    process = subprocess.Popen(
        ["make", "run"],
        cwd=clone,
        env={**environment, "PORT": str(free_port())},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if "is ready at" in line:
                return time.monotonic() - started
        raise RuntimeError("make run ended before it was ready")
    finally:
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does
        process.wait(timeout=60)
