"""Opens what checks claims in a process, of a worker or of a command, as the settings say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from retrieval.errors import BadSource
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.recipes.recipes import RECIPES, Recipe
from retrieval.sources.address import given_source, written_source
from retrieval.sources.opening import Sources
from settings import Settings
from worker.corpora.corpus_store import CorpusStore

if TYPE_CHECKING:  # heavy modules are imported when they are needed
    from retrieval.llm_judge.interface import Explains
    from retrieval.pipeline.assembly import OwnCorpus, Retriever


def open_retriever(
    settings: Settings,
    threads: int | None = None,
    recipes: Mapping[str, Recipe] = RECIPES,
    *,
    counted: bool = False,
) -> Retriever:
    """Return what checks claims in this process; nothing is loaded before it is first used.

    ``threads``: those of the settings, unless several processes share them. ``counted``: whether
    /metrics shows what the language model is asked.
    """
    from retrieval.pipeline.assembly import Retriever

    return Retriever(
        *(settings.store, settings.snapshots, threads or settings.threads),
        *(settings.model_folders, _explainer(settings.llm, settings.database_url, counted)),
        recipes,
        own_corpora(settings),
        Sources(settings.home, settings.contact),
    )


def own_corpora(settings: Settings) -> Callable[[str], OwnCorpus]:
    """Return what finds a corpus beside the default one; it raises ``EsotericError``.

    Who asks has checked that the name may be used: an address names any file and any host.
    """
    from retrieval.pipeline.assembly import OwnCorpus

    store = CorpusStore(settings.documents, settings.folders)

    def found(name: str) -> OwnCorpus:
        try:
            source = given_source(name, settings.sources) or written_source(name)
        except ValueError as error:
            raise BadSource("source_unknown", str(error), "Name it in another way.") from error
        if source is not None:
            return OwnCorpus(name, source.title, source)
        return OwnCorpus(name, *store.searchable(name))

    return found


@cache
def _explainer(
    choice: LanguageModelChoice | None, database_url: str, counted: bool
) -> Explains | None:
    """Return the stage that asks the language model; answers are kept in the database.

    There is one in each process, so that it remembers a failing server.
    """
    if choice is None:
        return None
    from retrieval.llm_judge.explainer import Explainer
    from worker.answer_store import AnswerStore, CountedModel
    from worker.database import Database

    database = Database(database_url)
    explains = Explainer(choice, AnswerStore(database))
    return CountedModel(explains, database) if counted else explains
