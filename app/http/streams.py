"""Streams of server-sent events: answers that stay open, so many at once and no more.

A stream holds a thread of the server for as long as it is open. The server has ``MOST_STREAMS``
threads more than it needs for everything else (``app.http.server``), so streams keep no page
waiting. A client that is refused asks again from time to time instead, as the pages do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event, Lock

MOST_STREAMS = 16
HEADERS = {"Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no"}
# Nothing reads from a connection while it is answered: that a client has gone shows only when
# something is sent.
COMMENT = ":\n\n"


class Streams:
    """The streams of one server that are open now."""

    def __init__(self, most: int = MOST_STREAMS) -> None:
        self._most = most
        self._open = 0
        self._lock = Lock()
        self._ending = Event()

    @property
    def open(self) -> int:
        """How many are open."""
        return self._open

    def hold(self, messages: Iterator[str], closed: Callable[[], None]) -> Stream | None:
        """Return the messages as a stream, or ``None`` while too many are open.

        Whoever closes it makes room for another. ``closed`` is called then, or at once.
        """
        with self._lock:
            if self._open < self._most:
                self._open += 1
                return Stream(messages, lambda: self._end_one(closed))
        closed()
        return None

    def wait(self, seconds: float) -> bool:
        """Wait before looking for more to send. True: the server ends, so the stream must."""
        return self._ending.wait(seconds)

    def end(self) -> None:
        """Let every open stream end soon, because the server does."""
        self._ending.set()

    def _end_one(self, closed: Callable[[], None]) -> None:
        with self._lock:
            self._open -= 1
        closed()


class Stream(Iterator[str]):
    """Messages that are sent as they come; it gives its place back when it is closed."""

    def __init__(self, messages: Iterator[str], closed: Callable[[], None]) -> None:
        self._messages = messages
        self._closed: Callable[[], None] | None = closed

    def __next__(self) -> str:
        return next(self._messages)

    def close(self) -> None:
        """Give the place back, also if nothing was sent."""
        closed, self._closed = self._closed, None
        if closed is not None:
            closed()
