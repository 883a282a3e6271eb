"""A server with OpenAI's chat completions that answers, or fails, as a test sets it.

It speaks real HTTP on loopback, so the real clients are tested against it.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Behaviour: TypeAlias = Callable[["Handler"], None]


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


class Handler(BaseHTTPRequestHandler):
    """Hands each request to the behaviour that is due."""

    chat: ChatServer

    def do_POST(self) -> None:
        """Answer as it is set."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.chat.requests.append(Request(self.path, headers, body))
        due = self.chat.behaviours
        try:
            (due.pop(0) if len(due) > 1 else due[0])(self)
        except (BrokenPipeError, ConnectionResetError):
            self.chat.disconnected.set()

    def begin(self, status: int, length: int, **headers: str) -> None:
        """Send the head of an answer."""
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(length))
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """Run a server until the block ends."""
    chat = ChatServer()
    handler = type("ChatHandler", (Handler,), {"chat": chat})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    chat.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield chat
    finally:
        chat.stopping.set()
        server.shutdown()
        server.server_close()


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

    def send(handler: Handler) -> None:
        handler.begin(status, len(body), **headers)
        handler.wfile.write(body)

    return send


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


def hangs(handler: Handler) -> None:
    """Answer nothing until the client goes away."""
    handler.connection.settimeout(0.1)
    while not handler.chat.stopping.is_set():
        try:
            if handler.connection.recv(1) == b"":
                handler.chat.disconnected.set()
                break
        except TimeoutError:
            continue
    handler.close_connection = True


def trickles(handler: Handler) -> None:
    """Send a byte now and then, so that no single read takes long."""
    handler.begin(200, 100_000)
    while not handler.chat.stopping.is_set():
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def breaks_off(handler: Handler) -> None:
    """Send half an answer and close the socket."""
    handler.begin(200, 1000)
    handler.wfile.write(b'{"id": "1", "object":')
    handler.wfile.flush()
    handler.close_connection = True


def closes(handler: Handler) -> None:
    """Close the socket without a word."""
    handler.close_connection = True
