"""``make bench``: every measurement, side by side in one run.

The table is written to docs/benchmarks.md, and what most readers want to know to the README. To run
a single suite: ``python -m research.benchmarks claims`` (or ``splitting``, ``index``,
``update``, ``comparisons``, ``commands``, ``service``, ``connections``, ``wiring``, ``networks``,
``verifiers``, ``first_run``). Quote medians and ratios, not single times. If ``ESOTERIC_STORE`` is
on Elasticsearch, ``update`` measures that too.

``ESOTERIC_CPU=avx2 make bench`` measures as on a processor with AVX2 and nothing newer; it needs a
processor with CPUID faulting.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from research.benchmarks import claims, indexing, networks, service
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
    _limit_processor()
    print(_processor(), file=sys.stderr, flush=True)
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
        f"Written by `make bench` on {day}: {_processor()}; {threads} threads,",
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}.",
    ]


VARIABLE = "ESOTERIC_CPU"
_SOURCE = Path(__file__).with_name("as_avx2.c")
_LIBRARY = "as_avx2.so"
_NAMED = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_bf16", "amx_int8")


def _processor() -> str:
    """Return the processor's name and its instructions for matrices that programs here can use."""
    name, flags = "unknown processor", set[str]()
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            name = value.strip()
        elif key.strip() == "flags":
            flags = set(value.split())
    if os.environ.get(VARIABLE) == "avx2":
        return f"{name}, limited to avx2"
    return f"{name} with {', '.join(flag for flag in _NAMED if flag in flags)}"


def _limit_processor() -> None:
    """Start this program again, limited to AVX2, if ``ESOTERIC_CPU`` is set so.

    Raises:
        SystemExit: that is not possible here; the message says why.
    """
    wanted = os.environ.get(VARIABLE)
    if not wanted or _is_limited():
        return
    if wanted != "avx2":
        raise SystemExit(f"{VARIABLE} is {wanted!r}; the only processor to choose is avx2.")
    if "cpuid_fault" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        raise SystemExit(
            "This processor cannot be limited to AVX2: it has no CPUID faulting. Run the"
            f" benchmarks on an AVX2 machine, without {VARIABLE}."
        )
    library = Path(tempfile.mkdtemp()) / _LIBRARY
    built = subprocess.run(
        ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(_SOURCE)],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode:
        raise SystemExit(f"{_SOURCE.name} could not be compiled by cc: {built.stderr}")
    preloaded = " ".join([str(library), *os.environ.get("LD_PRELOAD", "").split()])
    environment = {**os.environ, "LD_PRELOAD": preloaded}
    os.execve(
        sys.executable, [sys.executable, "-m", "research.benchmarks", *sys.argv[1:]], environment
    )


def _is_limited() -> bool:
    return _LIBRARY in os.environ.get("LD_PRELOAD", "")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
