"""A language model at a server, called by the SDK of its provider within a time limit.

The SDKs repeat failed calls. Their HTTP client is ours: it limits what is sent and how much is
read. The SDKs read their own variables (``OPENAI_ORG_ID``, ``OPENAI_CUSTOM_HEADERS`` and others)
and would send them to any server. So only known headers are sent, and the key is set here.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import httpx2

from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.llm_judge.interface import LanguageModelUnavailable, Waiting
from retrieval.llm_judge.prompt import Message

MOST_BYTES = 1_000_000  # of an answer; the longest allowed answer has a few thousand
_HEADERS = frozenset(
    ("host", "accept", "connection", "content-type", "content-length", "user-agent")
)

MOST_TOKENS = 600  # of an answer; a usual answer takes about 200
TRIES = 3
SHOWN_EVERY = 1.0  # seconds
BREAKS_AFTER = 5  # failures in a row
REST = 60.0  # seconds without a call after these failures
# The SDKs require a key; the HTTP client sets the key that is really sent, if there is one.
_NO_KEY = "none"
_CODE = "language_model_unavailable"
_T = TypeVar("_T")

logger = logging.getLogger(__name__)


class AnswerRefused(Exception):
    """An answer that is not read: it is too long, or compressed without a request for it."""


def http_client(choice: LanguageModelChoice) -> httpx2.AsyncClient:
    """Return a client that sends the key, follows no redirect and reads at most ``MOST_BYTES``.

    A redirect would send claim, evidence and key to another host. A proxy from the environment
    could read them too, so it is used only for https, where they are encrypted.
    """

    async def send_only_this(request: httpx2.Request) -> None:
        for name in set(request.headers) - _HEADERS:
            del request.headers[name]
        request.headers["accept-encoding"] = "identity"
        if choice.key:
            request.headers["authorization"] = f"Bearer {choice.key}"

    async def read_no_more(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise AnswerRefused("it is compressed without a request for it")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Limited(response.stream)

    return httpx2.AsyncClient(
        follow_redirects=False,
        timeout=choice.seconds,
        trust_env=choice.url.startswith("https://"),
        event_hooks={"request": [send_only_this], "response": [read_no_more]},
    )


class _Limited(httpx2.AsyncByteStream):
    """A stream that stops with an error after ``MOST_BYTES``."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._stream:
            read += len(chunk)
            if read > MOST_BYTES:
                raise AnswerRefused(f"it is longer than {MOST_BYTES:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote, and how many tokens it read and wrote, as counted by its server."""

    text: str
    prompt_tokens: int
    answer_tokens: int


class CallFailed(Exception):
    """Calls without a reply; ``status``: the last HTTP status, 0 without an answer."""

    def __init__(self, reason: str, status: int = 0) -> None:
        super().__init__(reason)
        self.status = status


async def _openai_completion(
    choice: LanguageModelChoice, http: httpx2.AsyncClient, asked: dict[str, Any], schema: Any
) -> Any:
    """Return the completion of any server with OpenAI's chat completions."""
    import openai

    client = openai.AsyncOpenAI(
        base_url=choice.url, api_key=_NO_KEY, http_client=http, max_retries=TRIES - 1
    )
    wanted = {"name": "verdict", "schema": schema, "strict": True}
    form: Any = {"type": "json_schema", "json_schema": wanted}
    return await client.chat.completions.create(**asked, response_format=form)


async def _mistral_completion(
    choice: LanguageModelChoice, http: httpx2.AsyncClient, asked: dict[str, Any], schema: Any
) -> Any:
    """Return the completion of Mistral's API."""
    from mistralai.client import Mistral
    from mistralai.client.utils import BackoffStrategy, RetryConfig
    from mistralai.client.utils.logger import NoOpLogger

    # It counts milliseconds, not tries. Where a server fails at once, these are three: pauses of
    # 0.5 to 1 and of 1 to 1.5 seconds. A Retry-After of the server replaces a pause.
    backoff = BackoffStrategy(
        initial_interval=500, max_interval=2000, exponent=2, max_elapsed_time=1500, jitter_ms=500
    )
    client = Mistral(
        server_url=choice.url.removesuffix("/v1"),
        api_key=_NO_KEY,
        async_client=http,
        retry_config=RetryConfig("backoff", backoff, retry_connection_errors=True),
        debug_logger=NoOpLogger(),  # MISTRAL_DEBUG would log claims and evidence
    )
    wanted = {"name": "verdict", "schema_definition": schema, "strict": True}
    form: Any = {"type": "json_schema", "json_schema": wanted}
    return await client.chat.complete_async(**asked, response_format=form)


_SDKS = {
    "openai": (_openai_completion, "openai.resources.chat"),
    "mistral": (_mistral_completion, "mistralai.client.chat"),
}


def _reply(completion: Any) -> Reply:
    """Return the reply in a completion; raises an exception if it has another form."""
    text = completion.choices[0].message.content
    if not isinstance(text, str):
        raise TypeError("no text")
    usage = completion.usage
    return Reply(
        text,
        _count(getattr(usage, "prompt_tokens", 0)),
        _count(getattr(usage, "completion_tokens", 0)),
    )


def _count(tokens: Any) -> int:
    return tokens if type(tokens) is int and tokens > 0 else 0


def _failed(error: Exception) -> CallFailed:
    """Return why a call failed; nothing that the server sent is repeated."""
    for cause in (error, error.__cause__, error.__context__):
        if isinstance(cause, AnswerRefused):
            return CallFailed(f"its answer was not read: {cause}", httpx2.codes.OK)
        if isinstance(cause, httpx2.ConnectError):
            return CallFailed("it cannot be reached")
        if isinstance(cause, httpx2.TransportError):
            return CallFailed("the connection broke off")
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 300:
        return CallFailed(f"it answered with status {status}", status)
    return CallFailed("its answer is not a chat completion", httpx2.codes.OK)


class LanguageModel:
    """One language model at one server, for one claim at a time.

    After ``BREAKS_AFTER`` failed calls in a row there are no calls for ``REST`` seconds; then one
    claim tries again. ``problem`` says what is wrong until an answer is used. It is also set after
    answers that fail the checks, but these do not stop the calls: one claim with hostile evidence
    must not take the answers from others.
    """

    def __init__(self, choice: LanguageModelChoice) -> None:
        """Store the model; nothing is imported or sent before ``warm_up`` and ``ask``."""
        self.choice = choice
        self.problem: LanguageModelUnavailable | None = None
        self._failures = 0
        self._refusals = 0
        self._rests_until = 0.0

    def warm_up(self) -> None:
        """Import what the first call needs."""
        importlib.import_module(_SDKS[self.choice.provider][1])

    def ask(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any],
        begun: float,
        on_wait: Waiting,
    ) -> Reply:
        """Return the model's reply.

        ``begun``: when the time of this claim began, by ``time.monotonic``.

        Raises:
            LanguageModelUnavailable: there is no reply, or calls are stopped for a while.
        """
        if self.problem and self._failures >= BREAKS_AFTER and time.monotonic() < self._rests_until:
            # A new exception each time: an exception keeps its traceback.
            raise LanguageModelUnavailable(_CODE, self.problem.message, self.problem.hint)
        if self.choice.lacks_key:
            raise self._failed(CallFailed("there is no key for it", 401))
        try:
            return _run(_watched(self._reply(messages, schema, begun), begun, on_wait))
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
        hint = (
            "If this continues, name a larger model in ESOTERIC_LLM. Until then verdicts are the"
            " verifier's."
        )
        if self._refusals >= BREAKS_AFTER:
            self.problem = self._error(reason, hint)
        return self._error(reason, hint)

    def _failed(self, error: CallFailed) -> LanguageModelUnavailable:
        self._failures += 1
        self._rests_until = time.monotonic() + REST
        self.problem = self._error(str(error), _hint(error.status))
        logger.warning("%s (%d in a row)", self.problem.message, self._failures)
        return self._error(str(error), _hint(error.status))

    def _error(self, reason: str, hint: str) -> LanguageModelUnavailable:
        message = f"The language model {self.choice.name} gave no usable answer: {reason}."
        return LanguageModelUnavailable(_CODE, message, hint)

    async def _reply(
        self, messages: Sequence[Message], schema: dict[str, Any], begun: float
    ) -> Reply:
        """Return the reply to one of several tries; raises ``CallFailed``."""
        choice = self.choice
        completion, _ = _SDKS[choice.provider]
        asked = {
            "model": choice.model,
            "messages": [asdict(message) for message in messages],
            "temperature": 0,
            "max_tokens": MOST_TOKENS,
        }
        try:
            async with (
                asyncio.timeout(choice.seconds - (time.monotonic() - begun)),
                http_client(choice) as http,
            ):
                return _reply(await completion(choice, http, asked, schema))
        except TimeoutError:
            raise CallFailed(f"it took longer than {choice.seconds} s") from None
        # A server can send anything, and the exceptions of the SDKs for it are not documented.
        except Exception as error:
            raise _failed(error) from None


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


async def _watched(work: Coroutine[Any, Any, _T], begun: float, on_wait: Waiting) -> _T:
    """Do the work and call ``on_wait`` every second; an exception from it cancels the work."""
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=SHOWN_EVERY))[0]:
            on_wait(time.monotonic() - begun)
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
