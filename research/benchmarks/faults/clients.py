"""Clients that submit claims without end, ask for their results, and look at pages."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from threading import Event, Lock, Thread
from typing import Protocol
from urllib.parse import urlencode

from research.benchmarks.faults.corpus import RECIPE, claim

CLIENTS = 3
MOST_OPEN = 3
PAUSE_SECONDS = 0.3
_ENDED = ("done", "failed", "cancelled")
_PAGES = ("/", "/claims", "/api/v1/claims/{}/progress", "/claims/{}", "/metrics", "/healthz")
_JSON = {"Content-Type": "application/json"}
_FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}


class Asked(Protocol):
    """A service that clients ask."""

    def ask(
        self, method: str, path: str, body: str = "", headers: Mapping[str, str] | None = None
    ) -> tuple[int, str, str]:
        """Return status, Location and body of an answer."""
        ...


@dataclass
class Ledger:
    """What the clients know; the lists hold claims, the dictionaries begin with ids."""

    round: int = 0
    accepted: dict[str, int] = field(default_factory=dict)
    """The round in which a claim was accepted."""
    ended: set[str] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)
    """Claims that were answered with 503."""
    wrong_pages: list[tuple[int, str]] = field(default_factory=list)
    """Rounds, and answers that were no good answer and no error with a reason."""
    lock: Lock = field(default_factory=Lock)
    numbers: Iterator[int] = field(default_factory=count)

    def open(self) -> set[str]:
        """Return the accepted claims that have not ended, as far as the clients know."""
        with self.lock:
            return set(self.accepted) - self.ended


class Client(Thread):
    """One client; it has at most ``MOST_OPEN`` open claims and does not give up on any."""

    pages: Sequence[str] = _PAGES

    def __init__(self, service: Asked, ledger: Ledger, stop: Event, by_form: bool) -> None:
        """``by_form``: claims are submitted as on the first page, otherwise to the API."""
        super().__init__(name="client", daemon=True)
        self._service = service
        self._ledger = ledger
        self._halt = stop
        self._by_form = by_form
        self._open: list[str] = []

    def run(self) -> None:
        """Submit and ask until ``stop`` is set; then only ask for what is open."""
        for turn in count():
            if self._halt.is_set() and not self._open:
                return
            if not self._halt.is_set() and len(self._open) < MOST_OPEN:
                self._submit()
            for job_id in list(self._open):
                self._look_after(job_id)
            if self._open:
                page = self.pages[turn % len(self.pages)].format(self._open[0])
                self._ask("GET", page, headers={"Accept": "text/html"})
            time.sleep(PAUSE_SECONDS)

    def _submit(self) -> None:
        with self._ledger.lock:
            text = claim(next(self._ledger.numbers))
        asked = {"claim": text, "recipe": RECIPE}
        if self._by_form:
            status, location, _ = self._ask("POST", "/claims", urlencode(asked), _FORM)
        else:
            status, location, _ = self._ask("POST", "/api/v1/claims", json.dumps(asked), _JSON)
        with self._ledger.lock:
            if status in (202, 303):
                job_id = location.rpartition("/")[2]
                self._ledger.accepted[job_id] = self._ledger.round
                self._open.append(job_id)
            elif status == 503:
                self._ledger.refused.append(text)

    def _look_after(self, job_id: str) -> None:
        status, _, body = self._ask("GET", f"/api/v1/claims/{job_id}")
        if status == 404 or (status == 200 and json.loads(body)["state"] in _ENDED):
            self._open.remove(job_id)
            with self._ledger.lock:
                self._ledger.ended.add(job_id)

    def _ask(
        self, method: str, path: str, body: str = "", headers: dict[str, str] | None = None
    ) -> tuple[int, str, str]:
        """Return status (0: no answer), Location and body."""
        try:
            status, location, text = self._service.ask(method, path, body, headers)
        except (OSError, http.client.HTTPException):
            return 0, "", ""
        if not is_explained(status, text):
            with self._ledger.lock:
                what = f"{method} {path}: {status} {text[:300]}"
                self._ledger.wrong_pages.append((self._ledger.round, what))
        return status, location, text


def is_explained(status: int, body: str) -> bool:
    """Return whether an answer is a good one, or a 503 that says why and what to do."""
    if "Traceback (most recent call last)" in body:
        return False
    if status < 400:
        return True
    if status != 503:
        return False
    try:
        error = json.loads(body)["error"]
    except (ValueError, LookupError, TypeError):
        return "Code: <code>" in body  # templates/error.html
    return all(error.get(key) for key in ("code", "message", "hint"))
