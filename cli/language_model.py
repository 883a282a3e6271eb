"""The language model of the settings, for commands that check claims in their own process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.errors import printable
from retrieval.llm_judge.choice import LanguageModelChoice

if TYPE_CHECKING:
    from retrieval.llm_judge.interface import Explains


def say_where_claims_go(receiver: str) -> None:
    """Print to standard error which language model claims are sent to; "" prints nothing."""
    if receiver:
        line = f"Claims and the sentences that are found are sent to {receiver}."
        click.echo(printable(line), err=True)


def explainer_with_kept_answers(
    choice: LanguageModelChoice | None, database_url: str
) -> Explains | None:
    """Return the stage that asks the language model; answers are kept in the database."""
    if choice is None:
        return None
    from retrieval.llm_judge.explainer import Explainer
    from worker.answer_store import AnswerStore
    from worker.database import Database

    return Explainer(choice, AnswerStore(Database(database_url)))
