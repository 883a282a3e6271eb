"""``esoteric models``."""

from __future__ import annotations

from pathlib import Path

import click

from cli.errors import printable, reports_errors
from settings import Settings


@click.group("models", epilog="Example: esoteric models fetch report")
def command() -> None:
    """Fetch models that are not shipped."""


@command.command("fetch", epilog="Example: esoteric models fetch report --lock team.lock.json")
@click.argument("models", type=click.Choice(["report"]))
@click.option(
    "--lock",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A models.lock.json of others: fetch the same revisions and accept the same files only.",
)
@reports_errors
def fetch(models: str, lock: Path | None) -> None:
    """Fetch the models of the ESOTERIC report into ESOTERIC_REPORT_MODELS, and lock their files.

    What is there is not fetched again, but compared with the lock. Interrupted, the same command
    keeps the files that are whole and fetches the rest.
    """
    from retrieval.report import fetching
    from retrieval.report.models import named_folder

    folder = named_folder(Settings.from_environment().report_models)
    fetching.fetch(folder, lock, lambda name: click.echo(printable(name), err=True))
    click.echo(printable(f"{folder} holds the models of the report."))
