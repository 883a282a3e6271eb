"""The time of commands at the command line, without a running service."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from research.benchmarks.corpus import HOME, claims, everyday_claims, vital_index
from research.benchmarks.row import Row, percentile
from settings import CHECKOUT

ROUNDS = 5
BATCH = 120  # everyday claims, at equal distances


def measure() -> list[Row]:
    """Time each command as a process, from its start to its end."""
    vital_index()
    _seconds("check", claims()[0])  # converts the networks and brings files into memory
    quick = {
        "--help": ["--help"],
        "wrong usage": ["chekc"],
        "index info": ["index", "info"],
        "doctor": ["doctor"],
    }
    rows = [_timed(name, arguments, "0.4 s") for name, arguments in quick.items()]
    check = ["check", claims()[0]]
    return [*rows, _timed("check without a service", check, "6 s"), _batch()]


def _timed(name: str, arguments: list[str], target: str) -> Row:
    seconds = [_seconds(*arguments) for _ in range(ROUNDS)]
    return Row(f"`esoteric`, {name}, median", f"{percentile(seconds, 50):.2f} s", target)


def _batch() -> Row:
    everyday = everyday_claims()
    chosen = everyday[:: len(everyday) // BATCH][:BATCH]
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "claims.txt", Path(folder) / "checked.jsonl"
        source.write_text("\n".join(claim["claim"] for claim in chosen), encoding="utf-8")
        seconds = _seconds("batch", str(source), "-o", str(output))
    return Row(
        f"`esoteric batch`, {BATCH} everyday claims, loading included",
        f"{BATCH / seconds:.2f} claims/s",
        "1.5 claims/s",
    )


def _seconds(*arguments: str) -> float:
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "cli", *arguments],
        cwd=CHECKOUT,
        env={**os.environ, "ESOTERIC_HOME": str(HOME)},
        capture_output=True,
        check=False,
    )
    return time.perf_counter() - started
