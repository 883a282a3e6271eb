"""Builds indexes of growing numbers of synthetic pages and compares each with other systems.

python -m research.benchmarks.scale --work FOLDER --around DATA/fever-dev/wiki-pages
    --claims DATA/fever-dev/dev.jsonl [--pages 10000 --pages 5400000]

The real pages alone are measured too. Writes research/reports/scale.md with its plots. Results are
stored in FOLDER, so that an interrupted run continues; 5.4 million pages need about 30 GB there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from research.benchmarks.scale import building, report, serving
from research.benchmarks.scale.baselines import BASELINES

SIZES = (10_000, 100_000, 1_000_000, 5_400_000)
Figures = dict[str, Any]


@click.command()
@click.option("--work", type=click.Path(file_okay=False, path_type=Path), required=True)
@click.option(
    "--around",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="FEVER's wiki-pages, to mix with the synthetic ones.",
)
@click.option(
    "--claims",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    help="Annotated claims about these; the first decided ones are checked.",
)
@click.option("--pages", "sizes", type=click.IntRange(min=1), multiple=True, default=SIZES)
def main(work: Path, around: Path, claims: Path, sizes: tuple[int, ...]) -> None:
    """Measure every size and write the report."""
    figures = {}
    for size in sorted({0, *sizes}):
        folder = work / str(size)
        folder.mkdir(parents=True, exist_ok=True)
        steps: dict[str, Callable[[], Figures]] = {
            "pages": partial(building.make_pages, folder, size, around),
            "lexical": partial(building.lexical, folder),
            "vectors": partial(building.vectors, folder),
            "transformer": partial(building.transformer, folder, size),
            "serving": partial(serving.measured, folder, claims),
            **{name: partial(make, folder, claims) for name, make in BASELINES.items()},
        }
        figures[size] = {name: _kept(folder / f"{name}.json", make) for name, make in steps.items()}
    report.write(figures)


def _kept(path: Path, measure: Callable[[], Figures]) -> Figures:
    if not path.exists():
        print(f"{path} ...", file=sys.stderr, flush=True)
        figures = measure()
        if not figures:  # it takes hours or too much memory
            return figures
        path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    kept: Figures = json.loads(path.read_text(encoding="utf-8"))
    return kept


if __name__ == "__main__":
    main()
