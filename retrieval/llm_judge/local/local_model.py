"""The language model in this process: loaded once, used for one claim at a time."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import TypeVar

from retrieval.errors import EsotericError
from retrieval.llm_judge.language_model import (
    SHOWN_EVERY,
    Deadline,
    LanguageModelUnavailable,
    Waiting,
)
from retrieval.llm_judge.local.gguf_model import FirstToken, GgufModel, PromptRefused
from retrieval.llm_judge.local.wordings import Wording
from retrieval.llm_judge.packaged_weights import PackagedWeights
from retrieval.models.networks import runtime

_CODE = "language_model_unavailable"
_T = TypeVar("_T")

logger = logging.getLogger(__name__)


class LocalModel:
    """A model that computes in its own thread, so that a claim can stop waiting for it.

    If a claim stops waiting, the computation ends after the current answer; the next claim waits
    for that. ``problem``: why the model gives no answers, until it gives one.
    """

    def __init__(
        self, name: str, models: Path, weights: PackagedWeights, wordings: Sequence[Wording]
    ) -> None:
        """Set what to load: ``weights`` from the folder ``models``; ``name`` is for messages."""
        self.problem: LanguageModelUnavailable | None = None
        self._name = name
        self._models = models
        self._weights = weights
        self._wordings = tuple(wordings)
        self._thread = ThreadPoolExecutor(1, "language model")
        self._loaded: Future[GgufModel] | None = None

    def warm_up(self) -> None:
        """Start to load the model, unless it is loading or loaded; ``problem`` has a failure.

        It does not wait: claims can meanwhile be checked up to this stage.
        """
        if self._loaded is None or (self._loaded.done() and self._loaded.exception()):
            self._loaded = self._thread.submit(self._load)

    def ask(
        self, claim: str, sentences: Sequence[tuple[str, str]], seconds: float, on_wait: Waiting
    ) -> list[FirstToken]:
        """Return the first token of the answer in each wording.

        ``sentences``: (title, sentence). ``seconds``: the time limit for the answers, without
        loading. An exception from ``on_wait`` ends the wait.

        Raises:
            LanguageModelUnavailable: the model cannot be loaded, refuses the prompt or takes
                longer.
        """
        self.warm_up()
        assert self._loaded is not None
        stop = Event()
        try:
            model = _awaited(self._loaded, Deadline(float("inf")), on_wait)
            deadline = Deadline(seconds)
            answers = self._thread.submit(self._answers, model, claim, sentences, stop)
            first_tokens = _awaited(answers, deadline, on_wait)
        except TimeoutError:
            raise self._failed(
                f"it took longer than {seconds:.0f} s",
                "Set ESOTERIC_LLM_SECONDS higher. Until then verdicts are the verifier's.",
            ) from None
        except PromptRefused as error:  # a problem of the claim, not of the model
            hint = "The other claims are not affected."
            raise self._error(str(error), hint) from None
        except LanguageModelUnavailable as error:
            raise LanguageModelUnavailable(error.code, error.message, error.hint) from None
        finally:
            stop.set()
        self.problem = None
        return first_tokens

    def _load(self) -> GgufModel:
        """Load the model and read the examples, with which all prompts of a wording begin."""
        try:
            file = self._weights.present_file(self._models)
            model = GgufModel(file, runtime.threads(), len(self._wordings))
            for slot, wording in enumerate(self._wordings):
                model.first_token(slot, wording.prompt("", ()), wording.answers)
        except EsotericError as error:
            raise self._failed(error.message.rstrip("."), error.hint) from None
        logger.info("The language model %s is loaded", self._name)
        return model

    def _answers(
        self, model: GgufModel, claim: str, sentences: Sequence[tuple[str, str]], stop: Event
    ) -> list[FirstToken]:
        found = []
        for slot, wording in enumerate(self._wordings):
            if not stop.is_set():
                prompt = wording.prompt(claim, sentences)
                found.append(model.first_token(slot, prompt, wording.answers))
        return found

    def _failed(self, reason: str, hint: str) -> LanguageModelUnavailable:
        self.problem = self._error(reason, hint)
        logger.warning("%s", self.problem.message)
        return self._error(reason, hint)

    def _error(self, reason: str, hint: str) -> LanguageModelUnavailable:
        message = f"The language model {self._name} gave no usable answer: {reason}."
        return LanguageModelUnavailable(_CODE, message, hint)


def _awaited(work: Future[_T], deadline: Deadline, on_wait: Waiting) -> _T:
    """Return the result of the work; call ``on_wait`` every second while waiting.

    Raises:
        TimeoutError: the deadline has passed. Exceptions of the work and of ``on_wait`` pass too.
    """
    while True:
        try:
            return work.result(min(SHOWN_EVERY, deadline.left))
        except TimeoutError:
            if work.done():
                raise
            if not deadline.left:
                raise
            on_wait(deadline.spent)
