"""A proxy before a wiki that answers as wikis and networks do on bad days."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias
from urllib.parse import urlsplit

Fault: TypeAlias = Callable[[BaseHTTPRequestHandler], None]


class FaultProxy:
    """``faults``: how the next requests fail, one for each; the others are passed on.

    ``asked``: the path and the headers of each request. ``most``: how many were there at once.
    """

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}/api.php"
        self.faults: list[Fault] = []
        self.always: Fault | None = None
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.most = 0


@contextmanager
def fault_proxy(wiki: str) -> Iterator[FaultProxy]:
    """Serve until the end of the block."""
    host = urlsplit(wiki).netloc
    lock, now = threading.Lock(), [0]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with lock:
                now[0] += 1
                proxy.most = max(proxy.most, now[0])
                proxy.asked.append((self.path, dict(self.headers.items())))
                fault = proxy.faults.pop(0) if proxy.faults else proxy.always
            with suppress(OSError):
                (fault or self.pass_on)(*([self] if fault else []))
            with lock:
                now[0] -= 1

        def pass_on(self) -> None:
            connection = http.client.HTTPConnection(host, timeout=30)
            connection.request("GET", self.path, headers=dict(self.headers.items()))
            answer = connection.getresponse()
            send(self, answer.read(), answer.status, answer.headers.get("Content-Encoding"))
            connection.close()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy = FaultProxy(server.server_port)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()


def send(
    handler: BaseHTTPRequestHandler,
    body: bytes,
    status: int = 200,
    encoding: str | None = None,
    **headers: str,
) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    if encoding:
        handler.send_header("Content-Encoding", encoding)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def busy(status: int, seconds: int = 0) -> Fault:
    return lambda handler: send(handler, b"", status, Retry_After=str(seconds))


def lagged(handler: BaseHTTPRequestHandler) -> None:
    send(handler, b'{"error": {"code": "maxlag", "info": "Waiting"}}', Retry_After="0")


def cut(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"query": {"pages"')


def slow(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(2)


def elsewhere(handler: BaseHTTPRequestHandler) -> None:
    send(handler, b"", 302, Location="http://127.0.0.1:9/secret")


def answers(body: bytes, status: int = 200) -> Fault:
    return lambda handler: send(handler, body, status)


FAULTS: dict[str, Fault] = {
    "busy": busy(429),
    "unavailable": busy(503),
    "lagged": lagged,
    "resting": busy(429, seconds=600),
    "cut": cut,
    "slow": slow,
    "elsewhere": elsewhere,
    "a page": answers(b"<html>Not found</html>"),
    "other JSON": answers(b'{"query": 7}'),
    "a list": answers(b"[]"),
    "an error": answers(b"{}", 500),
}
