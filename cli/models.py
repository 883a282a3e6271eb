"""``esoteric models``."""

from __future__ import annotations

from pathlib import Path

import click

from cli.errors import reports_errors, say
from settings import Settings


@click.group("models", epilog="Example: esoteric models fetch report")
def command() -> None:
    """Fetch models that are not shipped."""


@command.command("fetch", epilog="Example: esoteric models fetch report")
@click.argument("models", type=click.Choice(["report"]))
@click.option(
    "--lock",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Another models.lock.json. Fetch the same revisions, and accept only the same files.",
)
@reports_errors
def fetch_command(models: str, lock: Path | None) -> None:
    """Fetch the models of the ESOTERIC report into ESOTERIC_REPORT_MODELS; their files are locked.

    Files that exist are compared with the lock and not fetched again. After an interruption, the
    same command keeps complete files and fetches the rest.
    """
    from retrieval.models.papers.report_models import fetch, named_folder

    folder = named_folder(Settings.from_environment().report_models)
    fetch(folder, lock, say)
    say(f"The models of the report are in {folder}.", on_output=True)
