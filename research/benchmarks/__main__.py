"""``make bench``: every measurement, side by side in one run.

The table is written to docs/benchmarks.md, and what most readers want to know to the README. To run
a single suite: ``python -m research.benchmarks claims`` (or ``splitting``, ``index``,
``update``, ``comparisons``, ``commands``, ``service``, ``connections``, ``wiring``, ``networks``,
``verifiers``, ``first_run``). Quote medians and ratios, not single times. If ``ESOTERIC_STORE`` is
on Elasticsearch, ``update`` measures that too.

``ESOTERIC_CPU=avx2 make bench`` measures as on a processor with AVX2 and nothing newer; it needs a
processor with CPUID faulting (``processor``).
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from research.benchmarks import claims, indexing, networks, processor, service
from research.benchmarks.row import Row
from research.write_doc_tables import between
from settings import CHECKOUT, Settings

SUITES: dict[str, Callable[[], list[Row]]] = {
    "splitting": indexing.splitting,
    "index": indexing.index,
    "update": indexing.update,
    "claims": claims.times,
    "comparisons": claims.comparisons,
    "commands": service.commands,
    "service": service.service,
    "connections": service.connections,
    "wiring": claims.wiring,
    "networks": networks.networks,
    "verifiers": networks.verifiers,
    "first_run": service.first_run,
}
REPORT = CHECKOUT / "docs" / "benchmarks.md"
README = CHECKOUT / "README.md"
BEGIN = "<!-- make bench writes this -->\n"
HEAD = ["| measured | figure | target | command |", "|---|---|---|---|"]
README_HEAD = ["| measured | figure |", "|---|---|"]
IN_README = (  # beginnings of what is measured
    "everyday claim, p50",
    "everyday claim, p95",
    "`esoteric batch`",
    "`make run` to ready from nothing",
    "`esoteric up` to ready",
    "web process, resident",
    "worker process, resident",
)


def main(names: list[str]) -> int:
    """Run the named suites, by default all; only a run of all writes the report."""
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        print(f"No benchmark is named {unknown[0]!r}; use {', '.join(SUITES)}.", file=sys.stderr)
        return 2
    processor.limit()
    print(processor.described(), file=sys.stderr, flush=True)
    table, for_readme = list(HEAD), list(README_HEAD)
    for name in names or SUITES:
        print(f"{name} ...", file=sys.stderr, flush=True)
        for row in SUITES[name]():
            command = f"`python -m research.benchmarks {name}`"
            line = f"| {row.what} | {row.figure} | {row.target} | {command} |"
            print(line, flush=True)
            table.append(line)
            if row.what.startswith(IN_README):
                for_readme.append(f"| {row.what} | {row.figure} |")
    if not names:
        _write(REPORT, [*_measured(), "", *table])
        _write(README, [*_measured(), "", *for_readme])
    return 0


def _write(page: Path, lines: list[str]) -> None:
    page.write_text(between(page.read_text(encoding="utf-8"), BEGIN, lines), encoding="utf-8")


def _measured() -> list[str]:
    threads = Settings.from_environment().threads
    day = datetime.now(UTC).date().isoformat()
    return [
        f"Written by `make bench` on {day}: {processor.described()}; {threads} threads,",
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}.",
    ]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
