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
                (fault or pass_on)(self)
            with lock:
                now[0] -= 1

        def log_message(self, *_: object) -> None:
            pass

    def pass_on(handler: BaseHTTPRequestHandler) -> None:
        connection = http.client.HTTPConnection(host, timeout=30)
        connection.request("GET", handler.path, headers=dict(handler.headers.items()))
        answer = connection.getresponse()
        packed = answer.headers.get("Content-Encoding")
        send(
            handler,
            answer.read(),
            answer.status,
            **({"Content_Encoding": packed} if packed else {}),
        )
        connection.close()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy = FaultProxy(server.server_port)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()


def send(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def answers(body: bytes, status: int = 200, **headers: str) -> Fault:
    return lambda handler: send(handler, body, status, **headers)


def cut(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"query": {"pages"')


LAG = b'{"error": {"code": "maxlag", "info": "Waiting"}}'
FAULTS: dict[str, Fault] = {
    "busy": answers(b"", 429, Retry_After="0"),
    "unavailable": answers(b"", 503, Retry_After="0"),
    "lagged": answers(LAG, Retry_After="0"),
    "resting": answers(b"", 429, Retry_After="600"),
    "cut": cut,
    "slow": lambda handler: time.sleep(2),
    "elsewhere": answers(b"", 302, Location="http://127.0.0.1:9/secret"),
    "a page": answers(b"<html>Not found</html>"),
    "other JSON": answers(b'{"query": 7}'),
    "a list": answers(b"[]"),
    "an error": answers(b"{}", 500),
}
