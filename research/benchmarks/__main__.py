"""``make bench``: every measurement, side by side in one run.

The table is written to docs/benchmarks.md; figures with a target are written to the README too. To
run a single suite: ``python -m research.benchmarks claims`` (or ``splitting``, ``index``,
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

from research.benchmarks import (
    claims,
    commands,
    comparisons,
    connections,
    first_run,
    index,
    networks,
    processor,
    service,
    splitting,
    update,
    verifiers,
    wiring,
)
from research.benchmarks.row import Row
from settings import CHECKOUT, Settings

SUITES: dict[str, Callable[[], list[Row]]] = {
    "splitting": splitting.measure,
    "index": index.measure,
    "update": update.measure,
    "claims": claims.measure,
    "comparisons": comparisons.measure,
    "commands": commands.measure,
    "service": service.measure,
    "connections": connections.measure,
    "wiring": wiring.measure,
    "networks": networks.measure,
    "verifiers": verifiers.measure,
    "first_run": first_run.measure,
}
REPORT = CHECKOUT / "docs" / "benchmarks.md"
README = CHECKOUT / "README.md"
BEGIN, END = "<!-- make bench writes from here -->\n", "<!-- to here -->\n"
HEAD = ["| measured | figure | target | command |", "|---|---|---|---|"]


def main(names: list[str]) -> int:
    """Run the named suites, by default all; only a run of all writes the report."""
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        print(f"No benchmark is named {unknown[0]!r}; use {', '.join(SUITES)}.", file=sys.stderr)
        return 2
    processor.limit()
    print(processor.described(), file=sys.stderr, flush=True)
    table, aimed_at = list(HEAD), list(HEAD)
    for name in names or SUITES:
        print(f"{name} ...", file=sys.stderr, flush=True)
        for row in SUITES[name]():
            command = f"`python -m research.benchmarks {name}`"
            line = f"| {row.what} | {row.figure} | {row.target} | {command} |"
            print(line, flush=True)
            table.append(line)
            if row.target:
                aimed_at.append(line)
    if not names:
        REPORT.write_text(_report(table), encoding="utf-8")
        README.write_text(
            _between(README.read_text(encoding="utf-8"), [_measured(), "", *aimed_at]),
            encoding="utf-8",
        )
    return 0


def _measured() -> str:
    return f"{processor.described()}; {Settings.from_environment().threads} threads:"


def _between(readme: str, lines: list[str]) -> str:
    """Return the README with these lines in the table of benchmarks."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([before + BEGIN, *lines, "", END + after])


def _report(table: list[str]) -> str:
    threads = Settings.from_environment().threads
    day = datetime.now(UTC).date().isoformat()
    return f"""# Benchmarks

Written by `make bench` on {day}: {processor.described()}; {threads} threads,
Python {platform.python_version()}, {platform.system()} {platform.machine()}.
The corpus is `vital` (10,033 Wikipedia introductions). Easy claims are those of
`research/benchmarks/claims.txt`, everyday claims a sample of `research/datasets/everyday`.
Machines are noisy: medians and ratios are worth quoting, single times are not.
The report's own figure for a claim is 31.75 s, on other hardware and the 5.4 million pages of
FEVER; the two are not the same measurement.

{chr(10).join(table)}
"""


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
