"""An index and the pipeline over it, opened when they are first needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.config import RetrievalConfig
from retrieval.encoders.minilm_encoder import MiniLMEncoder
from retrieval.index.open_index import IndexLocation, open_index
from retrieval.leave_out_torch import leave_out_torch
from retrieval.models import ModelFolders
from retrieval.networks import runtime
from retrieval.recipes import DEFAULT_RECIPE, RECIPES, Recipe, recipe_named
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
        self._pipeline: Pipeline | None = None
        self._index: Index | None = None
        self._info: IndexInfo | None = None
        self._version = ""

    def warm_up(self, recipe: Recipe = RECIPES[DEFAULT_RECIPE]) -> None:
        """Open the index and load the models of a recipe; otherwise each is loaded when needed.

        Raises:
            IndexUnavailable: there is no index, or it cannot be used.
            ModelUnavailable: a model is missing or damaged.
        """
        self._opened().warm_up(recipe)

    def _opened(self) -> Pipeline:
        if self._pipeline is None:
            runtime.use_threads(self._threads)
            runtime.keep_in(self._folders.networks)
            index = open_index(self._location, self._snapshots)
            self._version = index.version()
            self._pipeline = self._assembled(index)
            self._index = index
        return self._pipeline

    def info(self) -> IndexInfo:
        """Return what the index holds that is opened; raises what ``warm_up`` raises."""
        self._opened()
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
        return self._opened().check(claim, recipe, on_progress)

    def _assembled(self, index: Index) -> Pipeline:
        encoder = MiniLMEncoder()
        store = index.open(encoder.name)
        self._info = store.info()
        return pipeline_over(store, encoder, self._folders, self._config, self._explainer)


def pipeline_over(
    store: DocumentStore,
    encoder: TextEncoder,
    folders: ModelFolders,
    config: RetrievalConfig,
    explainer: Explainer | None = None,
) -> Pipeline:
    """Return a pipeline that checks claims over any document store; no model is loaded yet.

    ``encoder`` is the one that the store's vectors are compared with. ``explainer`` asks a language
    model about the selected evidence. What the networks may use
    is set before, by ``runtime.use_threads`` and ``runtime.keep_in``.
    """
    with leave_out_torch():
        from retrieval.pipeline import Pipeline
        from retrieval.stages import Stages

    return Pipeline(Stages(store, encoder, folders, config), store, config, explainer)


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
