"""The language model of the settings, for commands that check claims themselves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.errors import printable
from retrieval.explanation.choice import LanguageModelChoice

if TYPE_CHECKING:
    from retrieval.explanation.stage import Explains


def say_where_claims_go(receiver: str) -> None:
    """Say on standard error which language model claims are sent to; "": none."""
    if receiver:
        line = f"Claims and the sentences that are found are sent to {receiver}."
        click.echo(printable(line), err=True)


def explainer_with_kept_answers(
    choice: LanguageModelChoice | None, database_url: str, models: Path
) -> Explains | None:
    """Return the stage that asks the language model; answers are kept in the database.

    ``models``: the folder that a model of this process is read from.
    """
    from retrieval.explanation.explainer import explainer
    from worker.jobs import JobStore

    return explainer(choice, JobStore(database_url), models)
