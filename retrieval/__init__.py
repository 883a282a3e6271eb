"""From a claim to sentences that support or refute it, and a verdict.

    from retrieval import check, open_index

    index = open_index(".esoteric/index")
    result = check("Frankenstein was written by Mary Shelley.", index)

``docs/python-api.md`` says more. ``retrieval.pipeline.check`` shows every stage in order;
``retrieval.stages`` has one file for each. To import this package is quick: both functions import
what they need when they are called.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrieval.index.open import IndexLocation
    from retrieval.pipeline.assembly import Retriever
    from retrieval.result import ClaimResult

__all__ = ["check", "open_index"]


def open_index(
    location: str | os.PathLike[str],
    home: str | os.PathLike[str] | None = None,
    threads: int | None = None,
) -> Retriever:
    """Open an index that claims can be checked against.

    ``location``: the folder of an index, or ``elasticsearch://[USER:PASSWORD@]HOST:PORT/INDEX``.
    ``home``: a folder for the unpacked models (1 GB), by default the one around the index, or
    ``~/.cache/esoteric`` for an index on a server. ``threads``: how many the models may use, by
    default one a core. The first claim loads the models.

    Raises:
        IndexUnavailable: there is no index, it cannot be used, or ``location`` cannot be read.
    """
    from retrieval.models.folders import ModelFolders
    from retrieval.pipeline.assembly import Retriever

    where = _location(os.fspath(location))
    if home is None:
        home = where.parent if isinstance(where, Path) else Path.home() / ".cache" / "esoteric"
    folder = Path(home).expanduser().resolve()
    models = ModelFolders(folder / "models")
    retriever = Retriever(where, folder / "snapshots", threads or os.cpu_count() or 1, models)
    retriever.info()
    return retriever


def check(
    claim: str, index: Retriever, recipe: str | None = None, anyway: bool = False
) -> ClaimResult:
    """Check one claim against an index that ``open_index`` opened, one claim at a time.

    ``recipe``: the name of a recipe, or a YAML file with one; by default ``combined``. With
    ``anyway`` questions, links and texts in another language are checked as they are.

    Raises:
        InvalidClaim: the text cannot be checked; the error says why.
        UnknownRecipe, BadRecipe: there is no such recipe, or its file cannot be used.
        IndexUnavailable, ModelUnavailable: the index or a model cannot be used.
    """
    from retrieval.claim import read_claim
    from retrieval.recipes.recipe_files import recipe_given
    from retrieval.result import claim_result

    read_claim(claim, anyway)
    chosen = recipe_given(recipe) if recipe else index.usual()
    return claim_result(index.follow(chosen, claim, lambda progress: None))


def _location(given: str) -> IndexLocation:
    from retrieval.errors import IndexUnavailable
    from retrieval.index.elastic.location import ElasticLocation

    if "://" not in given:
        return Path(given).expanduser().resolve()
    try:
        return ElasticLocation.read(given)
    except ValueError as error:  # the URL may contain a password, so it is not shown
        raise IndexUnavailable(
            "bad_location",
            f"The location of the index cannot be used: {error}.",
            "Name a folder, or elasticsearch://HOST:PORT/INDEX.",
        ) from error
