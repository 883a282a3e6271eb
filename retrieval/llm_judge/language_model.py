"""A language model at a server: calls are repeated after failures, within a time limit."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias, TypeVar

from retrieval.errors import EsotericError
from retrieval.llm_judge.chat_client import CallFailed, ChatClient, Reply
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.llm_judge.prompt import Message

TRIES = 3
FIRST_PAUSE = 0.5  # seconds before the second try, unless the server names a time; then doubled
LONGEST_PAUSE = 10.0  # if a server asks for more, it is not asked again for this claim
BREAKS_AFTER = 5  # failures in a row
REST = 60.0  # seconds without a call after these failures
SHOWN_EVERY = 1.0  # seconds
_CODE = "language_model_unavailable"

Waiting: TypeAlias = Callable[[float], None]
"""Called about every second during a call, with the seconds so far. An exception that it raises
ends the call."""
_T = TypeVar("_T")

logger = logging.getLogger(__name__)


class LanguageModelUnavailable(EsotericError):
    """The language model gave no usable answer."""


class Deadline:
    """The time limit for a claim, over all calls of the language model."""

    def __init__(self, seconds: float) -> None:
        """Start the time."""
        self._begun = time.monotonic()
        self._seconds = seconds

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._begun

    @property
    def left(self) -> float:
        """Seconds left, at least 0."""
        return max(0.0, self._seconds - self.spent)


class LanguageModel:
    """One language model at one server, for one claim at a time.

    After ``BREAKS_AFTER`` failed calls in a row there are no calls for ``REST`` seconds; then one
    claim tries again. ``problem`` says what is wrong until an answer is used. It is also set after
    answers that fail the checks, but these do not stop the calls: one claim with hostile evidence
    must not take the answers from others.
    """

    def __init__(self, choice: LanguageModelChoice, client: ChatClient) -> None:
        """Store the model and its client; nothing is sent before ``ask``."""
        self.choice = choice
        self.problem: LanguageModelUnavailable | None = None
        self._client = client
        self._failures = 0
        self._refusals = 0
        self._rests_until = 0.0

    def warm_up(self) -> None:
        """Import what the first call needs."""
        self._client.warm_up()

    def ask(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any],
        deadline: Deadline,
        on_wait: Waiting,
    ) -> Reply:
        """Return the model's reply.

        Raises:
            LanguageModelUnavailable: there is no reply, or calls are stopped for a while.
        """
        if self.problem and self._failures >= BREAKS_AFTER and time.monotonic() < self._rests_until:
            # A new exception each time: an exception keeps its traceback.
            raise LanguageModelUnavailable(_CODE, self.problem.message, self.problem.hint)
        if self.choice.lacks_key:
            raise self._failed(CallFailed("there is no key for it", 401))
        try:
            return _run(_watched(self._tried(messages, schema, deadline), deadline, on_wait))
        except CallFailed as error:
            raise self._failed(error) from None

    def believed(self) -> None:
        """Record an answer that was used."""
        if self.problem is not None:
            logger.info("The language model %s gives answers again", self.choice.name)
        self.problem = None
        self._failures = self._refusals = 0

    def refused(self, reason: str) -> LanguageModelUnavailable:
        """Record a claim whose answers failed the checks, and return the error for it."""
        self._failures = 0
        self._refusals += 1
        hint = "If this continues, name a larger model in ESOTERIC_LLM. Until then verdicts are the"
        error = self._error(reason, f"{hint} verifier's.")
        if self._refusals >= BREAKS_AFTER:
            self.problem = self._error(reason, f"{hint} verifier's.")
        return error

    def _failed(self, error: CallFailed) -> LanguageModelUnavailable:
        self._failures += 1
        self._rests_until = time.monotonic() + REST
        self.problem = self._error(str(error), _hint(error.status))
        logger.warning("%s (%d in a row)", self.problem.message, self._failures)
        return self._error(str(error), _hint(error.status))

    def _error(self, reason: str, hint: str) -> LanguageModelUnavailable:
        message = f"The language model {self.choice.name} gave no usable answer: {reason}."
        return LanguageModelUnavailable(_CODE, message, hint)

    async def _tried(
        self, messages: Sequence[Message], schema: dict[str, Any], deadline: Deadline
    ) -> Reply:
        try:
            async with asyncio.timeout(deadline.left):
                return await self._reply(messages, schema)
        except TimeoutError:
            raise CallFailed(f"it took longer than {self.choice.seconds} s") from None

    async def _reply(self, messages: Sequence[Message], schema: dict[str, Any]) -> Reply:
        pause = FIRST_PAUSE
        for _ in range(TRIES - 1):
            try:
                return await self._client.reply(messages, schema)
            except CallFailed as error:
                wait = max(pause, error.retry_after or 0)
                if not error.may_pass or wait > LONGEST_PAUSE:
                    raise
            # Workers that were refused at the same time must not try again at the same time.
            await asyncio.sleep(wait * random.uniform(1, 1.5))
            pause *= 2
        return await self._client.reply(messages, schema)


def _run(work: Coroutine[Any, Any, _T]) -> _T:
    """Run the work to its end.

    ``asyncio.run`` would wait until a host name is looked up, however long that takes.
    """
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        # After an interrupt from outside, some tasks may still be running.
        for task in asyncio.all_tasks(loop):
            task.cancel()
            loop.run_until_complete(asyncio.wait({task}))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _watched(work: Coroutine[Any, Any, _T], deadline: Deadline, on_wait: Waiting) -> _T:
    """Do the work and call ``on_wait`` every second; an exception from it cancels the work."""
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=SHOWN_EVERY))[0]:
            on_wait(deadline.spent)
        return task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _hint(status: int) -> str:
    if status in (401, 403):
        return "Check the key: MISTRAL_API_KEY for Mistral, ESOTERIC_LLM_KEY for other servers."
    if status in (400, 404, 422) or 300 <= status < 400:
        return (
            "Check that ESOTERIC_LLM and ESOTERIC_LLM_URL name a model and a server that has it,"
            " and that the server takes JSON schemas."
        )
    if status == 429:
        return (
            "Wait, or ask its provider for a higher limit. Until then verdicts are the verifier's."
        )
    if status == 200:
        return "Check that ESOTERIC_LLM_URL is a server with OpenAI's chat completions."
    return "Check that its server runs. Until it answers, verdicts are the verifier's."
