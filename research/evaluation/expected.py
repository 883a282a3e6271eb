"""``make reproduce``: measures the published figures again, compares with ``expected.yaml``."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import yaml

from settings import CHECKOUT

EXPECTED = Path(__file__).with_name("expected.yaml")


@dataclass(frozen=True, slots=True)
class Deviation:
    """A figure that differs from the published one; ``found`` is ``None`` if it is missing."""

    name: str
    published: Any
    found: Any


def read_expected() -> dict[str, Any]:
    """Return the content of ``expected.yaml``: runs with the digests of their data and figures."""
    expected: dict[str, Any] = yaml.safe_load(EXPECTED.read_text(encoding="utf-8"))
    return expected


def deviations(run: Mapping[str, Any], results: Mapping[str, Any]) -> Iterator[Deviation]:
    """Yield data that differ, then figures that differ by more than their tolerance.

    ``run``: a run of ``expected.yaml``. ``results``: the results of its command.
    """
    for path, digest in run["data"].items():
        found = _at(results, path)
        if found != digest:
            yield Deviation(path, digest, found)
    for row in run["rows"]:
        for path, published in row["figures"].items():
            found = _at(results, f"{row['at']}.{path}")
            if found is None or abs(found - published["value"]) > published["tolerance"]:
                yield Deviation(f"{row['row']}, {path}", published["value"], found)


def _at(results: Any, path: str) -> Any:
    """Return the value at a path of keys, joined by points; ``None`` if there is none."""
    for key in filter(None, path.split(".")):
        if not isinstance(results, Mapping):
            return None
        results = results.get(key)
    return results


@click.command(
    epilog="Example: python -m research.evaluation.expected --data ../data --out results"
)
@click.option("--data", required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path))
def main(data: Path, out: Path) -> None:
    """Run the published commands on DATA and list the figures that differ."""
    expected = read_expected()
    differ = 0
    for run in expected["runs"]:
        folder = out.with_name(f"{out.name}-{run['name']}")
        results = _measured(arguments_of(run["command"], data, folder), folder / run["results"])
        for one in deviations(run, results):
            differ += 1
            click.echo(f"{run['name']}, {one.name}: published {one.published}, now {one.found}")
    click.echo("Every figure is as published." if not differ else f"{differ} differ.")
    raise SystemExit(1 if differ else 0)


def arguments_of(command: str, data: Path, out: Path) -> list[str]:
    """Return the arguments after ``esoteric`` in a published command, with the paths filled in."""
    words = command.split()
    return [word.format(data=data, out=out) for word in words[words.index("esoteric") + 1 :]]


def _measured(arguments: list[str], written: Path) -> dict[str, Any]:
    """Run the command and return its results."""
    run = subprocess.run([sys.executable, "-m", "cli", *arguments], cwd=CHECKOUT, check=False)
    if run.returncode:
        raise SystemExit(run.returncode)
    results: dict[str, Any] = json.loads(written.read_text(encoding="utf-8"))
    return results


if __name__ == "__main__":
    main()
