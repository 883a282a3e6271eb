"""What all clients of a campaign have in common: they ask, and judge the answers."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from threading import Event, Thread
from typing import Any, Protocol

from research.benchmarks.faults.ledger import Ledger

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}
PAGE = {"Accept": "text/html"}
_WITH_A_REASON = (503, 507)


class Asked(Protocol):
    """A service that clients ask."""

    def ask(
        self,
        method: str,
        path: str,
        body: str | bytes,
        headers: Mapping[str, str] | None,
        address: str,
    ) -> tuple[int, str, str]:
        """Return status, Location and body of an answer; ``address``: of the client.

        Raises:
            OSError, HTTPException: there is none.
        """
        ...


class Client(Thread):
    """A client in its own thread; it does not give up on what was accepted.

    Each has an address of its own, as clients take turns by their addresses.
    """

    def __init__(self, service: Asked, ledger: Ledger, stop: Event) -> None:
        """``stop``: after it, nothing new is asked for."""
        super().__init__(name=type(self).__name__, daemon=True)
        self._address = f"127.0.0.{2 + ledger.number()}"
        self.ledger = ledger
        self.halt = stop
        self._service = service

    def ask(
        self,
        method: str,
        path: str,
        body: str | bytes = "",
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, str, str]:
        """Return status (0: no answer), Location and body; a bad answer is noted."""
        try:
            status, location, text = self._service.ask(method, path, body, headers, self._address)
        except (OSError, http.client.HTTPException):
            return 0, "", ""
        if not is_explained(status, text):
            self.ledger.wrong(f"{method} {path}: {status} {text[:300]}")
        return status, location, text

    def found(self, path: str) -> Any:
        """Return the JSON at this address; ``None``: not now; ``{}``: there is nothing."""
        status, _, text = self.ask("GET", path)
        if status == 404:
            return {}
        return json.loads(text) if status == 200 else None

    def rest(self, seconds: float) -> None:
        """Wait, but not after ``stop``."""
        self.halt.wait(seconds)

    def pause(self, seconds: float) -> None:
        """Wait in any case: the answer is needed."""
        time.sleep(seconds)


def is_explained(status: int, body: str) -> bool:
    """Return whether an answer is a good one, or says why there is none now and what to do."""
    if "Traceback (most recent call last)" in body:
        return False
    if status < 400:
        return True
    if status not in _WITH_A_REASON:
        return False
    try:
        error = json.loads(body)["error"]
    except (ValueError, LookupError, TypeError):
        return "Code: <code>" in body  # templates/error.html
    return all(error.get(key) for key in ("code", "message", "hint"))
