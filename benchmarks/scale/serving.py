"""How long claims take over an index, cold and warm, and the memory of the process that checks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.row import percentile
from evaluation.claims import read_fever_claims
from retrieval.assembly import open_retriever
from retrieval.models import AddedModels
from retrieval.recipes import DEFAULT_RECIPE, recipe_named
from retrieval.types import Progress
from settings import CHECKOUT, Settings

CLAIMS = 100
# What finds a claim's documents; the other stages read them.
_FINDING = ("spans", "titles", "texts", "questions", "ranking", "dense")


def measured(folder: Path, claims: Path) -> dict[str, Any]:
    """Measure in a process of its own, after its files have left the machine's cache."""
    for path in (folder / "index").rglob("*"):
        if path.is_file():
            _forget(path)
    command = [sys.executable, "-m", "benchmarks.scale.serving", str(folder / "index"), str(claims)]
    done = subprocess.run(command, cwd=CHECKOUT, stdout=subprocess.PIPE, check=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def texts_of(claims: Path) -> list[str]:
    """Return the texts of the first claims that are decided."""
    decided = [claim.text for claim in read_fever_claims(claims) if claim.evidence]
    return decided[:CLAIMS]


def _forget(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _serve(index: Path, claims: Path) -> dict[str, Any]:
    started = time.perf_counter()
    retriever = open_retriever(index, Settings.from_environment().threads, added=AddedModels())
    retriever.warm_up()
    loaded = time.perf_counter() - started
    texts = texts_of(claims)
    first = retriever.check(texts[0], DEFAULT_RECIPE, _ignore).seconds["total"]
    one_round = replace(recipe_named(DEFAULT_RECIPE), max_hops=1)
    finding, cold, whole, rounds = [], [], [], []
    for text in texts:
        cold.append(_seconds_to_find(retriever.follow(one_round, text, _ignore).seconds))
    for text in texts:
        finding.append(_seconds_to_find(retriever.follow(one_round, text, _ignore).seconds))
        report = retriever.check(text, DEFAULT_RECIPE, _ignore)
        whole.append(report.seconds["total"])
        rounds.append(len(report.hops))
    return {
        "loaded": loaded,
        "first": first,
        "finding_first_time_p50": percentile(cold, 50),
        "finding_p50": percentile(finding, 50),
        "finding_p95": percentile(finding, 95),
        "whole_p50": percentile(whole, 50),
        "whole_p95": percentile(whole, 95),
        "rounds": sum(rounds) / len(rounds),
        **_memory(),
    }


def _seconds_to_find(seconds: dict[str, float]) -> float:
    return sum(seconds.get(stage, 0.0) for stage in _FINDING)


def _memory() -> dict[str, float]:
    """Return what this process holds, in MB: all of it, its own, and of files that are mapped."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    values = dict(line.split(":", 1) for line in lines)
    names = {"resident": "VmRSS", "own": "RssAnon", "mapped": "RssFile"}
    return {name: int(values[field].split()[0]) / 1024 for name, field in names.items()}


def _ignore(progress: Progress) -> None:
    pass


if __name__ == "__main__":
    print(json.dumps(_serve(Path(sys.argv[1]), Path(sys.argv[2]))))
