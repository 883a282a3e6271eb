"""A proxy before a wiki that answers as wikis and networks do on bad days."""

import http.client
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from tests.support.web_server import Page as Fault
from tests.support.web_server import page, web_server


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

    def answer(handler: BaseHTTPRequestHandler) -> None:
        with lock:
            now[0] += 1
            proxy.most = max(proxy.most, now[0])
            proxy.asked.append((handler.path, dict(handler.headers.items())))
            fault = proxy.faults.pop(0) if proxy.faults else proxy.always
        try:
            (fault or pass_on)(handler)
        finally:
            with lock:
                now[0] -= 1

    def pass_on(handler: BaseHTTPRequestHandler) -> None:
        connection = http.client.HTTPConnection(host, timeout=30)
        connection.request("GET", handler.path, headers=dict(handler.headers.items()))
        answer = connection.getresponse()
        packed = answer.headers.get("Content-Encoding")
        more = {"Content_Encoding": packed} if packed else {}
        page(answer.read(), "", answer.status, **more)(handler)
        connection.close()

    with web_server(answer) as server:
        proxy = FaultProxy(server.port)
        yield proxy


def answers(body: bytes, status: int = 200, **headers: str) -> Fault:
    return page(body, "", status, **headers)


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
