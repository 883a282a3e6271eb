"""The options that commands share, and what ``--corpus`` names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import click

from retrieval.errors import EsotericError, IndexUnavailable
from retrieval.index.open import description_of
from retrieval.sources.address import check_day, written_source
from retrieval.types import DEFAULT_CORPUS
from settings import Settings
from worker.corpora.corpus_store import CorpusStore, chosen_corpora, source_of
from worker.corpora.errors import CorpusRefused
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
    help="A corpus of the page /documents, by its name or its title, or default; or one that is"
    " searched where it is: a name of ESOTERIC_SOURCES, mediawiki:en, mediawiki:URL or"
    " zim-search:FILE; several are searched as one.  [default: default]",
)
before_option = click.option(
    "--before",
    metavar="DAY",
    help="Read wikis as they were before this day, such as 2024-05-01.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document and nothing else."
)


class NoSuchCorpus(EsotericError):
    """No corpus has this name or title."""


class AmbiguousCorpus(EsotericError):
    """Several corpora have this name or title."""


def corpora_given(
    settings: Settings, asked: Collection[str], before: str | None
) -> tuple[str, ...] | None:
    """Return the names of the corpora that an operator gave, also by the addresses of sources.

    ``before``: the day before which wikis are read.

    Raises:
        CorpusRefused: the address of a source, or the day, cannot be used, or no wiki is given.
        NoSuchCorpus, AmbiguousCorpus, CorpusNotReady: see ``corpora_asked``.
    """
    day = f"@{before}" if before else ""
    try:
        if before is not None:
            check_day(before)
        written = {f"{one}{day}" for one in asked if written_source(f"{one}{day}") is not None}
        named = [
            f"{one}{day}" if day and one in settings.sources else one
            for one in asked
            if f"{one}{day}" not in written
        ]
        if day and not written and not any(one.endswith(day) for one in named):
            raise ValueError("--before reads a wiki as it was, and none is given.")
    except ValueError as error:
        hint = "Name a source such as --corpus mediawiki:en, or leave --before out."
        raise CorpusRefused("source_unknown", str(error), hint) from error
    others = corpora_asked(settings, named) if named else ()
    if not written:
        return others or None
    return (*(others or (DEFAULT_CORPUS,) if named else ()), *sorted(written))


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
    called |= {name: (name, source.title) for name, source in settings.sources.items()}
    sources = settings.sources
    meant = [one if source_of(one, sources) else _named(one, called) for one in asked]
    return chosen_corpora(store, meant, DEFAULT_CORPUS.__eq__, settings.sources)


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
