"""``make reproduce``: measures again what is published and holds it to ``expected.yaml``."""

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
    """A figure that is not as published; ``found`` is ``None`` where there is none."""

    name: str
    published: Any
    found: Any


def read_expected() -> dict[str, Any]:
    """Return the content of ``expected.yaml``: digests of the data, and runs with their figures."""
    expected: dict[str, Any] = yaml.safe_load(EXPECTED.read_text(encoding="utf-8"))
    return expected


def deviations(
    digests: Mapping[str, str], figures: Mapping[str, Any], results: Mapping[str, Any]
) -> Iterator[Deviation]:
    """Yield what differs by more than its tolerance, data first: other data, other figures.

    ``figures`` maps recipes to their published figures, ``results`` is what
    ``results.json`` holds.
    """
    data = {
        "wiki_pages": results["data"]["wiki_pages"]["sha256"],
        "claims": results["data"]["claims"]["sha256"],
    }
    for name, digest in digests.items():
        if data[name] != digest:
            yield Deviation(f"data, {name}", digest, data[name])
    for recipe, values in figures.items():
        measured = results["recipes"].get(recipe, {})
        for name, published in values.items():
            found = _value(measured, name)
            off = found is None or abs(found - published["value"]) > published["tolerance"]
            if off:
                yield Deviation(f"{recipe}, {name}", published["value"], found)


def _value(measured: Mapping[str, Any], name: str) -> float | None:
    """Return a figure; ``multi_page.evidence_recall`` is one of a subset."""
    value: float | None
    if name == "calibration_error":
        value = measured.get("calibration", {}).get("error")
        return value
    subset, dot, figure = name.rpartition(".")
    within = measured.get("subsets", {}).get(subset, {}) if dot else measured
    value = within.get("figures", {}).get(figure)
    return value


@click.command(epilog="Example: python -m evaluation.expected --data ../data --out results")
@click.option("--data", required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path))
def main(data: Path, out: Path) -> None:
    """Run the published commands on DATA and tell which figures differ."""
    expected = read_expected()
    differ = 0
    for run in expected["runs"]:
        folder = out.with_name(f"{out.name}-{run['name']}")
        results = _measured(arguments_of(run["command"], data, folder), folder)
        for one in deviations(expected["data"], run["figures"], results):
            differ += 1
            click.echo(f"{run['name']}, {one.name}: published {one.published}, now {one.found}")
    click.echo("Every figure is as published." if not differ else f"{differ} differ.")
    raise SystemExit(1 if differ else 0)


def arguments_of(command: str, data: Path, out: Path) -> list[str]:
    """Return what stands behind ``esoteric`` in a published command, the paths filled in."""
    words = command.split()
    return [word.format(data=data, out=out) for word in words[words.index("esoteric") + 1 :]]


def _measured(arguments: list[str], folder: Path) -> dict[str, Any]:
    """Run the command and return the results that it writes."""
    run = subprocess.run([sys.executable, "-m", "cli", *arguments], cwd=CHECKOUT, check=False)
    if run.returncode:
        raise SystemExit(run.returncode)
    results: dict[str, Any] = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return results


if __name__ == "__main__":
    main()
