"""How much one client may ask for, so that others are served too.

A client is a user who has logged in, else an address. What is counted is kept in this process, or
in Redis where that is the queue.
"""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from threading import Lock

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import StorageTypes, storage_from_string
from limits.strategies import MovingWindowRateLimiter

from app.http.errors import Limit, RequestRefused
from retrieval.errors import Problem
from retrieval.words import counted
from settings import EMBEDDED_BROKER, Settings
from worker.broker import REDIS_ANSWER_SECONDS, REDIS_CONNECT_SECONDS

# Guesses of a token: there are 2^256, so this is only against noise.
LOGINS_PER_MINUTE = 10
# Pages that one client has opened elsewhere: a reader needs few, and their servers are others'.
PAGES_PER_MINUTE = 10
_STREAM_SECONDS = 15
_PAGE_SECONDS = 5

logger = logging.getLogger(__name__)


class Limits:
    """Counts what clients do; safe to share between threads."""

    def __init__(self, settings: Settings, client: Callable[[], str]) -> None:
        """Connect to nothing yet; ``client`` says for whom a request counts."""
        self._client = client
        self._strategy = MovingWindowRateLimiter(_storage(settings))
        per_minute = settings.claims_per_minute
        self._claims = None if per_minute is None else RateLimitItemPerMinute(per_minute)
        self._logins = RateLimitItemPerMinute(LOGINS_PER_MINUTE)
        self._pages = RateLimitItemPerMinute(PAGES_PER_MINUTE)
        self._streams: Counter[str] = Counter()
        self._streams_each = settings.streams
        self._opening: set[str] = set()
        self._lock = Lock()

    @property
    def claims_a_minute(self) -> int | None:
        """How many claims a client may submit within a minute; ``None``: any number."""
        return None if self._claims is None else self._claims.amount

    def claim(self, number: int = 1) -> None:
        """Count a claim of this client, or several: either all of them or none.

        Raises:
            RequestRefused: with these it submits too many within a minute.
        """
        if self._claims is None:
            return
        what = counted(self._claims.amount, "claim")
        if number > self._claims.amount:
            raise RequestRefused(
                HTTPStatus.TOO_MANY_REQUESTS,
                Problem("too_many", f"You may submit {what} a minute.", "Submit fewer at once."),
                limit="claims",
            )
        said = "You have submitted" if number == 1 else "You may submit"
        self._hit(self._claims, "claims", f"{said} {what} within a minute.", number)

    def failed_login(self) -> None:
        """Count a wrong token of this client.

        Raises:
            RequestRefused: there were too many in the last minute.
        """
        self._hit(self._logins, "logins", "There were too many tries to log in.")

    @contextmanager
    def page(self) -> Iterator[None]:
        """Count a web page that this client asks for, and that it is opened meanwhile.

        Raises:
            RequestRefused: it has asked for too many in the last minute, or another one is opened
                for it, so that one client leaves a place for others.
        """
        name = self._client()
        with self._lock:
            if name in self._opening:
                message = "Another web page is being opened for you."
                raise _too_many("pages", message, _PAGE_SECONDS)
            self._opening.add(name)
        try:
            what = counted(PAGES_PER_MINUTE, "web page")
            self._hit(self._pages, "pages", f"You have asked for {what} within a minute.")
            yield
        finally:
            with self._lock:
                self._opening.discard(name)

    def stream(self) -> Callable[[], None]:
        """Count an event stream of this client; call what this returns once when it is closed.

        Raises:
            RequestRefused: the client has too many open.
        """
        name = self._client()
        with self._lock:
            if self._streams_each is not None and self._streams[name] >= self._streams_each:
                raise _too_many("streams", "You have too many event streams open.", _STREAM_SECONDS)
            self._streams[name] += 1

        def closed() -> None:
            with self._lock:
                self._streams[name] -= 1
                self._streams += Counter()  # forgets those without a stream

        return closed

    def _hit(self, limit: RateLimitItem, kind: Limit, message: str, cost: int = 1) -> None:
        name = self._client()
        try:
            if self._strategy.hit(limit, kind, name, cost=cost):
                return
            seconds = self._strategy.get_window_stats(limit, kind, name).reset_time - time.time()
            if seconds > limit.get_expiry() + 1:
                # The clock was set back: what was counted lies in the future.
                self._strategy.clear(limit, kind, name)
                self._strategy.hit(limit, kind, name, cost=cost)
                return
        except StorageError as error:
            # Nothing works without Redis anyway, and its return must not find clients locked out.
            logger.warning("Claims are not counted: %s", error)
            return
        raise _too_many(kind, message, max(1, math.ceil(seconds)))


def _storage(settings: Settings) -> StorageTypes:
    if settings.broker_url == EMBEDDED_BROKER:
        return storage_from_string("memory://")
    return storage_from_string(
        settings.broker_url,
        wrap_exceptions=True,
        key_prefix="esoteric.limits",
        socket_connect_timeout=REDIS_CONNECT_SECONDS,
        socket_timeout=REDIS_ANSWER_SECONDS,
    )


def _too_many(limit: Limit, message: str, seconds: int) -> RequestRefused:
    return RequestRefused(
        HTTPStatus.TOO_MANY_REQUESTS,
        Problem("too_many", message, f"Try again in {counted(seconds, 'second')}."),
        {"Retry-After": str(seconds)},
        limit,
    )
