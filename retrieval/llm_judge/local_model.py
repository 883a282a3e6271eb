"""A language model in this process, by llama.cpp: loaded once, used for one claim at a time."""

from __future__ import annotations

import logging
import math
import os
import secrets
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

from retrieval.errors import EsotericError, ModelUnavailable
from retrieval.llm_judge.interface import SHOWN_EVERY, Deadline, LanguageModelUnavailable, Waiting
from retrieval.llm_judge.local_weights import PackagedWeights
from retrieval.llm_judge.prompt import escaped
from retrieval.models import runtime
from retrieval.system.fixes import install_local_command
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label

PACKAGE = "xllamacpp"
_CONTEXT = 4096  # tokens of a slot; instructions, examples and five long sentences need 2,500
_LIKELIEST = 200  # tokens whose probabilities are given
_LEAST = 1e-7  # probability of an answer that is not among these


# Invented examples, so that none of them is used for fitting or measuring.
EXAMPLES: tuple[tuple[str, str, Label], ...] = (
    (
        "Marlow Viaduct: It was opened in 1907 and carries both lanes of the old coast road.",
        "Cars could cross Marlow Viaduct before the First World War.",
        SUPPORTS,
    ),
    (
        "Lindenau Castle: The castle stands on a hill above the river Wyre.",
        "Lindenau Castle has more than forty rooms.",
        NOT_ENOUGH_INFO,
    ),
    (
        "Terrin: Terrin is the second largest island of the group, after Hale.",
        "No island of the group is larger than Terrin.",
        REFUTES,
    ),
    (
        (
            "Pella Voss: She wrote the novel Glass Harbour.\n"
            "Glass Harbour: The novel won the Brandt Prize in 1988."
        ),
        "A book by Pella Voss won a prize.",
        SUPPORTS,
    ),
    (
        "Ostrel Quartet: The ensemble was founded by three sisters and their cousin.",
        "All founders of the Ostrel Quartet were sisters.",
        REFUTES,
    ),
    (
        "Olive bread: Olive bread is baked with whole or chopped olives.",
        "Olive bread tastes better than rye bread.",
        NOT_ENOUGH_INFO,
    ),
)


@dataclass(frozen=True, slots=True)
class Wording:
    """A form of the prompt. ``answers``: the first token of the answer for each of ``LABELS``."""

    name: str
    system: str
    question: str
    answers: tuple[str, str, str]
    examples: bool

    def prompt(self, claim: str, sentences: Sequence[tuple[str, str]]) -> str:
        """Return the prompt in the model's chat format (ChatML), up to its answer.

        ``sentences``: (title, sentence), each on one line. Characters that begin a control token in
        them or in the claim are escaped.
        """
        evidence = "\n".join(f"{title}: {text}" if title else text for title, text in sentences)
        turns = [f"<|im_start|>system\n{self.system}<|im_end|>\n"]
        if self.examples:
            words = dict(zip((SUPPORTS, REFUTES, NOT_ENOUGH_INFO), self.answers, strict=True))
            turns += [
                self._asked(shown, stated) + f"{words[label]}<|im_end|>\n"
                for shown, stated, label in EXAMPLES
            ]
        return "".join([*turns, self._asked(escaped(evidence), escaped(claim))])

    def _asked(self, evidence: str, claim: str) -> str:
        question = self.question.format(evidence=evidence, claim=claim)
        return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"


SYSTEM = "You check claims against evidence. Use the evidence only. Answer with one word."
YES_NO_QUESTION = (
    "Evidence:\n{evidence}\nClaim: {claim}\n"
    "Is the claim true according to the evidence? Yes, No or Unknown?"
)
_LETTERS = (
    "Evidence:\n{evidence}\nClaim: {claim}\n"
    "A: the evidence supports the claim. B: the evidence contradicts it."
    " C: the evidence does not settle it. Which letter?"
)

YES_NO = Wording("yes-no, examples", SYSTEM, YES_NO_QUESTION, ("Yes", "No", "Unknown"), True)
LETTERS = Wording("letters, examples", SYSTEM, _LETTERS, ("A", "B", "C"), True)
# In the order of the weights in ``LanguageModelConfig``.
WORDINGS = (LETTERS, YES_NO)


@dataclass(frozen=True, slots=True)
class FirstToken:
    """The probabilities of the first token of an answer.

    ``probabilities``: of the given words; their sum is 1. ``covered``: the total probability of
    these words among all tokens. ``prompt_tokens``: tokens of the prompt, cached ones included.
    """

    probabilities: tuple[float, ...]
    covered: float
    prompt_tokens: int


class PromptRefused(Exception):
    """The prompt is too long for the model, or its runtime failed."""


def check_runtime() -> None:
    """Check that the package that runs the model is installed, without loading it.

    Raises:
        ModelUnavailable: it is missing.
    """
    if find_spec(PACKAGE) is None:
        raise ModelUnavailable(
            "local_runtime_missing",
            f"The package {PACKAGE}, which runs a language model in this process, is not"
            " installed.",
            f"Run: {install_local_command()}",
        )


class GgufModel:
    """A model in a GGUF file, with one slot for each kind of prompt.

    A slot caches its last prompt, so a prompt with the same beginning takes time only for the
    rest.
    """

    def __init__(self, file: Path, threads: int, slots: int) -> None:
        """Load the model, which takes seconds. ``threads``: 0 means one for each core.

        Raises:
            ModelUnavailable: the package is missing, or the file cannot be loaded.
        """
        check_runtime()
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(file)
        params.n_ctx, params.n_parallel, params.verbosity = _CONTEXT * slots, slots, 0
        params.cpuparams.n_threads = threads or os.cpu_count() or 1
        params.cpuparams_batch.n_threads = params.cpuparams.n_threads
        params.cache_ram_mib = 0  # prompts of other claims are not kept
        # It listens on a free loopback port, which is not used; the random key locks others out.
        params.hostnames, params.port = ["127.0.0.1"], 0
        params.api_keys = [secrets.token_hex()]
        try:
            self._server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise ModelUnavailable(
                "local_model_unusable",
                f"The language model {file} cannot be loaded ({str(error).rstrip('.')}).",
                "It needs 2 GB of free memory. If there is enough, fetch it again: delete the"
                " file, and run esoteric models fetch.",
            ) from error

    def first_token(self, slot: int, prompt: str, words: Sequence[str]) -> FirstToken:
        """Return how probable each of ``words`` is as the first token of the answer.

        Other threads can run during the call.

        Raises:
            PromptRefused: the model gives no answer.
        """
        answer: dict[str, Any] = self._server.handle_completions(
            {
                "prompt": prompt,
                "id_slot": slot,
                "max_tokens": 1,
                "logprobs": _LIKELIEST,
                "temperature": 0,
                "cache_prompt": True,
            }
        )
        if error := answer.get("error"):
            too_long = error.get("type") == "exceed_context_size_error"
            raise PromptRefused("the evidence is too long for it" if too_long else "it failed")
        first = answer["choices"][0]["logprobs"]["content"][0]
        likeliest = {token["token"]: math.exp(token["logprob"]) for token in first["top_logprobs"]}
        of_words = [likeliest.get(word, _LEAST) for word in words]
        return FirstToken(
            probabilities=tuple(share / sum(of_words) for share in of_words),
            covered=sum(of_words),
            prompt_tokens=answer["usage"]["prompt_tokens"],
        )


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
