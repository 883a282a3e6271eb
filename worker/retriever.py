"""The one retriever of a worker process: loaded once, again only for a new index."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, RLock
from typing import TYPE_CHECKING, Protocol, TypeAlias

from retrieval.errors import EsotericError
from retrieval.types import ProgressListener, Report
from settings import Settings
from worker.failures import InternalError
from worker.jobs import AskedModel, SearchedCorpus, WorkerState

if TYPE_CHECKING:
    from retrieval.index.store import IndexInfo

WATCH_SECONDS = 3.0

logger = logging.getLogger(__name__)


class Retriever(Protocol):
    """What the worker asks of ``retrieval.assembly``'s retriever."""

    def warm_up(self) -> None:
        """Load the models and open the index."""
        ...

    def info(self) -> IndexInfo:
        """Return what the opened index holds."""
        ...

    @property
    def language_model_problem(self) -> EsotericError | None:
        """Why a language model is asked and gives no answer that can be used, if so."""
        ...

    def stale(self) -> bool:
        """Return whether another index stands where the opened one stood.

        Raises:
            EsotericError: the server that holds the index cannot be asked.
        """
        ...

    def check(self, claim: str, recipe: str, on_progress: ProgressListener) -> Report:
        """Check a claim; what ``on_progress`` raises ends the work."""
        ...


OpenRetriever: TypeAlias = Callable[[Settings], Retriever]


class RetrieverSlot:
    """Holds the retriever, and the reason where there is none.

    A worker without an index or a model stays up: it fails claims with the
    reason, and works again as soon as what was missing is there. Where it cannot ask for
    the index, it keeps what it has loaded until it can.
    """

    def __init__(self, open_retriever: OpenRetriever, settings: Settings) -> None:
        self._open = open_retriever
        self._settings = settings
        # One claim or one load at a time: two sets of models would not fit the memory.
        self._lock = RLock()
        self._retriever: Retriever | None = None
        self.state: WorkerState = "loading"
        self.problem: EsotericError | None = None
        self.corpus: SearchedCorpus | None = None

    def needs_loading(self) -> bool:
        """Return whether the next claim has to wait for models or for a new index.

        Raises:
            EsotericError: the index cannot be asked for, which is kept in ``problem``.
        """
        retriever = self._retriever
        return retriever is None or self._is_stale(retriever)

    def language_model(self) -> AskedModel | None:
        """Return whom claims and evidence are shown to, and why it gives no answer, if so.

        It is known before anything is loaded, so that the pages can name it before the first claim.
        """
        choice = self._settings.llm
        if choice is None:
            return None
        problem = self._retriever.language_model_problem if self._retriever else None
        told = problem.problem if problem else None
        return AskedModel(choice.model, choice.host, choice.decides, told)

    @contextmanager
    def use(self) -> Iterator[Retriever]:
        """Give the retriever, loaded if need be, to one claim.

        Raises:
            EsotericError: it cannot be loaded, or cannot ask for its index; the message says why.
        """
        with self._lock:
            yield self._loaded()

    def load(self) -> None:
        """Load what is missing or stale; a failure is kept in ``problem`` and logged."""
        try:
            with self._lock:
                self._loaded()
        except EsotericError as error:
            logger.debug("Still not ready: %s", error)

    def watch(self, stop: Event) -> None:
        """Keep the slot ready between claims, until ``stop`` is set."""
        while not stop.wait(WATCH_SECONDS):
            with suppress(EsotericError):  # it is kept and logged, and may pass
                if self.needs_loading():
                    self.load()

    def _is_stale(self, retriever: Retriever) -> bool:
        try:
            stale = retriever.stale()
        except EsotericError as error:
            self._broken(error)
            raise
        if not stale and self.problem is not None and retriever is self._retriever:
            logger.info("Claims can be checked again")
            self._ready()
        return stale

    def _loaded(self) -> Retriever:
        if self._retriever is not None and not self._is_stale(self._retriever):
            return self._retriever
        # Its memory goes before the next one asks for it.
        self._retriever = self.corpus = None
        if self.problem is None:
            self.state = "loading"
        try:
            retriever = self._open(self._settings)
            retriever.warm_up()
            info = retriever.info()
        except EsotericError as error:
            self._broken(error)
            raise
        except Exception as error:
            logger.exception("The retriever cannot be loaded")
            problem = InternalError("The models or the index could not be loaded.")
            self._broken(problem)
            raise problem from error
        self._retriever = retriever
        self.corpus = SearchedCorpus(info.name, info.source, info.documents, info.built_at)
        self._ready()
        logger.info("Models and index are loaded")
        return retriever

    def _ready(self) -> None:
        self.problem = None
        self.state = "ready"

    def _broken(self, problem: EsotericError) -> None:
        if self.problem is None or self.problem.message != problem.message:
            logger.error("Cannot check claims: %s", problem)
        self.problem = problem
        self.state = "broken"
