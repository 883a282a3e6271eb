"""An index and the pipeline over it, opened when they are first needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.config import REPORT, RetrievalConfig
from retrieval.encoders.document_encoders import DPR_ENCODER, choice_of
from retrieval.encoders.dpr_encoder import DprQuestionEncoder
from retrieval.encoders.minilm_encoder import MiniLMEncoder
from retrieval.encoders.mpnet_encoder import MPNetEncoder
from retrieval.index.layout import other_encoder
from retrieval.index.open_index import IndexLocation, open_index
from retrieval.leave_out_torch import leave_out_torch
from retrieval.model_folders import ModelFolders
from retrieval.networks import runtime
from retrieval.recipes import DEFAULT_RECIPE, RECIPES, Models, Recipe, recipe_named
from retrieval.report.models import present_models
from retrieval.types import ProgressListener, Report

if TYPE_CHECKING:
    from retrieval.encoders.encoder import TextEncoder
    from retrieval.explanation.explainer import Explainer
    from retrieval.explanation.language_model import LanguageModel
    from retrieval.index.store import DocumentStore, Index, IndexInfo
    from retrieval.pipeline import Pipeline


class Retriever:
    """An index and a pipeline over it, opened on first use and loaded once.

    Safe to create in a process that may never check a claim: nothing heavy is
    imported before ``warm_up`` or ``check``.
    """

    def __init__(
        self,
        index: IndexLocation,
        snapshots: Path,
        threads: int,
        folders: ModelFolders,
        config: RetrievalConfig,
        explainer: Explainer | None = None,
    ) -> None:
        """Remember the settings; ``open_retriever`` tells what they mean."""
        self._location = index
        self._snapshots = snapshots
        self._threads = threads
        self._folders = folders
        self._config = config
        self._explainer = explainer
        self._pipelines: dict[Models, Pipeline] = {}
        self._index: Index | None = None
        self._info: IndexInfo | None = None
        self._version = ""

    def warm_up(self, recipe: Recipe | None = None) -> None:
        """Open the index and load the models of a recipe; otherwise each is loaded when needed.

        Without a recipe they are those of the default one, or of ``report`` over vectors of DPR,
        which only this recipe searches.

        Raises:
            IndexUnavailable: there is no index, or it cannot be used.
            ModelUnavailable: a model is missing or damaged.
        """
        recipe = recipe or self._usual()
        self._opened(recipe).warm_up(recipe)

    def _usual(self) -> Recipe:
        if self._folders.report is not None:
            info = open_index(self._location, self._snapshots).open(None).info()
            if choice_of(info.encoder) == DPR_ENCODER:
                return RECIPES["report"]
        return RECIPES[DEFAULT_RECIPE]

    def _opened(self, recipe: Recipe) -> Pipeline:
        if recipe.models not in self._pipelines:
            if not self._pipelines:
                runtime.use_threads(self._threads)
                runtime.keep_in(self._folders.networks)
            index = open_index(self._location, self._snapshots)
            version = index.version()
            self._pipelines[recipe.models] = self._assembled(index, recipe.models)
            if self._index is None:
                self._index, self._version = index, version
        return self._pipelines[recipe.models]

    def info(self) -> IndexInfo:
        """Return what the index holds that is opened; raises what ``warm_up`` raises."""
        if self._info is None:
            self._opened(self._usual())
        assert self._info is not None
        return self._info

    @property
    def language_model(self) -> LanguageModel | None:
        """The language model that is asked after the last hop, if there is one."""
        return self._explainer.language_model if self._explainer else None

    def stale(self) -> bool:
        """Return whether another index stands where the opened one stood.

        Raises:
            IndexUnavailable: the server that holds the index cannot be asked.
        """
        return self._index is not None and self._index.version() != self._version

    def check(self, claim: str, recipe: str, on_progress: ProgressListener) -> Report:
        """Check one claim by the recipe of this name.

        Raises:
            UnknownRecipe: there is none. And what ``warm_up`` and ``Pipeline.check`` raise.
        """
        return self.follow(recipe_named(recipe), claim, on_progress)

    def follow(self, recipe: Recipe, claim: str, on_progress: ProgressListener) -> Report:
        """Check one claim by a recipe, which need not be one of the shipped.

        Raises what ``warm_up`` and ``Pipeline.check`` raise.
        """
        return self._opened(recipe).check(claim, recipe, on_progress)

    def _assembled(self, index: Index, models: Models) -> Pipeline:
        if models == "report":
            return self._of_the_report(index)
        encoder = MiniLMEncoder()
        store = index.open(encoder.name)
        self._info = store.info()
        return pipeline_over(store, encoder, self._folders, self._config, explainer=self._explainer)

    def _of_the_report(self, index: Index) -> Pipeline:
        folder = present_models(self._folders.report)
        questions = DprQuestionEncoder(folder).name
        store = index.open(questions)
        self._info = store.info()
        if not self._info.encoder:
            raise other_encoder("", questions)
        encoder = MPNetEncoder(folder)
        return pipeline_over(store, encoder, self._folders, REPORT, "report", self._explainer)


def pipeline_over(
    store: DocumentStore,
    encoder: TextEncoder,
    folders: ModelFolders,
    config: RetrievalConfig,
    models: Models = "shipped",
    explainer: Explainer | None = None,
) -> Pipeline:
    """Return a pipeline that checks claims over any document store; no model is loaded yet.

    ``encoder`` is the one that the store's vectors are compared with; with ``models`` "report",
    which are then in ``folders``, those are DPR's, and ``encoder`` compares sentences.
    ``explainer`` asks a language model about the selected evidence. What the networks may use is
    set before, by ``runtime.use_threads`` and ``runtime.keep_in``.
    """
    with leave_out_torch():
        from retrieval.pipeline import Pipeline
        from retrieval.stages import Stages

    return Pipeline(Stages(store, encoder, folders, config, models), store, config, explainer)


def open_retriever(
    index: IndexLocation,
    snapshots: Path,
    threads: int,
    folders: ModelFolders,
    explainer: Explainer | None = None,
) -> Retriever:
    """Return a retriever over the index at this location; nothing is loaded yet.

    ``snapshots`` is the folder for files that are derived from an index on a server,
    ``threads`` is how many the models may use. ``explainer`` asks a language model.
    """
    return Retriever(index, snapshots, threads, folders, RetrievalConfig(), explainer)
