"""The option ``--corpus`` of commands that check claims, and what it names."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import click

from retrieval.errors import EsotericError, IndexUnavailable
from retrieval.index.open import description_of
from retrieval.types import DEFAULT_CORPUS
from settings import Settings
from worker.corpora.chosen import chosen_corpora
from worker.corpora.corpus_store import CorpusStore

corpus_option = click.option(
    "--corpus",
    "corpora",
    multiple=True,
    metavar="NAME",
    help="A corpus of the page /documents, by its name or its title, or default; several are"
    " searched as one.  [default: default]",
)


class NoSuchCorpus(EsotericError):
    """No corpus has this name or title."""


def corpora_asked(settings: Settings, asked: Collection[str]) -> tuple[str, ...] | None:
    """Return the names of the corpora that were asked for by name or title.

    ``None``: the default one.

    Raises:
        NoSuchCorpus: there is none of one of the names.
        CorpusNotReady: one of them cannot be searched yet.
        CorpusRefused: there are too many.
    """
    store = CorpusStore(settings.documents, settings.folders)
    titles = {name: store.corpus(name).title for name in store.names()} if asked else {}
    known = {title.casefold(): name for name, title in titles.items()}
    known |= {name.casefold(): name for name in (*titles, DEFAULT_CORPUS, _default_name(settings))}
    for one in asked:
        if one.casefold() not in known:
            there = [f"{name} (“{title}”)" for name, title in sorted(titles.items())]
            raise NoSuchCorpus(
                "unknown_corpus",
                f"There is no corpus with the name or title {one[:80]!r}.",
                f"Use one of: {', '.join([DEFAULT_CORPUS, *there])}.",
            )
    default = (DEFAULT_CORPUS, _default_name(settings))
    return chosen_corpora(store, [known[one.casefold()] for one in asked], default.__contains__)


def _default_name(settings: Settings) -> str:
    """Return the own name of the default corpus; of one on a server nothing is asked here."""
    if not isinstance(settings.store, Path):
        return DEFAULT_CORPUS
    try:
        return description_of(settings.store).name
    except IndexUnavailable:
        return DEFAULT_CORPUS
