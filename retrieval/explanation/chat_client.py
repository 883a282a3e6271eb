"""One call to a language model's server, by the SDK that it is made for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import httpx2

from retrieval.explanation.choice import LanguageModelChoice
from retrieval.explanation.http_client import AnswerRefused, http_client
from retrieval.explanation.prompt import Message

MOST_TOKENS = 600  # of an answer; three sentences and what is missing take about 200
_SCHEMA_NAME = "verdict"
# The SDKs want a key; the HTTP client sets the one that is sent, if there is one.
_NO_KEY = "none"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote, and how many tokens it read and wrote as its server counts them."""

    text: str
    prompt_tokens: int
    answer_tokens: int


class CallFailed(Exception):
    """A call that brought no reply.

    ``status``: HTTP status, 0 where no answer came. ``retry_after``: the header, where it is a
    number of seconds.
    """

    def __init__(self, reason: str, status: int = 0, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.retry_after = retry_after

    @property
    def may_pass(self) -> bool:
        """Whether the same call may succeed later: no answer, too many calls, a server's fault."""
        return (
            self.status == 0 or self.status == httpx2.codes.TOO_MANY_REQUESTS or self.status >= 500
        )


class ChatClient(Protocol):
    """Sends messages to a model and returns its reply."""

    async def reply(self, messages: Sequence[Message], schema: dict[str, Any]) -> Reply:
        """Return a reply that the server was asked to keep to this JSON Schema.

        Raises:
            CallFailed: there is none.
        """
        ...


def chat_client(choice: LanguageModelChoice) -> ChatClient:
    """Return the client for a language model; its SDK is imported at the first call."""
    return MistralClient(choice) if choice.provider == "mistral" else OpenAIClient(choice)


class OpenAIClient:
    """Speaks to any server with OpenAI's chat completions."""

    def __init__(self, choice: LanguageModelChoice) -> None:
        self._choice = choice

    async def reply(self, messages: Sequence[Message], schema: dict[str, Any]) -> Reply:
        """See ``ChatClient``."""
        import openai

        choice = self._choice
        wanted: Any = {"name": _SCHEMA_NAME, "schema": schema, "strict": True}
        try:
            async with http_client(choice.key, choice.seconds) as http:
                client = openai.AsyncOpenAI(
                    base_url=choice.url, api_key=_NO_KEY, http_client=http, max_retries=0
                )
                completion = await client.chat.completions.create(
                    model=choice.model,
                    messages=_sent(messages),
                    response_format={"type": "json_schema", "json_schema": wanted},
                    temperature=0,
                    max_tokens=MOST_TOKENS,
                )
        except openai.APIStatusError as error:
            raise _refused(error.status_code, error.response.headers) from error
        except openai.APIConnectionError as error:
            raise _unreached(error.__cause__ or error) from error
        except AnswerRefused as error:
            raise _unreached(error) from error
        except (openai.APIResponseValidationError, ValueError, RecursionError) as error:
            raise _no_completion() from error
        return _reply(completion)


class MistralClient:
    """Speaks to Mistral's API."""

    def __init__(self, choice: LanguageModelChoice) -> None:
        self._choice = choice

    async def reply(self, messages: Sequence[Message], schema: dict[str, Any]) -> Reply:
        """See ``ChatClient``."""
        from mistralai.client import Mistral
        from mistralai.client.errors import MistralError, NoResponseError, ResponseValidationError

        choice = self._choice
        wanted: Any = {"name": _SCHEMA_NAME, "schema_definition": schema, "strict": True}
        try:
            async with http_client(choice.key, choice.seconds) as http:
                client = Mistral(
                    api_key=_NO_KEY,
                    server_url=choice.url,
                    async_client=http,
                    retry_config=None,
                    timeout_ms=1000 * choice.seconds,
                )
                completion = await client.chat.complete_async(
                    model=choice.model,
                    messages=_sent(messages),
                    response_format={"type": "json_schema", "json_schema": wanted},
                    temperature=0,
                    max_tokens=MOST_TOKENS,
                )
        except ResponseValidationError as error:
            raise _no_completion() from error
        except MistralError as error:
            raise _refused(error.status_code, error.headers) from error
        except (NoResponseError, httpx2.HTTPError, AnswerRefused) as error:
            raise _unreached(error) from error
        except (ValueError, RecursionError) as error:
            raise _no_completion() from error
        return _reply(completion)


def _sent(messages: Sequence[Message]) -> Any:
    return [asdict(message) for message in messages]


def _reply(completion: Any) -> Reply:
    """Return the reply in a completion, whose shape the server alone is to answer for."""
    try:
        text = completion.choices[0].message.content
        usage = completion.usage
        counts = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
    except (AttributeError, LookupError, TypeError) as error:
        raise _no_completion() from error
    if not isinstance(text, str):
        raise _no_completion()
    return Reply(text, *(count if isinstance(count, int) else 0 for count in counts))


def _refused(status: int, headers: httpx2.Headers) -> CallFailed:
    try:
        retry_after = max(0.0, float(headers.get("retry-after", "")))
    except ValueError:  # absent, or a date
        retry_after = None
    return CallFailed(f"it answered with status {status}", status, retry_after)


def _unreached(error: BaseException) -> CallFailed:
    if isinstance(error, AnswerRefused):
        return CallFailed(f"its answer was not read: {error}", httpx2.codes.OK)
    if isinstance(error, httpx2.TimeoutException):
        return CallFailed("it did not answer in time")
    if isinstance(error, httpx2.ConnectError):
        return CallFailed("it cannot be reached")
    return CallFailed("the connection broke off")


def _no_completion() -> CallFailed:
    return CallFailed("what it sent is no chat completion", httpx2.codes.OK)
