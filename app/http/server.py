"""The server of the application: waitress, set up so that idle clients do not lock others out.

* Connections that wait for their next request cost little, so there may be thousands. When there
  are too many, the one that has waited for longest is closed for the new one.
* ``/healthz`` has a thread of its own: the others may all wait, for example for a database that
  another program has locked.
* So have large bodies, whose values take many times their size: only so many are read at once, and
  their memory is given back.
* A request that proxies and servers read in different ways is refused, since another one could be
  hidden in it.
"""

from __future__ import annotations

import ctypes
import gc
import re
import resource
from contextlib import suppress
from copy import copy
from typing import Any, Protocol

import waitress
from flask import Flask
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import BaseWSGIServer
from waitress.task import ThreadedTaskDispatcher
from waitress.utilities import BadRequest

from app.http.guard import MOST_BYTES
from app.http.streams import MOST_STREAMS, Streams
from app.services import services_of
from settings import Settings

# Requests mostly wait for the database, so there may be more threads than cores. An open stream of
# events holds one of its own.
THREADS = 8 + MOST_STREAMS
# Bodies above MOST_BYTES that are read at once.
LARGE_BODIES = 2
# The application refuses larger bodies than it takes with an error in JSON or as a page. Waitress
# refuses bodies above this size itself, in plain text; where documents may be uploaded, above this
# and twice the largest upload.
MOST_BYTES_READ = 8 * 1024 * 1024
_TAKES_UPLOADS = re.compile(r"/documents(/[^/]+/files)?|/api/v1/corpora/[^/]+/files")
# Of a line between the pieces of a body, and of the headers after it.
_LONGEST_LINE = 8 * 1024
_LINE_FEED_ALONE = re.compile(rb"(?<!\r)\n")
_LENGTH = re.compile(rb"\r\ncontent-length:", re.IGNORECASE)
_ENCODING = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
MOST_CONNECTIONS = 4000
# Share of the places that is free for new connections; their next ones make room in turn.
SPARE_SHARE = 0.025
# Open files beside the connections of clients: the database, the queue, logs, static files.
OTHER_FILES = 200
# How long a connection may wait for its next request, in seconds, and how often this is looked at.
IDLE_SECONDS = 30
LOOK_SECONDS = 5
HEALTH_CHECK = "/healthz"


class Server(Protocol):
    """A server that listens already."""

    def run(self) -> None:
        """Serve until SystemExit."""
        ...


def listening_server(app: Flask, settings: Settings) -> Server:
    """Return a server that listens on the address of the settings.

    Raises:
        OSError, ValueError: the address cannot be used.
    """
    sockets: dict[int, Any] = {}
    server: Server = waitress.create_server(
        app,
        map=sockets,
        _dispatcher=_Dispatcher(THREADS, services_of(app).streams),
        host=settings.host,
        port=settings.port,
        ident=None,
        max_request_body_size=MOST_BYTES_READ + settings.takes_uploads * 2 * settings.most_upload,
        clear_untrusted_proxy_headers=False,  # app.http.proxies does
        connection_limit=_allowed_connections(),
        channel_timeout=IDLE_SECONDS,
        cleanup_interval=LOOK_SECONDS,
        # select() cannot watch more than 1024 files.
        asyncore_use_poll=True,
    )
    for listener in sockets.values():  # a host name may have several addresses
        if isinstance(listener, BaseWSGIServer):
            listener.channel_class = _Channel
    return server


def _allowed_connections() -> int:
    """Return how many connections there may be, after asking the system for as many files."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + OTHER_FILES
    if allowed < wanted:
        allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
    files = min(allowed, wanted)
    return max(files - OTHER_FILES, files // 2)


class _Parser(HTTPRequestParser):  # type: ignore[misc]
    """Reads a request; refuses one that is unclear, which closes the connection (RFC 9112)."""

    def received(self, data: bytes) -> int:
        """Take what has arrived; return how much of it belongs to this request."""
        if self.body_rcv is None:
            head = (self.header_plus + data).partition(b"\r\n\r\n")[0]
            if _LINE_FEED_ALONE.search(head):  # else it would wait for an end that never comes
                return self._refuse("A line does not end with CR LF.", data)
        used: int = super().received(data)
        if self.chunked:
            waiting = len(self.body_rcv.control_line) + len(self.body_rcv.trailer)
            if waiting > _LONGEST_LINE:
                return self._refuse("A line of the body is too long.", data)
        return used

    def _refuse(self, why: str, data: bytes) -> int:
        self.error = BadRequest(why)
        self.completed = True
        return len(data)

    def parse_header(self, header_plus: bytes) -> None:
        """Read the request line and the headers."""
        super().parse_header(header_plus)
        if not _TAKES_UPLOADS.fullmatch(self.path):
            self.adj = copy(self.adj)
            self.adj.max_request_body_size = MOST_BYTES_READ
        wrong = None
        if _ENCODING.search(header_plus) and (_LENGTH.search(header_plus) or self.version != "1.1"):
            wrong = "Its length is said in two ways."
        elif self.version == "1.1" and "HOST" not in self.headers:
            wrong = "It has no header Host."
        if wrong is not None:
            self.expect_continue = False
            raise ParsingError(wrong)


class _Channel(HTTPChannel):  # type: ignore[misc]
    """A connection; while there are too many, each new one closes the one idle for longest."""

    parser_class = _Parser

    def __init__(self, server: Any, sock: Any, addr: Any, adj: Any, map: Any) -> None:  # noqa: A002
        super().__init__(server, sock, addr, adj, map)
        if len(map) > adj.connection_limit * (1 - SPARE_SHARE):
            channels = (one for one in map.values() if isinstance(one, _Channel))
            idle = [one for one in channels if not (one.requests or one.will_close)]
            # This one is among them, and the youngest.
            min(idle, key=lambda one: one.last_activity).will_close = True

    def service(self) -> None:
        """Answer the first request."""
        large = _is_large(self.requests[0])
        super().service()
        if large:
            _give_memory_back()


def _is_large(request: Any) -> bool:
    return bool(request.body_bytes_received > MOST_BYTES)


def _give_memory_back() -> None:
    """Give the system the memory of what is gone, which the C library would keep for this process.

    Other C libraries than glibc give it back by themselves.
    """
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


class _Dispatcher(ThreadedTaskDispatcher):  # type: ignore[misc]
    """Threads that answer requests; others for health checks, and for large bodies."""

    def __init__(self, threads: int, streams: Streams) -> None:
        super().__init__()
        self._streams = streams
        self.set_thread_count(threads)
        self._health, self._large = ThreadedTaskDispatcher(), ThreadedTaskDispatcher()
        self._health.set_thread_count(1)
        self._large.set_thread_count(LARGE_BODIES)

    def add_task(self, task: Any) -> None:
        """Queue the first request of a connection."""
        # A request that waitress could not parse has no path.
        if getattr(task.requests[0], "path", "") == HEALTH_CHECK:
            self._health.add_task(task)
        elif _is_large(task.requests[0]):
            self._large.add_task(task)
        else:
            super().add_task(task)

    def shutdown(self, *arguments: Any, **named: Any) -> Any:
        """End all threads, those of open streams too."""
        self._streams.end()
        self._health.shutdown(*arguments, **named)
        self._large.shutdown(*arguments, **named)
        return super().shutdown(*arguments, **named)
