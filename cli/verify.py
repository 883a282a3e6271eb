"""``esoteric verify``: whether what the home keeps is as it was written."""

from __future__ import annotations

from collections.abc import Iterator

import click

from cli.doctor import Finding, report
from cli.errors import reports_errors
from settings import Settings


@click.command("verify", epilog="Example: esoteric verify --all")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Read all files and indexes and compare them with their digests; the service does so once"
    " a day.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@reports_errors
def command(everything: bool, as_json: bool) -> None:
    """Check database, documents, indexes and disk of the home; exit 1 if something is wrong."""
    report(_findings(everything), as_json)


def _findings(everything: bool) -> Iterator[Finding]:
    from worker.home_check import check_home, keep_outcome

    settings, parts = Settings.from_environment(), []
    for part in check_home(settings, everything):
        parts.append(part)
        problem = part.problem
        if problem is None:
            yield Finding(part.subject, True, part.found, "")
        else:
            yield Finding(part.subject, False, problem.message, problem.hint)
    if everything and settings.home.is_dir():
        keep_outcome(settings, tuple(parts))
