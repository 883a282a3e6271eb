"""The tables of a campaign, or of several together, and what to run again.

python -m research.benchmarks.faults.report FOLDER... prints those of these campaigns as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

import click

from research.benchmarks.faults.counting import Counts
from research.benchmarks.faults.ledger import KINDS
from research.benchmarks.faults.results import Results, Round, read, together

_ENDS = ("done", "failed with a reason", "failed without", "cancelled", "lost", "twice")
_OF_FAULTS = (
    *("fault", "rounds", *KINDS, *_ENDS, "stuck", "bad pages", "verifier alone"),
    "all went on after, median (longest)",
)
_OF_KINDS = ("", "accepted", *_ENDS, "verifier alone")


def by_fault(results: Results) -> str:
    """Return a row for each kind of fault, and one for all; what was accepted counts in its round.

    Claims, rows and uploads have columns of their own for what was accepted; the others count all.
    """
    faults = sorted({played.fault for played in results.rounds})
    rows = [_row(fault, [one for one in results.rounds if one.fault == fault]) for fault in faults]
    return _table(_OF_FAULTS, [*rows, _row("all", results.rounds)])


def by_kind(results: Results) -> str:
    """Return a row each for claims, rows of lists and uploads."""
    rows = []
    for kind in KINDS:
        counts = sum((played.counts[kind] for played in results.rounds), Counts())
        rows.append([kind, str(counts.accepted), *_ends(counts), str(counts.verifier_alone)])
    return _table(_OF_KINDS, rows)


def text(results: Results, again: str = "--rounds 1 --seed {0.seed}") -> str:
    """Return the tables, and what was found with the options that repeat it."""
    reasons = ", ".join(f"{code} {times}" for code, times in sorted(results.reasons.items()))
    ends = (
        f"Reasons of failures: {reasons or 'none'}. Claims answered with 503: {results.refused},"
        f" checked all the same: {results.refused_but_kept}.\n"
    )
    found = [
        f"- {finding.fault}: {finding.what} (again: `{again.format(finding)}`)\n"
        for finding in results.findings
    ]
    return "\n".join((by_kind(results), by_fault(results), ends, *found))


def _row(name: str, rounds: Sequence[Round]) -> list[str]:
    backs = [one.back_seconds for one in rounds]
    all_of = sum((one.all() for one in rounds), Counts())
    accepted = (sum(one.counts[kind].accepted for one in rounds) for kind in KINDS)
    return [
        name,
        str(len(rounds)),
        *map(str, accepted),
        *_ends(all_of),
        str(sum(one.stuck for one in rounds)),
        str(sum(one.bad_pages for one in rounds)),
        str(all_of.verifier_alone),
        f"{median(backs):.0f} s ({max(backs):.0f} s)",
    ]


def _ends(counts: Counts) -> list[str]:
    failed = (counts.failed, counts.failed_without)
    return [str(n) for n in (counts.done, *failed, counts.cancelled, counts.lost, counts.twice)]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def main(folders: Sequence[Path]) -> None:
    """Print the tables of several campaigns as one."""
    click.echo(text(together(map(read, folders))))


if __name__ == "__main__":
    main()
