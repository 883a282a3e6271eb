"""An index and the pipelines over it, opened when they are first needed."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.errors import BadSource, EsotericError, IndexUnavailable
from retrieval.index.errors import other_encoder
from retrieval.index.open import IndexLocation, open_index
from retrieval.models import runtime
from retrieval.models.document_encoders import (
    DEFAULT_ENCODER,
    DOCUMENT_ENCODERS,
    choice_of,
    text_encoder,
)
from retrieval.models.folders import ModelFolders
from retrieval.models.papers.report_models import present_models
from retrieval.models.papers.report_networks import DprQuestionEncoder, MPNetEncoder
from retrieval.pipeline.runnable import runnable
from retrieval.recipes.recipes import (
    DEFAULT_RECIPE,
    NO_MODEL,
    RECIPES,
    Recipe,
    Vectors,
    recipe_named,
)
from retrieval.sources.address import SourceAddress
from retrieval.system.packages import leave_out_torch
from retrieval.text.word_forms import FUNCTION_WORDS
from retrieval.types import (
    DEFAULT_CORPUS,
    NOT_ENOUGH_INFO,
    CorpusInfo,
    CorpusKind,
    Document,
    Progress,
    ProgressListener,
    Report,
    SentenceMatch,
)
from retrieval.words import ABOUT_OWN, DECIDED_BY_OWN, LEFT_OPEN_BY_OWN, VITAL

if TYPE_CHECKING:
    from retrieval.index.interface import DocumentStore, Index, IndexInfo
    from retrieval.llm_judge.interface import Explains
    from retrieval.models.encoders import DocumentEncoder, TextEncoder
    from retrieval.pipeline.check import Pipeline
    from retrieval.sources.opening import Sources
    from retrieval.stages.stage import Models, Resources


# Sets of corpora that stay open; the one that was used least recently is closed for another.
_MOST_OPEN = 4
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class OwnCorpus:
    """A corpus beside the default one: its name, what people call it, and where it is.

    That is the folder of its index, or a source. The ids of its documents begin with its name and a
    colon.
    """

    name: str
    title: str
    index: Path | SourceAddress

    @property
    def prefix(self) -> str:
        """What the ids of its documents begin with."""
        return f"{self.name}:"

    @property
    def kind(self) -> CorpusKind:
        """How it is searched."""
        return "index" if isinstance(self.index, Path) else self.index.kind


def _none(name: str) -> OwnCorpus:
    raise IndexUnavailable("unknown_corpus", f"There is no corpus named {name!r}.", "Leave it out.")


@dataclass(frozen=True, slots=True)
class _Opened:
    """What was opened to be searched; ``of``: from which corpora beside the default one."""

    resources: Resources
    of: tuple[tuple[OwnCorpus, str], ...] = ()
    pipelines: dict[Recipe, Pipeline] = field(default_factory=dict)


class Retriever:
    """An index and pipelines over it, opened on first use and loaded once.

    Safe to create in a process that may never check a claim: nothing heavy is
    imported before ``warm_up`` or ``check``.
    """

    def __init__(
        self,
        index: IndexLocation,
        snapshots: Path,
        threads: int,
        folders: ModelFolders,
        explainer: Explains | None = None,
        recipes: Mapping[str, Recipe] = RECIPES,
        own_corpus: Callable[[str], OwnCorpus] = _none,
        sources: Sources | None = None,
    ) -> None:
        """Store the settings; nothing is opened yet.

        ``snapshots`` is the folder for files that are derived from an index on a server,
        ``threads`` is how many the models may use. ``explainer`` asks a language model.
        ``recipes`` are those that claims are checked by, by their names. ``own_corpus`` finds
        a corpus beside the default one, or raises ``EsotericError``; ``sources`` opens those that
        are searched where they are.
        """
        self._location = index
        self._snapshots = snapshots
        self._threads = threads
        self._folders = folders
        self._explainer = explainer
        self._recipes = recipes
        self._own_corpus = own_corpus
        self._sources = sources
        self._together: OrderedDict[tuple[Vectors, tuple[str, ...]], _Opened] = OrderedDict()
        self._alone: dict[Vectors, _Opened] = {}
        self._shared: dict[Vectors, Models] = {}
        self._index: Index | None = None
        self._info: IndexInfo | None = None
        self._version = ""

    def warm_up(self, recipe: Recipe | None = None) -> None:
        """Open the index and load the models of a recipe; otherwise each is loaded when needed.

        Without ``recipe`` it is the usual one.

        Raises:
            IndexUnavailable: there is no index, or it cannot be used.
            ModelUnavailable: a model is missing or damaged.
        """
        self._pipeline(recipe or self.usual()).warm_up()

    def usual(self) -> Recipe:
        """Return the recipe for claims that name none: the default one, or one for these vectors.

        Raises:
            IndexUnavailable: there is no index, or it cannot be used.
        """
        if self._folders.report is None:  # then only vectors of the default recipe can be searched
            return RECIPES[DEFAULT_RECIPE]
        info = open_index(self._location, self._snapshots).open(None).info()
        can = runnable(self._recipes, info.encoder, self._folders, asks=self._explainer is not None)
        return self._recipes[can.usual]

    def _default(self, vectors: Vectors) -> Resources:
        """Open the default corpus."""
        with leave_out_torch():
            from retrieval.stages.stage import Resources

        index = open_index(self._location, self._snapshots)
        version = index.version()
        models = self._models(vectors)
        store = index.open(_asked(models, vectors).name)
        self._info = store.info()
        if vectors == "dpr" and not self._info.encoder:
            raise other_encoder("", models.dpr.name)
        if self._index is None:
            self._index, self._version = index, version
        return Resources(store, models)

    def _models(self, vectors: Vectors) -> Models:
        """Return the models, which all corpora share, also where the default one is not there."""
        if not self._shared:
            runtime.use_threads(self._threads)
            runtime.keep_in(self._folders.networks)
        if vectors not in self._shared:
            with leave_out_torch():
                from retrieval.stages.stage import Models

            folders = self._folders
            minilm = vectors == "minilm"
            encoder: TextEncoder = (
                text_encoder(folders) if minilm else MPNetEncoder(present_models(folders.report))
            )
            self._shared[vectors] = Models(encoder, folders)
        return self._shared[vectors]

    def info(self) -> IndexInfo:
        """Return the contents of the opened index; raises what ``warm_up`` raises."""
        if self._info is None:
            self._opened(self.usual().vectors)
        assert self._info is not None
        return self._info

    @property
    def language_model_problem(self) -> EsotericError | None:
        """Why a language model is asked and gives no answer that can be used, if so."""
        return self._explainer.problem if self._explainer else None

    def stale(self) -> bool:
        """Return whether the opened index has been replaced.

        Raises:
            IndexUnavailable: the server of the index does not answer.
        """
        return self._index is not None and self._index.version() != self._version

    def check(
        self,
        claim: str,
        recipe: str,
        on_progress: ProgressListener,
        corpora: tuple[str, ...] | None = None,
    ) -> Report:
        """Check one claim by the recipe of this name, in the default corpus or in ``corpora``.

        Raises:
            UnknownRecipe: there is none.
            IndexUnavailable: one of the corpora cannot be searched.

        Also raises what ``warm_up``, ``Pipeline.check`` and ``own_corpus`` raise.
        """
        return self.follow(recipe_named(recipe, self._recipes), claim, on_progress, corpora)

    def follow(
        self,
        recipe: Recipe,
        claim: str,
        on_progress: ProgressListener,
        corpora: tuple[str, ...] | None = None,
    ) -> Report:
        """Check one claim by a recipe, which need not be one of the shipped; see ``check``.

        Of corpora that include somebody's own papers, these come first: what they decide is
        decided, and all are searched together for what they leave open. What is about the papers
        is not decided by a text about something else: "the library" by the British Library.
        """
        own = tuple(name for name in corpora or () if self._is_papers(name))
        if not own or own == corpora:
            return self._pipeline(recipe, corpora).check(claim, on_progress)
        last: list[Progress] = []

        def listen(progress: Progress) -> None:
            last[:] = [progress]
            if progress.stage != "done":
                on_progress(progress)

        first = self._pipeline(recipe, own).check(claim, listen)
        if first.verdict.label != NOT_ENOUGH_INFO:
            on_progress(last[0])
            asked = self._opened(recipe.vectors, corpora).resources.store.info().as_corpus()
            return replace(first, corpus=asked, notices=(*first.notices, DECIDED_BY_OWN))
        on_progress(replace(last[0], stage="start", message=LEFT_OPEN_BY_OWN, done=0))
        both = self._pipeline(recipe, corpora).check(claim, on_progress)
        if not _is_of_own(first, both, tuple(self._own_corpus(name).prefix for name in own)):
            return _with(both, first)
        open_in_both = both.verdict.label == NOT_ENOUGH_INFO
        notices = first.notices if open_in_both else (*first.notices, ABOUT_OWN)
        return replace(_with(first, both), corpus=both.corpus, notices=notices)

    def nearest(
        self, query: str, limit: int, corpora: tuple[str, ...] | None = None
    ) -> list[tuple[SentenceMatch, Document]]:
        """Return the ``limit`` sentences nearest to a query, best first, with their documents.

        Nothing is read or judged. An index without vectors finds none.

        Raises what ``warm_up`` and ``own_corpus`` raise.
        """
        usual = self.usual().vectors
        resources = self._opened(usual, corpora).resources
        dpr, models = usual == "dpr", resources.models
        vectors = models.dpr.encode([query]) if dpr else models.queries.encode([(query, [])])
        resources.store.begin(query)
        (found,) = resources.store.nearest_sentences(vectors, limit)
        documents = resources.store.documents([match.key.document_id for match in found])
        return list(zip(found, documents, strict=True))

    def _pipeline(self, recipe: Recipe, corpora: tuple[str, ...] | None = None) -> Pipeline:
        opened = self._opened(recipe.vectors, corpora)
        if recipe not in opened.pipelines:
            explainer = self._asked(recipe)
            opened.pipelines[recipe] = pipeline_over(opened.resources, recipe, explainer)
        return opened.pipelines[recipe]

    def _asked(self, recipe: Recipe) -> Explains | None:
        """Return what asks the language model of a recipe, which is at the settings' server."""
        name = recipe.language_model
        if name is None or self._explainer is None:
            return self._explainer
        return None if name == NO_MODEL else self._explainer.asking(name)

    def _opened(self, vectors: Vectors, names: tuple[str, ...] | None = None) -> _Opened:
        """Return what is open of these corpora, opened again where one of them has changed.

        Without ``names`` it is the default one, which stays as it was opened (``stale``).
        """
        with_default = names is None or DEFAULT_CORPUS in names
        if with_default and vectors not in self._alone:
            self._alone[vectors] = _Opened(self._default(vectors))
        if names is None or names == (DEFAULT_CORPUS,):
            return self._alone[vectors]
        own = [self._own_corpus(name) for name in names if name != DEFAULT_CORPUS]
        of = tuple((one, _version_of(one, self._snapshots)) for one in own)
        key = (vectors, names)
        opened = self._together.get(key)
        if opened is None or opened.of != of:
            with leave_out_torch():
                from retrieval.stages.stage import Resources

            models = self._models(vectors)
            asked, alone = _asked(models, vectors).name, len(names) == 1
            views = [(one, self._own_view(one, asked, alone=alone)) for one in own]
            default = self._alone[vectors].resources.store if with_default else None
            opened = _Opened(Resources(_together(default, views), models), of)
            self._together[key] = opened
            while len(self._together) > _MOST_OPEN:
                self._together.popitem(last=False)
        self._together.move_to_end(key)
        return opened

    def _is_papers(self, name: str) -> bool:
        """Return whether a corpus is neither the default one nor searched where it is."""
        return name != DEFAULT_CORPUS and isinstance(self._own_corpus(name).index, Path)

    def _own_view(self, own: OwnCorpus, encoder: str, *, alone: bool) -> DocumentStore:
        if not isinstance(own.index, Path):
            assert self._sources is not None, "who finds a source can open it"
            vectors = DOCUMENT_ENCODERS[choice_of(encoder)](self._folders)
            return _source_view(self._sources, own.index, vectors, alone=alone)
        try:
            return open_index(own.index, self._snapshots).open(encoder)
        except IndexUnavailable as error:
            raise IndexUnavailable(
                error.code,
                f"The corpus “{own.title}” cannot be searched. {error.message}",
                f"Index it again, on the page /documents/{own.name}.",
            ) from error


def _asked(models: Models, vectors: Vectors) -> TextEncoder | DprQuestionEncoder:
    """Return what makes the vectors that an index is asked with."""
    return models.dpr if vectors == "dpr" else models.encoder


def _version_of(own: OwnCorpus, snapshots: Path) -> str:
    """Return what changes when a corpus is built again; a source is asked for each claim anew."""
    return open_index(own.index, snapshots).version() if isinstance(own.index, Path) else ""


def _source_view(
    sources: Sources, address: SourceAddress, encoder: DocumentEncoder, *, alone: bool
) -> DocumentStore:
    """Return a source as a store; beside others, one that cannot be opened finds nothing."""
    from retrieval.sources.interface import Unopened
    from retrieval.sources.store import SourceStore

    try:
        return SourceStore(address, sources.open(address), encoder)
    except BadSource:
        if alone:
            raise
    return SourceStore(address, Unopened(address.title, lambda: sources.open(address)), encoder)


def _is_of_own(own: Report, both: Report, prefixes: tuple[str, ...]) -> bool:
    """Return whether a claim that one's own papers leave open is about them all the same.

    They have all its names, and what decides it is neither theirs nor a text that it names.
    """
    if own.not_settled is None or own.not_settled.absent:
        return False
    label = both.verdict.label
    selected = [item for item in both.evidence if item.selected]
    deciding = [item for item in selected if item.stance == label] or selected
    said = _WORD.findall(own.claim)
    words = {word.casefold() for word in said}
    names = {word.casefold() for word in said if word[0].isupper()} - FUNCTION_WORDS
    titles = [{*_WORD.findall(item.title.partition(" (")[0].casefold())} for item in deciding]
    is_named = any(title <= words or title & names for title in titles)
    is_own = any(item.key.document_id.startswith(prefixes) for item in deciding)
    return label == NOT_ENOUGH_INFO or not (is_named or is_own)


def _with(report: Report, other: Report) -> Report:
    """Return a report with what else another one of the same claim has found, last."""
    keys = {item.key for item in report.evidence}
    ids = {one.document.id for one in report.documents}
    evidence = (replace(item, selected=False) for item in other.evidence if item.key not in keys)
    documents = (one for one in other.documents if one.document.id not in ids)
    return replace(
        report,
        evidence=(*report.evidence, *evidence),
        documents=(*report.documents, *documents),
        seconds={
            stage: report.seconds.get(stage, 0.0) + other.seconds.get(stage, 0.0)
            for stage in {**other.seconds, **report.seconds}
        },
    )


def corpus_of(
    location: IndexLocation,
    snapshots: Path,
    own: Sequence[OwnCorpus],
    sources: Sources,
    *,
    with_default: bool,
) -> CorpusInfo:
    """Return what a result says of the corpora that it was checked against.

    Raises:
        IndexUnavailable: one of them cannot be opened.
    """
    default = open_index(location, snapshots).open(None) if with_default else None
    if not own:
        assert default is not None
        return CorpusInfo.model_validate(default.info().as_corpus())
    unused = DOCUMENT_ENCODERS[DEFAULT_ENCODER](ModelFolders(snapshots))  # nothing is encoded
    views = [
        (
            one,
            open_index(one.index, snapshots).open(None)
            if isinstance(one.index, Path)
            else _source_view(sources, one.index, unused, alone=len(own) == 1 and not with_default),
        )
        for one in own
    ]
    return CorpusInfo.model_validate(_together(default, views).info().as_corpus())


def _together(
    default: DocumentStore | None, views: Sequence[tuple[OwnCorpus, DocumentStore]]
) -> DocumentStore:
    from retrieval.index.together import Part, TogetherStore

    parts = [Part(own.name, own.title, own.prefix, view, own.kind) for own, view in views]
    if default is not None:
        info = default.info()
        title = VITAL if info.source == "vital" else info.name
        parts.append(Part(info.name, title, "", default))
    return TogetherStore(parts)


def resources_over(store: DocumentStore, encoder: TextEncoder, folders: ModelFolders) -> Resources:
    """Return what pipelines over a document store share; no model is loaded yet.

    ``encoder`` compares texts; the vectors of the store must be its own or DPR's. Call
    ``runtime.use_threads`` and ``runtime.keep_in`` first.
    """
    with leave_out_torch():
        from retrieval.stages.stage import Models, Resources

    return Resources(store, Models(encoder, folders))


def pipeline_over(
    resources: Resources, recipe: Recipe, explainer: Explains | None = None
) -> Pipeline:
    """Return a pipeline that checks claims by a recipe; no model is loaded yet.

    ``explainer`` asks a language model about the selected evidence.

    Raises:
        UnknownRecipe: the recipe names a stage that does not exist.
    """
    with leave_out_torch():
        from retrieval.pipeline.check import Pipeline, stages_of
        from retrieval.pipeline.claim_parser import ClaimParser, Spelling

    store = resources.store
    parser = ClaimParser(resources.models.parser, Spelling(store))
    return Pipeline(recipe, stages_of(recipe, resources), parser, store, explainer)
