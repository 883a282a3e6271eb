"""Clients that submit claims, lists and documents without end, and look at pages."""

from __future__ import annotations

import json
from itertools import count
from random import Random
from threading import Event
from urllib.parse import urlencode

from research.benchmarks.faults.client import FORM, JSON, PAGE, Asked, Client
from research.benchmarks.faults.corpus import RECIPE, claim
from research.benchmarks.faults.documents import document, form_of
from research.benchmarks.faults.ledger import Ledger

# A person types one claim after the other; programs submit more at once.
_MOST_OPEN_OF_A_PERSON, _MOST_OPEN_OF_A_PROGRAM = 1, 2
PROGRAMS = 2
PAUSE_SECONDS = 0.5
_ENDED = ("done", "failed", "cancelled")
_PAGES = ("/", "/claims", "/api/v1/claims/{}/progress", "/claims/{}", "/metrics", "/healthz")
_ROWS = (20, 50)
_PAUSED_SHARE, _CANCELLED_SHARE = 0.4, 0.15
_UPLOADS_OF_A_CORPUS = 3
_REST_SECONDS = 3.0
# Of a 503 of a server of databases that ended amid a commit.
_MAY_BE_CHECKED = "not known whether the last change was stored"


def clients(service: Asked, ledger: Ledger, stop: Event) -> list[Client]:
    """Return the clients of a campaign, which have not started."""
    person = ClaimClient(service, ledger, stop, by_form=True)
    programs = [ClaimClient(service, ledger, stop, by_form=False) for _ in range(PROGRAMS)]
    return [
        person,
        *programs,
        ListClient(service, ledger, stop),
        UploadClient(service, ledger, stop),
    ]


class ClaimClient(Client):
    """Submits claims, of which only a few are open at once."""

    def __init__(self, service: Asked, ledger: Ledger, stop: Event, by_form: bool) -> None:
        """``by_form``: claims are submitted as on the first page, otherwise to the API."""
        super().__init__(service, ledger, stop)
        self._by_form = by_form
        self._most_open = _MOST_OPEN_OF_A_PERSON if by_form else _MOST_OPEN_OF_A_PROGRAM
        self._open: list[str] = []

    def run(self) -> None:
        """Submit and ask until ``stop`` is set; then only ask for what is open."""
        for turn in count():
            if self.halt.is_set() and not self._open:
                return
            if not self.halt.is_set() and len(self._open) < self._most_open:
                self._submit()
            self._open = [job_id for job_id in self._open if not has_ended(self, job_id)]
            if self._open:
                self.ask("GET", _PAGES[turn % len(_PAGES)].format(self._open[0]), headers=PAGE)
            self.pause(PAUSE_SECONDS)

    def _submit(self) -> None:
        job_id = submitted(self, None, self._by_form)
        if job_id is not None:
            self._open.append(job_id)


class ListClient(Client):
    """Submits one list after the other: pasted into the page, or to the API.

    Some of the latter are paused for a while, and some are cancelled.
    """

    def run(self) -> None:
        """Submit lists until ``stop`` is set, and wait for the end of the last one."""
        for number in count():
            if self.halt.is_set():
                return
            random = Random(number)
            list_id = self._submit(random, pasted=number % 2 == 0)
            if list_id is None:
                self.rest(PAUSE_SECONDS)
                continue
            if number % 2:
                self._disturb(list_id, random)
            while not self._has_ended(list_id):
                self.pause(PAUSE_SECONDS)
            self.rest(_REST_SECONDS)

    def _submit(self, random: Random, pasted: bool) -> str | None:
        rows = [claim(self.ledger.number()) for _ in range(random.randint(*_ROWS))]
        if pasted:
            form = urlencode({"claims": "\n".join(rows), "recipe": RECIPE})
            status, location, _ = self.ask("POST", "/lists", form, FORM)
        else:
            asked = json.dumps({"claims": rows, "recipe": RECIPE})
            status, location, _ = self.ask("POST", "/api/v1/lists", asked, JSON)
        if status not in (202, 303):
            return None
        list_id = location.rpartition("/")[2]
        self.ledger.accept(list_id, "rows", rows=len(rows))
        return list_id

    def _disturb(self, list_id: str, random: Random) -> None:
        address, what = f"/api/v1/lists/{list_id}", random.random()
        self.pause(random.uniform(0.5, 5))
        if what < _PAUSED_SHARE:
            self._insist("POST", f"{address}/pause")
            self.ledger.see(list_id, "paused")
            self.pause(random.uniform(0.5, 5))
            self._insist("POST", f"{address}/go-on")
        elif what < _PAUSED_SHARE + _CANCELLED_SHARE:
            self.ledger.cancel(list_id)
            self._insist("DELETE", address)

    def _insist(self, method: str, path: str) -> None:
        while self.ask(method, path)[0] not in (200, 404):
            self.pause(PAUSE_SECONDS)

    def _has_ended(self, list_id: str) -> bool:
        found = self.found(f"/api/v1/lists/{list_id}")
        if found is None:
            return False
        self.ledger.see(list_id, (found.get("state"), found.get("finished")))
        # After "cancelled", rows that are in the queue are still checked.
        ended = not found or (found["state"] != "running" and not found["counts"]["unfinished"])
        if ended:
            self.ledger.end(list_id)
        return ended


class UploadClient(Client):
    """Uploads documents, waits until they are indexed, and checks a claim against them."""

    def run(self) -> None:
        """Upload until ``stop`` is set, and wait for the end of the last upload."""
        while not self.halt.is_set():
            corpus = self._make()
            if corpus is None:
                self.rest(PAUSE_SECONDS)
                continue
            for number in range(_UPLOADS_OF_A_CORPUS):
                if self.halt.is_set():
                    return
                self._upload(corpus, number)
                self.rest(_REST_SECONDS)

    def _make(self) -> str | None:
        asked = json.dumps({"title": f"Reports {self.ledger.number()}"})
        status, location, _ = self.ask("POST", "/api/v1/corpora", asked, JSON)
        return location.rpartition("/")[2] if status == 201 else None

    def _upload(self, corpus: str, number: int) -> None:
        # One to three files, the first of them a PDF.
        files = [document(self.ledger.number(), as_pdf=n == 0) for n in range(1 + number % 3)]
        address, body = f"/api/v1/corpora/{corpus}", form_of(files)
        status, _, _ = self.ask("POST", f"{address}/files", body.content, body.headers)
        if status != 202:
            return
        name = f"{corpus}/{number}"
        self.ledger.accept(name, "uploads", files=[file for file, _ in files])
        while (state := self._state(name, address)) not in ("ready", "failed", "gone"):
            self.pause(PAUSE_SECONDS)
        self.ledger.end(name)
        if state == "ready" and not self.halt.is_set():
            job_id = submitted(self, corpus)
            while job_id is not None and not has_ended(self, job_id):
                self.pause(PAUSE_SECONDS)

    def _state(self, name: str, address: str) -> str:
        found = self.found(address)
        if found is None:
            return "not known"
        self.ledger.see(name, tuple(found.get(key) for key in ("state", "step", "done")))
        return str(found.get("state", "gone"))


def submitted(client: Client, corpus: str | None, by_form: bool = False) -> str | None:
    """Submit a new claim, to be checked against a corpus if one is named; return its id."""
    text = claim(client.ledger.number())
    if by_form:
        form = urlencode({"claim": text, "recipe": RECIPE})
        status, location, said = client.ask("POST", "/claims", form, FORM)
    else:
        asked = {"claim": text, "recipe": RECIPE} | ({"corpora": [corpus]} if corpus else {})
        status, location, said = client.ask("POST", "/api/v1/claims", json.dumps(asked), JSON)
    if status == 503 and _MAY_BE_CHECKED not in said:
        client.ledger.refuse(text)
    if status not in (202, 303):
        return None
    job_id = location.rpartition("/")[2]
    client.ledger.accept(job_id, "claims")
    return job_id


def has_ended(client: Client, job_id: str) -> bool:
    """Return whether a claim has ended; the ledger then knows."""
    found = client.found(f"/api/v1/claims/{job_id}")
    if found is None or (found and found["state"] not in _ENDED):
        return False
    client.ledger.end(job_id)
    return True
