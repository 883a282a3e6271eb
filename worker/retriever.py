"""The retriever of a worker process: loaded once, and again for a new index."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, RLock
from typing import TYPE_CHECKING, TypeAlias

from retrieval.errors import EsotericError
from retrieval.pipeline.runnable import runnable
from retrieval.recipes.recipe_files import recipes_with
from settings import Settings
from worker.reports import AskedModel, InternalError, SearchedCorpus, WorkerState

if TYPE_CHECKING:
    from retrieval.pipeline.assembly import Retriever

WATCH_SECONDS = 3.0

logger = logging.getLogger(__name__)


OpenRetriever: TypeAlias = "Callable[[Settings], Retriever]"


class RetrieverSlot:
    """Contains the retriever, or the reason why there is none.

    A worker without an index or a model continues to run: its claims fail with the reason,
    and it works again as soon as the missing part is there. If the server of the index does
    not answer, it keeps the loaded retriever, and the claim waits.
    """

    def __init__(self, open_retriever: OpenRetriever, settings: Settings) -> None:
        """Nothing is opened yet.

        Raises:
            BadRecipe: a file of ESOTERIC_RECIPES cannot be used.
        """
        self._open = open_retriever
        self._settings = settings
        self._recipes = recipes_with(settings.recipes)
        # One claim or one load at a time: two sets of models would not fit in memory.
        self._lock = RLock()
        self._retriever: Retriever | None = None
        self.state: WorkerState = "loading"
        self.problem: EsotericError | None = None
        self.corpus: SearchedCorpus | None = None

    def needs_loading(self) -> bool:
        """Return whether the next claim must wait for models or for a new index.

        Raises:
            EsotericError: the server of the index does not answer; also stored in ``problem``.
        """
        retriever = self._retriever
        return retriever is None or self._is_stale(retriever)

    def language_model(self) -> AskedModel | None:
        """Return the language model that reads claims and evidence, and its problem, if any.

        It is known before models are loaded, so that the pages can name it before the first claim.
        """
        choice = self._settings.llm
        if choice is None:
            return None
        problem = self._retriever.language_model_problem if self._retriever else None
        reported = problem.problem if problem else None
        return AskedModel(choice.model, choice.host, choice.decides, reported)

    @contextmanager
    def use(self) -> Iterator[Retriever]:
        """Yield the retriever, loaded if necessary, for one claim.

        Raises:
            EsotericError: it cannot be loaded, or the server of its index does not answer.
        """
        with self._lock:
            yield self._loaded()

    def load(self) -> None:
        """Load what is missing or out of date; a failure is stored in ``problem`` and logged."""
        try:
            with self._lock:
                self._loaded()
        except EsotericError as error:
            logger.debug("Still not ready: %s", error)

    def watch(self, stop: Event) -> None:
        """Keep the slot ready between claims, until ``stop`` is set."""
        while not stop.wait(WATCH_SECONDS):
            with suppress(EsotericError):  # it is stored and logged, and may end
                if self.needs_loading():
                    self.load()

    def _is_stale(self, retriever: Retriever) -> bool:
        with self._noticing("The index cannot be asked whether it has changed."):
            stale = retriever.stale()
        if not stale and self.problem is not None and retriever is self._retriever:
            logger.info("Claims can be checked again")
            self._ready()
        return stale

    def _loaded(self) -> Retriever:
        if self._retriever is not None and not self._is_stale(self._retriever):
            return self._retriever
        # Its memory is freed before the next one is loaded.
        self._retriever = self.corpus = None
        if self.problem is None:
            self.state = "loading"
        with self._noticing("The models or the index could not be loaded."):
            retriever = self._open(self._settings)
            retriever.warm_up()
            info = retriever.info()
        self._retriever = retriever
        self.corpus = SearchedCorpus(
            info.name,
            info.source,
            info.documents,
            info.built_at,
            info.date,
            runnable(
                self._recipes,
                info.encoder,
                self._settings.model_folders,
                asks=self._settings.llm is not None,
            ),
        )
        self._ready()
        logger.info("Models and index are loaded")
        return retriever

    @contextmanager
    def _noticing(self, otherwise: str) -> Iterator[None]:
        """Store an error as the problem; an unexpected one is logged, and ``otherwise`` is said."""
        try:
            yield
        except EsotericError as error:
            self._broken(error)
            raise
        except Exception as error:
            logger.exception(otherwise)
            problem = InternalError(otherwise)
            self._broken(problem)
            raise problem from error

    def _ready(self) -> None:
        self.problem = None
        self.state = "ready"

    def _broken(self, problem: EsotericError) -> None:
        if self.problem is None or self.problem.message != problem.message:
            logger.error("Cannot check claims: %s", problem)
        self.problem = problem
        self.state = "broken"
