"""A web server on this computer, with pages that behave and pages that do not."""

import gzip
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias

from retrieval.web.fetching import Reach

PAGE = """<!doctype html><html><head><title>The mill of Ohre</title></head><body>
<nav><a href="/">Home</a> <a href="/news">News</a></nav>
<article><h1>The mill of Ohre</h1>
<p>The mill was built in 1931 by the town of Ohre, and it was repaired in 2004.</p>
<p>It lies at the river Elbe. I love this old mill more than any other!</p></article>
</body></html>"""

Page: TypeAlias = Callable[[BaseHTTPRequestHandler], None]


class WebServer:
    """``address``: with the port. ``asked``: the headers of each request, and its own address."""

    def __init__(self, port: int, pages: dict[str, Page]) -> None:
        self.port = port
        self.address = f"http://127.0.0.1:{port}"
        self.pages = pages
        self.asked: list[dict[str, str]] = []

    @property
    def reach(self) -> Reach:
        """This server alone, at one address of this computer."""
        return Reach(frozenset((self.port,)), lambda address: str(address) == "127.0.0.1")


@contextmanager
def web_server(answer: Page | None = None, port: int = 0) -> Iterator[WebServer]:
    """Serve at all addresses of this computer, until the end of the block.

    ``answer``: whatever is asked for; without it, ``pages`` has what is there.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            server.asked.append(
                {**dict(self.headers.items()), "At": self.connection.getsockname()[0]}
            )
            self.close_connection = True
            with suppress(OSError):  # the client has seen enough
                server.pages[self.path](self)

        do_HEAD = do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    web = ThreadingHTTPServer(("0.0.0.0", port), Handler)
    web.daemon_threads = True
    pages = defaultdict(lambda: answer) if answer else {"/mill": page(PAGE)}
    server = WebServer(web.server_port, pages)
    threading.Thread(target=web.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server
    finally:
        web.shutdown()
        web.server_close()


def page(
    text: str | bytes, kind: str = "text/html; charset=utf-8", status: int = 200, **headers: str
) -> Page:
    def send(handler: BaseHTTPRequestHandler) -> None:
        body = text.encode() if isinstance(text, str) else text
        handler.send_response(status)
        if kind:
            handler.send_header("Content-Type", kind)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("Connection", "close")
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body)

    return send


def leads_to(address: str, status: int = 302) -> Page:
    return page("", status=status, Location=address, Set_Cookie="seen=1")


def bomb(megabytes: int) -> Page:
    """Return a page of zeros that is small until it is unpacked."""
    return page(gzip.compress(bytes(megabytes * 1_000_000)), Content_Encoding="gzip")


def endless(part: bytes, pause: float = 0) -> Page:
    def send(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.end_headers()
        while True:
            handler.wfile.write(part)
            time.sleep(pause)

    return send


def slow_headers(handler: BaseHTTPRequestHandler) -> None:
    """Begin an answer, and send one byte of it after the other."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        handler.wfile.write(b"x")
        time.sleep(0.05)
