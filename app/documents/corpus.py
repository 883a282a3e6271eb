"""The corpora: which there are, which a form offers, and which a claim is checked against.

The web process must not load the code that opens an index: it asks for the description of the
embedded one. Only workers connect to an index on a server; they write what they opened into the
database.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from flask import request

from app.api.models import Corpora, CorpusItem
from app.documents.uploading import refuse_unless_shared
from app.people.sharing import refuse_unseen_corpus, sees_corpus
from app.services import services
from retrieval.errors import IndexUnavailable
from retrieval.index.open import description_of
from retrieval.pipeline.runnable import runnable
from retrieval.recipes.recipes import Recipe
from retrieval.result import Document
from retrieval.sources.address import SourceAddress
from retrieval.types import DEFAULT_CORPUS, CorpusKind
from retrieval.words import VITAL, counted
from settings import Settings
from worker.corpora.corpus_store import StoredCorpus, chosen_corpora, source_of
from worker.corpora.errors import UnknownCorpus
from worker.health import worker_health
from worker.reports import SearchedCorpus

# Corpora whose texts are from Wikipedia and are shown under its licence: by their kind, or by the
# names that Kiwix and Wikimedia give to files of Wikipedia.
_WIKIPEDIA_SOURCES = ("vital", "fever")
_WIKIPEDIA_NAME = re.compile(r"wikipedia|[a-z]+wiki[-_]", re.IGNORECASE)
# The cookie of static/corpora.js: the names of the sources that a switch is left on for.
_ALSO = "esoteric_also"


@dataclass(frozen=True, slots=True)
class Corpus:
    """The default corpus. ``title``: what people call it.

    ``text_date``: the day of its newest text, "" if unknown.
    ``attribution``: texts of it are from Wikipedia, which must be named.
    """

    title: str
    documents: int
    text_date: str
    attribution: bool


@dataclass(frozen=True, slots=True)
class CorpusChoice:
    """A corpus that a claim can be checked against; ``name`` is what a form sends.

    ``holds``: what is searched in it, and how much, in words; of a source, what is sent to whom.
    ``today``: its text is today's.
    """

    name: str
    title: str
    holds: str
    text_date: str
    chosen: bool
    kind: CorpusKind = "index"
    today: bool = False


def searched_corpus() -> SearchedCorpus:
    """Return the corpus that claims are checked against.

    Raises:
        IndexUnavailable: the index cannot be used, or no worker has reported it.
        StoreUnavailable: the database cannot be read.
    """
    settings = services().settings
    if isinstance(settings.store, Path):
        return read_corpus(settings.store, settings, services().recipes)
    health = worker_health(services().workers)
    if health.problem is not None:
        raise IndexUnavailable(*astuple(health.problem))
    if health.corpus is None:
        raise IndexUnavailable(
            "index_unknown",
            "The worker does not report its corpus, because it runs an older version.",
            "Restart the worker.",
        )
    return health.corpus


def read_corpus(index: Path, settings: Settings, recipes: Mapping[str, Recipe]) -> SearchedCorpus:
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
        runnable(recipes, found.encoder, settings.model_folders, asks=settings.llm is not None),
    )


def listed_corpora() -> Corpora:
    """Return the corpora that can be searched here, the default one first, or why it cannot be.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    own = (
        *map(own_corpus_item, filter(sees_corpus, services().corpora.all())),
        *map(_source_item, services().settings.sources.values()),
    )
    try:
        corpus = searched_corpus()
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
        kind="index",
        sent="",
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
        kind="index",
        sent="",
        shared=found.shared,
    )


def _source_item(source: SourceAddress) -> CorpusItem:
    """Return what the API says of a corpus that is searched where it is; nothing is asked."""
    return CorpusItem(
        name=source.name,
        title=source.title,
        documents=0,
        built_at="",
        text_date=None,
        default=False,
        state="ready",
        searchable=True,
        kind=source.kind,
        sent=source.sent,
    )


def corpus_item(corpus: SearchedCorpus) -> Corpus:
    """Return what pages show of a corpus."""
    kind = corpus.source.partition(":")[0].removesuffix("-whole")
    named = kind in ("zim", "cirrus", "parquet") and _WIKIPEDIA_NAME.match(corpus.name)
    attribution = kind in _WIKIPEDIA_SOURCES or bool(named)
    title = VITAL if kind == "vital" else corpus.name
    return Corpus(title, corpus.documents, corpus.text_date, attribution)


def is_wikipedia(site: str) -> bool:
    """Return whether the host of an address is one of Wikipedia's."""
    return site == "wikipedia.org" or site.endswith(".wikipedia.org")


def from_wikipedia(document: Document) -> bool:
    """Return whether a text is Wikipedia's; a page of it in a file is credited to the file."""
    of_a_file = any(day in document.credit for day in (", modified on ", ", as of "))
    return is_wikipedia(document.site or document.credit) and not of_a_file


def corpora_to_choose(chosen: Sequence[str] = ()) -> tuple[CorpusChoice, ...]:
    """Return the corpora that can be searched, the default one first.

    ``chosen``: the names of those that are selected; without any it is the default one, and what
    this browser also searches.
    """
    corpora = services().corpora
    own = [one for one in corpora.choices() if sees_corpus(corpora.corpus(one.name))]
    sources = services().settings.sources.values()
    known = {DEFAULT_CORPUS, *(one.name for one in own), *(one.name for one in sources)}
    also = {one.name for one in also_searched()}
    selected = {*chosen} & known or {DEFAULT_CORPUS} | also
    choices = []
    try:
        default = corpus_item(searched_corpus())
    except IndexUnavailable:
        pass  # the page says why
    else:
        of = default.title, _held(default), default.text_date
        choices.append(CorpusChoice(DEFAULT_CORPUS, *of, chosen=DEFAULT_CORPUS in selected))
    for one in own:
        of = one.title, counted(one.documents, "file"), one.text_date
        choices.append(CorpusChoice(one.name, *of, chosen=one.name in selected))
    for source in sources:
        choices.append(
            CorpusChoice(
                source.name,
                source.title,
                source.sent or "Nothing is sent: it is a file on this server.",
                text_date="",
                chosen=source.name in selected,
                kind=source.kind,
                today=source.of_wikimedia,
            )
        )
    return tuple(choices)


def sources_among(names: Sequence[str] | None) -> list[SourceAddress]:
    """Return those of these corpora that are searched where they are."""
    found = (source_of(name, services().settings.sources) for name in names or ())
    return [one for one in found if one is not None]


def also_searched() -> list[SourceAddress]:
    """Return the sources that this browser searches with each claim, as its user has chosen."""
    names = request.cookies.get(_ALSO, "").split(".")
    return [one for name, one in services().settings.sources.items() if name in names]


def corpora_to_search(names: Sequence[str]) -> tuple[str, ...] | None:
    """Return the names of the corpora that a claim is checked against, in one order for each set.

    ``None``: the default one, which is also meant by no name and by its own.

    Raises:
        UnknownCorpus: a name has no corpus.
        CorpusNotReady: one of them cannot be searched yet.
        CorpusRefused: there are too many, or a worker does not have the documents.
    """
    sources = services().settings.sources
    uploaded = [
        name for name in names if not _is_default(name) and source_of(name, sources) is None
    ]
    for name in uploaded:
        refuse_unseen_corpus(name)
    found = chosen_corpora(services().corpora, names, _is_default, sources)
    if uploaded:
        refuse_unless_shared()
    return found


def titles_of(names: Sequence[str] | None) -> dict[str, str | None]:
    """Return what people call these corpora, ``None`` for one that was removed.

    ``names``: ``None`` for the default one, which is left out where it cannot be used.
    """
    titles: dict[str, str | None] = {}
    for name in names or (DEFAULT_CORPUS,):
        try:
            if _is_default(name):
                titles[name] = corpus_item(searched_corpus()).title
            elif source := source_of(name, services().settings.sources):
                titles[name] = source.title
            else:
                titles[name] = services().corpora.corpus(name).title
        except IndexUnavailable:
            pass  # the workers say why
        except UnknownCorpus:
            titles[name] = None
    return titles


def _held(corpus: Corpus) -> str:
    if corpus.title == VITAL:
        return f"only the first paragraphs of {corpus.documents:,} articles"
    return counted(corpus.documents, "document")


def _is_default(name: str) -> bool:
    if name == DEFAULT_CORPUS:
        return True
    try:
        return name == searched_corpus().name
    except IndexUnavailable:
        return False
