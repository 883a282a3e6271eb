"""Calls to a language model's server, with the SDK made for it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import httpx2

from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.llm_judge.http_client import AnswerRefused, http_client
from retrieval.llm_judge.prompt import Message

MOST_TOKENS = 600  # of an answer; a usual answer takes about 200
_SCHEMA_NAME = "verdict"
# The SDKs require a key; the HTTP client sets the key that is really sent, if there is one.
_NO_KEY = "none"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote, and how many tokens it read and wrote, as counted by its server."""

    text: str
    prompt_tokens: int
    answer_tokens: int


class CallFailed(Exception):
    """A call without a reply.

    ``status``: HTTP status, 0 without an answer. ``retry_after``: the header, where it is a
    number of seconds.
    """

    def __init__(self, reason: str, status: int = 0, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.retry_after = retry_after

    @property
    def may_pass(self) -> bool:
        """Whether the same call may succeed later: no answer, too many calls, a server error."""
        return self.status in (0, httpx2.codes.TOO_MANY_REQUESTS) or self.status >= 500


class ChatClient(Protocol):
    """Sends messages to a model and returns its reply."""

    def warm_up(self) -> None:
        """Import what the first call needs."""
        ...

    async def reply(self, messages: Sequence[Message], schema: dict[str, Any]) -> Reply:
        """Return the reply; the server is asked to follow this JSON Schema.

        Raises:
            CallFailed: there is no reply, for any reason.
        """
        ...


def chat_client(choice: LanguageModelChoice) -> ChatClient:
    """Return the client for a language model; its SDK is not imported yet."""
    return MistralClient(choice) if choice.provider == "mistral" else OpenAIClient(choice)


class SdkClient(ABC):
    """The common part of both clients: the HTTP client, and the handling of failures."""

    def __init__(self, choice: LanguageModelChoice) -> None:
        self._choice = choice

    async def reply(self, messages: Sequence[Message], schema: dict[str, Any]) -> Reply:
        """See ``ChatClient``."""
        sent = [asdict(message) for message in messages]
        try:
            async with http_client(self._choice) as http:
                return _reply(await self._completion(http, sent, schema))
        # A server can send anything, and the exceptions of the SDKs for it are not documented.
        except Exception as error:
            raise _failed(error) from None

    @abstractmethod
    async def _completion(
        self, http: httpx2.AsyncClient, messages: Any, schema: dict[str, Any]
    ) -> Any:
        """Return the completion of the SDK; any exception counts as a failure."""


class OpenAIClient(SdkClient):
    """A client for any server with OpenAI's chat completions."""

    def warm_up(self) -> None:
        """See ``ChatClient``."""
        import openai.resources.chat  # noqa: F401

    async def _completion(
        self, http: httpx2.AsyncClient, messages: Any, schema: dict[str, Any]
    ) -> Any:
        import openai

        client = openai.AsyncOpenAI(
            base_url=self._choice.url, api_key=_NO_KEY, http_client=http, max_retries=0
        )
        wanted: Any = {"name": _SCHEMA_NAME, "schema": schema, "strict": True}
        return await client.chat.completions.create(
            model=self._choice.model,
            messages=messages,
            response_format={"type": "json_schema", "json_schema": wanted},
            temperature=0,
            max_tokens=MOST_TOKENS,
        )


class MistralClient(SdkClient):
    """A client for Mistral's API."""

    def warm_up(self) -> None:
        """See ``ChatClient``."""
        import mistralai.client.chat  # noqa: F401

    async def _completion(
        self, http: httpx2.AsyncClient, messages: Any, schema: dict[str, Any]
    ) -> Any:
        from mistralai.client import Mistral
        from mistralai.client.utils.logger import NoOpLogger

        client = Mistral(
            api_key=_NO_KEY,
            server_url=self._choice.url,
            async_client=http,
            retry_config=None,
            timeout_ms=1000 * self._choice.seconds,
            debug_logger=NoOpLogger(),  # MISTRAL_DEBUG would log claims and evidence
        )
        wanted: Any = {"name": _SCHEMA_NAME, "schema_definition": schema, "strict": True}
        return await client.chat.complete_async(
            model=self._choice.model,
            messages=messages,
            response_format={"type": "json_schema", "json_schema": wanted},
            temperature=0,
            max_tokens=MOST_TOKENS,
        )


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
    causes = [error, *filter(None, (error.__cause__, error.__context__))]
    for cause in causes:
        if isinstance(cause, AnswerRefused):
            return CallFailed(f"its answer was not read: {cause}", httpx2.codes.OK)
        if isinstance(cause, httpx2.TimeoutException):
            return CallFailed("it did not answer in time")
        if isinstance(cause, httpx2.ConnectError):
            return CallFailed("it cannot be reached")
        if isinstance(cause, httpx2.TransportError):
            return CallFailed("the connection broke off")
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 300:
        headers = getattr(getattr(error, "response", error), "headers", {})
        return CallFailed(f"it answered with status {status}", status, _seconds(headers))
    return CallFailed("its answer is not a chat completion", httpx2.codes.OK)


def _seconds(headers: Any) -> float | None:
    """Return how many seconds the server asks to wait; a date counts as ``None``."""
    value = str(headers.get("retry-after", ""))
    return float(value) if re.fullmatch(r"[0-9]{1,8}(\.[0-9]{1,3})?", value) else None
