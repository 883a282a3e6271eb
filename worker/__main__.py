"""``python -m worker``: one worker process."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

from retrieval.recipes.recipe_files import recipes_with
from settings import Settings
from worker.main import main
from worker.open_retriever import open_retriever

if TYPE_CHECKING:
    from retrieval.pipeline.assembly import Retriever

_recipes = cache(recipes_with)  # as they were when the worker started, like those of the web server


def open_when_asked(settings: Settings) -> Retriever:
    """Open the retriever; heavy modules are imported here, after the heartbeat has started."""
    return open_retriever(settings, recipes=_recipes(settings.recipes), counted=True)


if __name__ == "__main__":
    sys.exit(main(open_when_asked))
