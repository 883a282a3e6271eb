"""What checks claims in the process of a command, as the settings say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.errors import say
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.sources.address import given_source, written_source
from retrieval.sources.opening import Sources
from settings import Settings
from worker.corpora.searchable_corpora import own_corpora

if TYPE_CHECKING:
    from retrieval.llm_judge.interface import Explains
    from retrieval.pipeline.assembly import Retriever


def say_where_claims_go(receiver: str) -> None:
    """Say which language model claims are sent to; "" says nothing."""
    if receiver:
        say(f"Claims and the sentences that are found are sent to {receiver}.")


def say_what_is_sent(settings: Settings, corpora: tuple[str, ...] | None) -> None:
    """Say what of the claims is sent to the sources among these corpora.

    Raises:
        BadSource: one of them may not be asked without a contact.
    """
    for name in corpora or ():
        source = given_source(name, settings.sources) or written_source(name)
        if source is not None and source.sent:
            source.check_contact(settings.contact)
            say(source.sent)


def opened_retriever(settings: Settings, threads: int | None = None) -> Retriever:
    """Return what checks claims in this process; nothing is loaded before it is first used.

    ``threads``: those of the settings, unless several processes share them.
    """
    from retrieval.pipeline.assembly import Retriever

    explains = _explainer(settings.llm, settings.database_url)
    return Retriever(
        *(settings.store, settings.snapshots, threads or settings.threads),
        *(settings.model_folders, explains),
        own_corpus=own_corpora(settings),
        sources=Sources(settings.home, settings.contact),
    )


def _explainer(choice: LanguageModelChoice | None, database_url: str) -> Explains | None:
    """Return the stage that asks the language model; answers are kept in the database."""
    if choice is None:
        return None
    from retrieval.llm_judge.explainer import Explainer
    from worker.answer_store import AnswerStore
    from worker.database import Database

    return Explainer(choice, AnswerStore(Database(database_url)))
