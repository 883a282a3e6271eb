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
    at: float


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

    def next(self) -> Behaviour:
        """Return how this request is answered."""
        return self.behaviours.pop(0) if len(self.behaviours) > 1 else self.behaviours[0]

    @property
    def host(self) -> str:
        """Host and port."""
        return self.url.removeprefix("http://").removesuffix("/v1")


class Handler(BaseHTTPRequestHandler):
    """Hands each request to the behaviour that is due."""

    chat: ChatServer

    def do_POST(self) -> None:
        """Answer as it is set."""
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.chat.requests.append(Request(self.path, headers, json.loads(body), time.monotonic()))
        try:
            self.chat.next()(self)
        except (BrokenPipeError, ConnectionResetError):
            self.chat.disconnected.set()

    def send(self, status: int, body: bytes, **headers: str) -> None:
        """Send a whole answer."""
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

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


def completion(text: str, prompt_tokens: int = 100, answer_tokens: int = 20) -> bytes:
    """Return a chat completion as servers send it."""
    message = {"role": "assistant", "content": text}
    usage = {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": answer_tokens,
        "total_tokens": prompt_tokens + answer_tokens,
    }
    return json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "test",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": usage,
        }
    ).encode()


def verdict(
    label: str = "SUPPORTS",
    cites: tuple[int, ...] = (1,),
    rationale: str = "The first piece says so.",
    missing: str = "",
) -> str:
    """Return an answer as the schema asks for it."""
    answer = {"rationale": rationale, "cites": cites, "label": label, "missing": missing}
    return json.dumps(answer)


def says(text: str) -> Behaviour:
    """Answer with this text."""
    return lambda handler: handler.send(200, completion(text))


def refuses(status: int, **headers: str) -> Behaviour:
    """Answer with an error."""
    body = json.dumps({"error": {"message": "no", "type": "x", "code": "x"}}).encode()
    return lambda handler: handler.send(status, body, **headers)


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
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", "100000")
    handler.end_headers()
    while not handler.chat.stopping.is_set():
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def breaks_off(handler: Handler) -> None:
    """Send half an answer and close the socket."""
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(completion("half")[:60])
    handler.wfile.flush()
    handler.close_connection = True


def closes(handler: Handler) -> None:
    """Close the socket without a word."""
    handler.close_connection = True


def sends(body: bytes, **headers: str) -> Behaviour:
    """Answer with status 200 and these bytes."""
    return lambda handler: handler.send(200, body, **headers)
