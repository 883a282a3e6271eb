"""The corpus, as the embedded index or a worker reports it.

The web process must not load the code that opens an index: it asks for the description of the
embedded one. Only workers connect to an index on a server; they write what they opened into the
database.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path

from app.api.models import Corpora, CorpusItem
from app.contexts import Corpus
from app.people.sharing import sees_corpus
from app.services import Services, services
from retrieval.errors import IndexUnavailable
from retrieval.index.open import description_of
from retrieval.models.folders import ModelFolders
from retrieval.pipeline.runnable import runnable
from retrieval.recipes.recipes import Recipe
from retrieval.words import VITAL
from worker.corpora.corpus_store import StoredCorpus
from worker.health import worker_health
from worker.reports import SearchedCorpus

# Corpora whose texts are from Wikipedia and are shown under its licence: by their kind, or by the
# names that Kiwix and Wikimedia give to files of Wikipedia.
_WIKIPEDIA_SOURCES = ("vital", "fever")
_WIKIPEDIA_NAME = re.compile(r"wikipedia|[a-z]+wiki[-_]", re.IGNORECASE)


def searched_corpus(here: Services) -> SearchedCorpus:
    """Return the corpus that claims are checked against.

    Raises:
        IndexUnavailable: the index cannot be used, or no worker has reported it.
        StoreUnavailable: the database cannot be read.
    """
    settings = here.settings
    if isinstance(settings.store, Path):
        return read_corpus(settings.store, settings.model_folders, here.recipes)
    health = worker_health(here.workers)
    if health.problem is not None:
        raise IndexUnavailable(*astuple(health.problem))
    if health.corpus is None:
        raise IndexUnavailable(
            "index_unknown",
            "The worker does not report its corpus, because it runs an older version.",
            "Restart the worker.",
        )
    return health.corpus


def read_corpus(
    index: Path, folders: ModelFolders, recipes: Mapping[str, Recipe]
) -> SearchedCorpus:
    """Return the corpus of the embedded index in this folder, and which recipes can run over it.

    Raises:
        IndexUnavailable: there is no index, or its description is damaged.
    """
    found = description_of(index)
    return SearchedCorpus(
        found.name,
        found.source,
        found.documents,
        found.built_at,
        found.date,
        runnable(recipes, found.encoder, folders),
    )


def listed_corpora() -> Corpora:
    """Return the corpora that can be searched here, the default one first, or why it cannot be.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    own = tuple(map(own_corpus_item, filter(sees_corpus, services().corpora.all())))
    try:
        corpus = searched_corpus(services())
    except IndexUnavailable as error:
        problem = services().paths.hidden_in_problem(error.problem)
        return Corpora(corpora=own, problem=problem)
    item = CorpusItem(
        name=corpus.name,
        title=corpus_item(corpus).title,
        documents=corpus.documents,
        built_at=corpus.built_at,
        text_date=corpus.text_date or None,
        default=True,
        state="ready",
        searchable=True,
    )
    return Corpora(corpora=(item, *own), problem=None)


def own_corpus_item(found: StoredCorpus) -> CorpusItem:
    """Return what the API says of a corpus beside the default one."""
    return CorpusItem(
        name=found.name,
        title=found.title,
        documents=found.documents,
        built_at=found.built_at,
        text_date=found.text_date or None,
        default=False,
        state=found.state,
        searchable=found.searchable,
        shared=found.shared,
    )


def corpus_item(corpus: SearchedCorpus) -> Corpus:
    """Return what pages show of a corpus."""
    kind = corpus.source.partition(":")[0]
    named = kind in ("zim", "cirrus", "parquet") and _WIKIPEDIA_NAME.match(corpus.name)
    attribution = kind in _WIKIPEDIA_SOURCES or bool(named)
    title = VITAL if kind == "vital" else corpus.name
    return Corpus(title, corpus.documents, corpus.text_date, attribution)


def is_wikipedia(site: str) -> bool:
    """Return whether the host of an address is one of Wikipedia's."""
    return site == "wikipedia.org" or site.endswith(".wikipedia.org")
