"""An index and the pipelines over it, opened when they are first needed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.errors import EsotericError
from retrieval.index.errors import other_encoder
from retrieval.index.open import IndexLocation, open_index
from retrieval.models.encoders.document_encoders import text_encoder
from retrieval.models.encoders.dpr_encoder import DprQuestionEncoder
from retrieval.models.encoders.mpnet_encoder import MPNetEncoder
from retrieval.models.folders import ModelFolders
from retrieval.models.networks import runtime
from retrieval.models.report.models import present_models
from retrieval.pipeline.runnable import runnable
from retrieval.recipes.recipes import DEFAULT_RECIPE, RECIPES, Recipe, Vectors, recipe_named
from retrieval.system.leave_out_torch import leave_out_torch
from retrieval.types import Document, ProgressListener, Report, SentenceMatch

if TYPE_CHECKING:
    from retrieval.index.interface import DocumentStore, Index, IndexInfo
    from retrieval.llm_judge.explaining import Explains
    from retrieval.models.encoders.encoder import TextEncoder
    from retrieval.pipeline.check import Pipeline
    from retrieval.pipeline.registry import Resources


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
    ) -> None:
        """Store the settings; nothing is opened yet.

        ``snapshots`` is the folder for files that are derived from an index on a server,
        ``threads`` is how many the models may use. ``explainer`` asks a language model.
        ``recipes`` are those that claims are checked by, by their names.
        """
        self._location = index
        self._snapshots = snapshots
        self._threads = threads
        self._folders = folders
        self._explainer = explainer
        self._recipes = recipes
        self._resources: dict[Vectors, Resources] = {}
        self._pipelines: dict[Recipe, Pipeline] = {}
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
        self._opened(recipe or self.usual()).warm_up()

    def usual(self) -> Recipe:
        """Return the recipe for claims that name none: the default one, or one for these vectors.

        Raises:
            IndexUnavailable: there is no index, or it cannot be used.
        """
        if self._folders.report is None:  # then only vectors of the default recipe can be searched
            return RECIPES[DEFAULT_RECIPE]
        info = open_index(self._location, self._snapshots).open(None).info()
        return self._recipes[runnable(self._recipes, info.encoder, self._folders).usual]

    def _opened(self, recipe: Recipe) -> Pipeline:
        if recipe not in self._pipelines:
            resources = self._resources_with(recipe.vectors)
            self._pipelines[recipe] = pipeline_over(resources, recipe, self._explainer)
        return self._pipelines[recipe]

    def _resources_with(self, vectors: Vectors) -> Resources:
        if vectors not in self._resources:
            if not self._resources:
                runtime.use_threads(self._threads)
                runtime.keep_in(self._folders.networks)
            index = open_index(self._location, self._snapshots)
            version = index.version()
            store, encoder = self._opened_index(index, vectors)
            self._resources[vectors] = resources_over(store, encoder, self._folders)
            self._info = store.info()
            if self._index is None:
                self._index, self._version = index, version
        return self._resources[vectors]

    def info(self) -> IndexInfo:
        """Return the contents of the opened index; raises what ``warm_up`` raises."""
        if self._info is None:
            self._opened(self.usual())
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

    def check(self, claim: str, recipe: str, on_progress: ProgressListener) -> Report:
        """Check one claim by the recipe of this name.

        Raises:
            UnknownRecipe: there is none.

        Also raises what ``warm_up`` and ``Pipeline.check`` raise.
        """
        return self.follow(recipe_named(recipe, self._recipes), claim, on_progress)

    def follow(self, recipe: Recipe, claim: str, on_progress: ProgressListener) -> Report:
        """Check one claim by a recipe, which need not be one of the shipped.

        Raises what ``warm_up`` and ``Pipeline.check`` raise.
        """
        return self._opened(recipe).check(claim, on_progress)

    def nearest(self, query: str, limit: int) -> list[tuple[SentenceMatch, Document]]:
        """Return the ``limit`` sentences nearest to a query, best first, with their documents.

        Nothing is read or judged. An index without vectors finds none.

        Raises what ``warm_up`` raises.
        """
        resources = self._resources_with(self.usual().vectors)
        dpr = self.usual().vectors == "dpr"
        vectors = resources.dpr.encode([query]) if dpr else resources.queries.encode([(query, [])])
        (found,) = resources.store.nearest_sentences(vectors, limit)
        documents = resources.store.documents([match.key.document_id for match in found])
        return list(zip(found, documents, strict=True))

    def _opened_index(self, index: Index, vectors: Vectors) -> tuple[DocumentStore, TextEncoder]:
        """Return a view of the index, and the encoder that compares texts."""
        if vectors == "minilm":
            encoder = text_encoder(self._folders)
            return index.open(encoder.name), encoder
        folder = present_models(self._folders.report)
        questions = DprQuestionEncoder(folder).name
        store = index.open(questions)
        if not store.info().encoder:
            raise other_encoder("", questions)
        return store, MPNetEncoder(folder)


def resources_over(store: DocumentStore, encoder: TextEncoder, folders: ModelFolders) -> Resources:
    """Return what pipelines over a document store share; no model is loaded yet.

    ``encoder`` compares texts; the vectors of the store must be its own or DPR's. Call
    ``runtime.use_threads`` and ``runtime.keep_in`` first.
    """
    with leave_out_torch():
        from retrieval.pipeline.registry import Resources

    return Resources(store, encoder, folders)


def pipeline_over(
    resources: Resources, recipe: Recipe, explainer: Explains | None = None
) -> Pipeline:
    """Return a pipeline that checks claims by a recipe; no model is loaded yet.

    ``explainer`` asks a language model about the selected evidence.

    Raises:
        UnknownRecipe: the recipe names a stage that does not exist.
    """
    with leave_out_torch():
        from retrieval.pipeline.check import Pipeline
        from retrieval.pipeline.claim_parser import ClaimParser
        from retrieval.pipeline.registry import stages_of
        from retrieval.pipeline.spelling import Spelling

    stages = stages_of(recipe, resources)
    parser = ClaimParser(resources.parser, Spelling(resources.store))
    return Pipeline(recipe, stages, parser, resources.store.info(), explainer)
