"""Writes the report, and the tables in it."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import click

from research.benchmarks import processor
from settings import CHECKOUT, Settings

REPORT = CHECKOUT / "research" / "reports" / "elasticsearch-benchmark.md"

Cells = tuple[str, ...]


def table(head: Cells, rows: Iterable[Cells]) -> str:
    """Return a table in Markdown."""
    lines = ["".join(f"| {cell} " if cell else "| " for cell in row) + "|" for row in (head, *rows)]
    lines.insert(1, "|" + "---|" * len(head))
    return "\n".join(lines)


def side_by_side(rows: Iterable[Cells]) -> str:
    """Return a table of rows made by ``both`` and ``elastic_only``."""
    return table(("", "embedded", "Elasticsearch", "ratio"), rows)


def both(what: str, shown: str, embedded: float, elastic: float) -> Cells:
    """Return a row with the figures of both and their ratio."""
    return what, shown.format(embedded), shown.format(elastic), f"{elastic / embedded:.2f}"


def elastic_only(what: str, figure: str, embedded: str = "") -> Cells:
    """Return a row with a figure that only Elasticsearch has."""
    return what, embedded, figure, ""


def doing(what: str) -> None:
    """Print what is measured now."""
    click.echo(f"{what} ...", err=True)


def write(command: str, documents: int, asked: int, parts: Sequence[str]) -> None:
    """Write the report: its parts after a description of the measurement."""
    text = f"""# Elasticsearch compared with the embedded index

Written by

    {command}

on {datetime.now(UTC):%Y-%m-%d}: {processor.described()}; {Settings.from_environment().threads}
threads, Python {platform.python_version()}, {platform.system()} {platform.machine()}. Both indexes
contain the same {documents:,} pages with static vectors, synthetic ones with any real ones
(`research/benchmarks/make_corpus.py`), and get the same {asked} claims. The node runs on the same
machine and takes its share of the processor. Single times vary; ratios are worth quoting.

{f"{chr(10)}{chr(10)}".join(parts)}
"""
    REPORT.write_text(text, encoding="utf-8")
