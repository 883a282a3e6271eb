"""``python -m worker``: one worker process."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.recipes.recipe_files import recipes_with
from retrieval.recipes.recipes import Recipe
from settings import Settings
from worker.corpora.searchable_corpora import own_corpora
from worker.main import main

if TYPE_CHECKING:
    from retrieval.llm_judge.choice import LanguageModelChoice
    from retrieval.llm_judge.interface import Explains
    from retrieval.pipeline.assembly import Retriever


def open_when_asked(settings: Settings) -> Retriever:
    """Open the retriever; heavy modules are imported here, after the heartbeat has started."""
    from retrieval.pipeline.assembly import Retriever
    from retrieval.sources.opening import Sources

    folders = settings.model_folders
    explains = _explainer(settings.llm, settings.database_url)
    return Retriever(
        settings.store,
        settings.snapshots,
        settings.threads,
        folders,
        explains,
        _recipes(settings.recipes),
        own_corpora(settings),
        Sources(settings.home, settings.contact),
    )


@cache
def _recipes(folder: Path | None) -> dict[str, Recipe]:
    """Return all recipes as they were when the worker started, like those of the web server."""
    return recipes_with(folder)


@cache
def _explainer(choice: LanguageModelChoice | None, database_url: str) -> Explains | None:
    """Return the stage ``explain``, one per process, so that it remembers a failing server."""
    if choice is None:
        return None
    from retrieval.llm_judge.explainer import Explainer
    from worker.answer_store import AnswerStore, CountedModel
    from worker.database import Database

    database = Database(database_url)
    return CountedModel(Explainer(choice, AnswerStore(database)), database)


if __name__ == "__main__":
    sys.exit(main(open_when_asked))
