"""A language model that is asked with patience, but not for ever."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias, TypeVar

from retrieval.errors import EsotericError
from retrieval.explanation.chat_client import CallFailed, ChatClient, Reply
from retrieval.explanation.choice import LanguageModelChoice
from retrieval.explanation.prompt import Message

TRIES = 3
FIRST_PAUSE = 0.5  # seconds before the second try, where the server names none; then twice that
LONGEST_PAUSE = 10.0  # a server that asks for more is left alone for this claim
BREAKS_AFTER = 5  # failures one after the other
REST = 60.0  # seconds that a server is left alone after these
_SHOWN_EVERY = 1.0  # seconds

Waiting: TypeAlias = Callable[[float], None]
"""Called about every second while an answer is awaited, with the seconds so far. What it raises
ends the call."""
_T = TypeVar("_T")

logger = logging.getLogger(__name__)


class LanguageModelUnavailable(EsotericError):
    """The language model gave no answer that can be used."""


class LanguageModel:
    """One language model at one server, for one claim at a time.

    After ``BREAKS_AFTER`` failures one after the other it asks no more for ``REST`` seconds; then
    one claim tries again. ``problem`` says what is wrong until a claim succeeds.
    """

    def __init__(self, choice: LanguageModelChoice, client: ChatClient) -> None:
        """Remember whom to ask; nothing is sent before ``ask``."""
        self.choice = choice
        self.problem: LanguageModelUnavailable | None = None
        self._client = client
        self._failures = 0
        self._rests_until = 0.0

    def ask(self, messages: Sequence[Message], schema: dict[str, Any], on_wait: Waiting) -> Reply:
        """Return the model's reply.

        Raises:
            LanguageModelUnavailable: there is none, or the model is left alone for a while.
        """
        if self._failures >= BREAKS_AFTER and time.monotonic() < self._rests_until:
            assert self.problem is not None
            raise self.problem
        try:
            return asyncio.run(_watched(self._tried(messages, schema), on_wait))
        except CallFailed as error:
            raise self.failed(str(error), error.status) from error

    def succeeded(self) -> None:
        """Note an answer that was used."""
        if self.problem is not None:
            logger.info("The language model %s answers again", self.choice.name)
        self.problem, self._failures = None, 0

    def failed(self, reason: str, status: int = 0) -> LanguageModelUnavailable:
        """Note a claim that got no answer, and return the error that says so."""
        self._failures += 1
        self._rests_until = time.monotonic() + REST
        self.problem = LanguageModelUnavailable(
            "language_model_unavailable",
            f"The language model {self.choice.name} gave no answer that can be used: {reason}.",
            _hint(status),
        )
        logger.warning("%s (%d in a row)", self.problem.message, self._failures)
        return self.problem

    async def _tried(self, messages: Sequence[Message], schema: dict[str, Any]) -> Reply:
        try:
            async with asyncio.timeout(self.choice.seconds):
                return await self._reply(messages, schema)
        except TimeoutError as error:
            raise CallFailed(f"it took longer than {self.choice.seconds} s") from error

    async def _reply(self, messages: Sequence[Message], schema: dict[str, Any]) -> Reply:
        pause = FIRST_PAUSE
        for _ in range(TRIES - 1):
            try:
                return await self._client.reply(messages, schema)
            except CallFailed as error:
                wait = pause if error.retry_after is None else error.retry_after
                if not error.may_pass or wait > LONGEST_PAUSE:
                    raise
            # Workers that were refused together must not come back together.
            await asyncio.sleep(wait * random.uniform(1, 1.5))
            pause *= 2
        return await self._client.reply(messages, schema)


async def _watched(work: Coroutine[Any, Any, _T], on_wait: Waiting) -> _T:
    """Do the work and call ``on_wait`` every second; what that raises cancels the work."""
    task = asyncio.ensure_future(work)
    started = time.monotonic()
    try:
        while not (await asyncio.wait({task}, timeout=_SHOWN_EVERY))[0]:
            on_wait(time.monotonic() - started)
        return task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _hint(status: int) -> str:
    if status in (401, 403):
        return "Check the key: MISTRAL_API_KEY for Mistral, ESOTERIC_LLM_KEY for other servers."
    if status in (400, 404, 422):
        return "Check that ESOTERIC_LLM and ESOTERIC_LLM_URL name a model and a server that has it."
    if status == 429:
        return (
            "Wait, or ask its provider for a higher limit. Until then verdicts are the verifier's."
        )
    return "Until it answers, verdicts are the verifier's. Check that its server runs."
