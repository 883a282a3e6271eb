"""The HTTP client of the SDKs: it limits what is sent and how much is read.

The SDKs read their own variables (``OPENAI_ORG_ID``, ``OPENAI_CUSTOM_HEADERS`` and others) and
would send them to any server. So only known headers are sent, and the key is set here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from retrieval.llm_judge.choice import LanguageModelChoice

MOST_BYTES = 1_000_000  # of an answer; the longest allowed answer has a few thousand
_HEADERS = frozenset(
    ("host", "accept", "connection", "content-type", "content-length", "user-agent")
)


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
