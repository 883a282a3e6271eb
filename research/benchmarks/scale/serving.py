"""The time and recall of claims with an index, cold and warm, and the memory of the process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from research.benchmarks.row import percentile
from research.evaluation.claims import AnnotatedClaim, FeverClaim, page_key, read_fever_claims
from retrieval.pipeline.assembly import Retriever
from retrieval.recipes.recipes import DEFAULT_RECIPE
from retrieval.types import Progress, Report
from settings import CHECKOUT, Settings

CLAIMS = 150
_FIRST = 5
# The stages that find a claim's documents; the others read them.
_FINDING = ("spans", "titles", "texts", "questions", "ranking", "dense")


def measured(folder: Path, claims: Path) -> dict[str, Any]:
    """Measure in a separate process, after its files were removed from the system's cache."""
    for path in (folder / "index").rglob("*"):
        if path.is_file():
            _forget(path)
    command = [
        sys.executable,
        "-m",
        "research.benchmarks.scale.serving",
        str(folder / "index"),
        str(claims),
    ]
    done = subprocess.run(command, cwd=CHECKOUT, stdout=subprocess.PIPE, check=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def decided(claims: Path) -> list[FeverClaim]:
    """Return the first claims that are decided."""
    return [claim for claim in read_fever_claims(claims) if claim.evidence][:CLAIMS]


def _forget(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _serve(index: Path, claims: Path) -> dict[str, Any]:
    started = time.perf_counter()
    settings = Settings.from_environment()
    folders = settings.model_folders
    retriever = Retriever(index, settings.snapshots, settings.threads, folders)
    retriever.warm_up()
    loaded = time.perf_counter() - started
    asked = decided(claims)
    first, again = (
        [retriever.check(claim.text, DEFAULT_RECIPE, _ignore) for claim in asked] for _ in range(2)
    )
    found = [_seconds_to_find(report.seconds) for report in again]
    whole = [report.seconds["total"] for report in again]
    return {
        "loaded": loaded,
        "first": first[0].seconds["total"],
        "first_rounds": len(first[0].hops),
        "finding_first_time_p50": percentile([_seconds_to_find(r.seconds) for r in first], 50),
        "finding_p50": percentile(found, 50),
        "finding_p95": percentile(found, 95),
        "whole_first_time_p50": percentile([r.seconds["total"] for r in first], 50),
        "whole_p50": percentile(whole, 50),
        "whole_p95": percentile(whole, 95),
        "rounds": sum(len(report.hops) for report in again) / len(again),
        "recall": 100 * sum(map(_is_found, asked, again)) / len(asked),
        **_memory(),
    }


def _is_found(claim: AnnotatedClaim, report: Report) -> bool:
    """Return whether a whole set of the claim's evidence is among the first sentences."""
    found = (item.sentence for item in report.evidence[:_FIRST])
    best = {(page_key(sentence.document_id), sentence.sentence_id) for sentence in found}
    return any(best.issuperset(group) for group in claim.evidence)


def _seconds_to_find(seconds: dict[str, float]) -> float:
    return sum(seconds.get(stage, 0.0) for stage in _FINDING)


def _memory() -> dict[str, float]:
    """Return the resident memory of this process in MB: total, private, and of mapped files."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    values = dict(line.split(":", 1) for line in lines)
    names = {"resident": "VmRSS", "own": "RssAnon", "mapped": "RssFile"}
    return {name: int(values[field].split()[0]) / 1024 for name, field in names.items()}


def _ignore(progress: Progress) -> None:
    pass


if __name__ == "__main__":
    print(json.dumps(_serve(Path(sys.argv[1]), Path(sys.argv[2]))))
