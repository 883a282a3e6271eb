"""A server with OpenAI's chat completions that answers, or fails, as a test sets it.

It speaks real HTTP on loopback, so the real clients are tested against it.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, TypeAlias

from tests.support.web_server import page, web_server

Behaviour: TypeAlias = Callable[[BaseHTTPRequestHandler, "ChatServer"], None]


@dataclass
class Request:
    """What a client sent."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class ChatServer:
    """The server, what it was asked and how it answers: each behaviour once, the last for ever."""

    url: str = ""
    requests: list[Request] = field(default_factory=list)
    behaviours: list[Behaviour] = field(default_factory=list)
    disconnected: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)

    def answers(self, *behaviours: Behaviour) -> None:
        """Set how the next requests are answered."""
        self.behaviours = list(behaviours)

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://").removesuffix("/v1")

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer as it is set."""
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.requests.append(Request(handler.path, headers, body))
        due = self.behaviours
        try:
            (due.pop(0) if len(due) > 1 else due[0])(handler, self)
        except (BrokenPipeError, ConnectionResetError):
            self.disconnected.set()


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """Run a server until the block ends."""
    chat = ChatServer()
    with web_server(chat.answer) as server:
        chat.url = f"{server.address}/v1"
        try:
            yield chat
        finally:
            chat.stopping.set()


def verdict(
    label: str = "SUPPORTS",
    cites: tuple[int, ...] = (1,),
    rationale: str = "The first piece says so.",
    missing: str = "",
) -> str:
    """Return an answer as the schema asks for it."""
    answer = {"rationale": rationale, "cites": cites, "label": label, "missing": missing}
    return json.dumps(answer)


def sends(body: bytes, status: int = 200, **headers: str) -> Behaviour:
    """Answer with these bytes."""
    kind = headers.pop("content_type", "application/json")
    return lambda handler, _: page(body, kind, status, **headers)(handler)


def says(text: str) -> Behaviour:
    """Answer with this text, as servers send a chat completion."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    head = {"id": "1", "object": "chat.completion", "created": 1, "model": "test"}
    return sends(json.dumps({**head, "choices": [choice], "usage": usage}).encode())


def refuses(status: int, **headers: str) -> Behaviour:
    """Answer with an error."""
    error = {"error": {"message": "no", "type": "x", "code": "x"}}
    return sends(json.dumps(error).encode(), status, **headers)


def hangs(handler: BaseHTTPRequestHandler, chat: ChatServer) -> None:
    """Answer nothing until the client goes away."""
    handler.connection.settimeout(0.1)
    while not chat.stopping.is_set():
        try:
            if handler.connection.recv(1) == b"":
                chat.disconnected.set()
                break
        except TimeoutError:
            continue


def trickles(handler: BaseHTTPRequestHandler, chat: ChatServer) -> None:
    """Send a byte now and then, so that no single read takes long."""
    begins(handler, 100_000)
    while not chat.stopping.is_set():
        handler.wfile.write(b" ")
        time.sleep(0.05)


def breaks_off(handler: BaseHTTPRequestHandler, _: ChatServer) -> None:
    """Send half an answer and close the socket."""
    begins(handler, 1000)
    handler.wfile.write(b'{"id": "1", "object":')


def begins(handler: BaseHTTPRequestHandler, length: int) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(length))
    handler.end_headers()


def closes(handler: BaseHTTPRequestHandler, _: ChatServer) -> None:
    """Close the socket without a word."""
