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
    """Return the content of ``expected.yaml``."""
    expected: dict[str, Any] = yaml.safe_load(EXPECTED.read_text(encoding="utf-8"))
    return expected


def deviations(expected: Mapping[str, Any], results: Mapping[str, Any]) -> Iterator[Deviation]:
    """Yield what differs by more than its tolerance, data first: other data, other figures."""
    data = {
        "wiki_pages": results["data"]["wiki_pages"]["sha256"],
        "claims": results["data"]["claims"]["sha256"],
    }
    for name, digest in expected["data"].items():
        if data[name] != digest:
            yield Deviation(f"data, {name}", digest, data[name])
    for recipe, figures in expected["figures"].items():
        measured = results["recipes"].get(recipe, {})
        for name, published in figures.items():
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
    """Run the published command on DATA and tell which figures differ."""
    expected = read_expected()
    arguments = [part.format(data=data, out=out) for part in expected["command"].split()[1:]]
    run = subprocess.run([sys.executable, "-m", "cli", *arguments], cwd=CHECKOUT, check=False)
    if run.returncode:
        raise SystemExit(run.returncode)
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    found = list(deviations(expected, results))
    for one in found:
        click.echo(f"{one.name}: published {one.published}, now {one.found}")
    click.echo("Every figure is as published." if not found else f"{len(found)} differ.")
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()
