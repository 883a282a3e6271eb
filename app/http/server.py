"""The server of the application: waitress, set up so that idle clients do not lock others out.

* Connections that wait for their next request cost little, so there may be thousands. When there
  are too many, the one that has waited for longest is closed for the new one.
* ``/healthz`` has a thread of its own: the others may all wait, for example for a database that
  another program has locked.
"""

from __future__ import annotations

import resource
from typing import Any, Protocol

import waitress
from flask import Flask
from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer
from waitress.task import ThreadedTaskDispatcher

from app.http.streams import MOST_STREAMS, Streams
from app.services import services_of
from settings import Settings

# Requests mostly wait for the database, so there may be more threads than cores. An open stream of
# events holds one of its own.
THREADS = 8 + MOST_STREAMS
# The application refuses larger bodies than it takes with an error in JSON or as a page. Waitress
# refuses bodies above this size itself, in plain text; where documents may be uploaded, above this
# and twice the largest upload.
MOST_BYTES_READ = 8 * 1024 * 1024
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


class _Channel(HTTPChannel):  # type: ignore[misc]
    """A connection; while there are too many, each new one closes the one idle for longest."""

    def __init__(self, server: Any, sock: Any, addr: Any, adj: Any, map: Any) -> None:  # noqa: A002
        super().__init__(server, sock, addr, adj, map)
        if len(map) > adj.connection_limit * (1 - SPARE_SHARE):
            channels = (one for one in map.values() if isinstance(one, _Channel))
            idle = [one for one in channels if not (one.requests or one.will_close)]
            # This one is among them, and the youngest.
            min(idle, key=lambda one: one.last_activity).will_close = True


class _Dispatcher(ThreadedTaskDispatcher):  # type: ignore[misc]
    """Threads that answer requests, and one for health checks alone."""

    def __init__(self, threads: int, streams: Streams) -> None:
        super().__init__()
        self._streams = streams
        self.set_thread_count(threads)
        self._health = ThreadedTaskDispatcher()
        self._health.set_thread_count(1)

    def add_task(self, task: Any) -> None:
        """Queue the first request of a connection."""
        # A request that waitress could not parse has no path.
        if getattr(task.requests[0], "path", "") == HEALTH_CHECK:
            self._health.add_task(task)
        else:
            super().add_task(task)

    def shutdown(self, *arguments: Any, **named: Any) -> Any:
        """End all threads, those of open streams too."""
        self._streams.end()
        self._health.shutdown(*arguments, **named)
        return super().shutdown(*arguments, **named)
