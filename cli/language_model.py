"""The language model of the settings, for commands that check claims themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.errors import printable
from retrieval.explanation.choice import LanguageModelChoice

if TYPE_CHECKING:
    from retrieval.explanation.explainer import Explainer


def say_where_claims_go(language_model: str) -> None:
    """Say on standard error which language model is shown the claims; "": none is."""
    if language_model:
        line = f"Claims and the sentences that are found are sent to {language_model}."
        click.echo(printable(line), err=True)


def explainer_with_kept_answers(
    choice: LanguageModelChoice | None, database_url: str
) -> Explainer | None:
    """Return the stage that asks the language model; answers are kept in the database."""
    from retrieval.explanation.explainer import explainer
    from worker.jobs import JobStore

    return explainer(choice, JobStore(database_url))
