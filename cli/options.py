"""The options that commands share, and what ``--corpus`` names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import click

from retrieval.errors import EsotericError, IndexUnavailable
from retrieval.index.open import description_of
from retrieval.types import DEFAULT_CORPUS
from settings import Settings
from worker.corpora.corpus_store import CorpusStore, chosen_corpora
from worker.sharing import EVERYTHING, Viewer

recipe_option = click.option(
    "--recipe",
    metavar="NAME|FILE.yaml",
    help="A recipe (see: esoteric recipes), or the file of one.  [default: combined, or report over"
    " vectors of DPR]",
)
corpus_option = click.option(
    "--corpus",
    "corpora",
    multiple=True,
    metavar="NAME",
    help="A corpus of the page /documents, by its name or its title, or default; several are"
    " searched as one.  [default: default]",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document and nothing else."
)


class NoSuchCorpus(EsotericError):
    """No corpus has this name or title."""


class AmbiguousCorpus(EsotericError):
    """Several corpora have this name or title."""


def corpora_asked(
    settings: Settings, asked: Collection[str], seen_by: Viewer = EVERYTHING
) -> tuple[str, ...] | None:
    """Return the names of the corpora that were asked for by name or title.

    ``None``: the default one. ``seen_by``: only those that may be seen; the commands of who has the
    files of the home see all.

    Raises:
        NoSuchCorpus: there is none of one of the names.
        AmbiguousCorpus: there are several.
        CorpusNotReady: one of them cannot be searched yet.
        CorpusRefused: there are too many.
    """
    store = CorpusStore(settings.documents, settings.folders)
    known = {name: store.corpus(name) for name in store.names()} if asked else {}
    titles = {
        name: one.title for name, one in known.items() if seen_by.opens(one.owner, one.shared)
    }
    own_name = _default_name(settings) if asked else DEFAULT_CORPUS
    called = {DEFAULT_CORPUS: (DEFAULT_CORPUS, own_name)}
    called |= {name: (name, title) for name, title in titles.items()}
    meant = [_named(one, called) for one in asked]
    return chosen_corpora(store, meant, DEFAULT_CORPUS.__eq__)


def _named(asked: str, called: Mapping[str, tuple[str, str]]) -> str:
    """Return the one corpus that is called so; ``called``: what each is called, by its name."""
    found = [
        name
        for name, names in called.items()
        if asked.casefold() in (one.casefold() for one in names)
    ]
    if len(found) == 1:
        return found[0]
    there = (f"{name} (“{called[name][1]}”)" for name in found or called)
    if found:
        raise AmbiguousCorpus(
            "ambiguous_corpus",
            f"Several corpora are called {asked[:80]!r}: {', '.join(there)}.",
            "Use its name instead of its title, or rename one on its page under /documents.",
        )
    raise NoSuchCorpus(
        "unknown_corpus",
        f"There is no corpus with the name or title {asked[:80]!r}.",
        f"Use one of: {', '.join(there)}.",
    )


def _default_name(settings: Settings) -> str:
    """Return the own name of the default corpus; of one on a server nothing is asked here."""
    if not isinstance(settings.store, Path):
        return DEFAULT_CORPUS
    try:
        return description_of(settings.store).name
    except IndexUnavailable:
        return DEFAULT_CORPUS
