"""A client for the API of ESOTERIC, in one file that needs nothing but Python 3.11.

Start the service with ``esoteric up``, then:

    python esoteric_client.py http://127.0.0.1:8000 "Frankenstein was written by Mary Shelley."

or, in a program:

    from esoteric_client import Esoteric

    result = Esoteric("http://127.0.0.1:8000").check("Frankenstein was written by Mary Shelley.")
    print(result["verdict"]["label"])

Claims and results are the dictionaries that the API sends; /api/v1/openapi.json describes them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

Document = dict[str, Any]
PENDING = ("queued", "running")
WAIT_SECONDS = 0.2
TIMEOUT_SECONDS = 30.0


class EsotericError(Exception):
    """What the service answered with an error, or why a claim has no result."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(f"{message} {hint}")
        self.code, self.message, self.hint = code, message, hint


class Esoteric:
    """A service. Every method raises ``EsotericError`` for an error that the service answers."""

    def __init__(self, address: str, token: str = "") -> None:
        """``address``: without a path, such as http://127.0.0.1:8000.

        ``token``: where users log in, the one that ``esoteric users add`` printed.
        """
        self.address = address.rstrip("/")
        self._login = {"Authorization": f"Bearer {token}"} if token else {}

    def check(self, claim: str, recipe: str | None = None) -> Document:
        """Submit a claim, wait for it and return its result, the claim document."""
        return self.result(self.submit(claim, recipe)["id"])

    def check_all(
        self, claims: Iterable[str], recipe: str | None = None
    ) -> Iterator[tuple[str, Document | EsotericError]]:
        """Submit many claims at once and yield each with its result or error, in their order."""
        submitted: list[tuple[str, str | EsotericError]] = []
        for claim in claims:
            try:
                submitted.append((claim, self.submit(claim, recipe)["id"]))
            except EsotericError as error:
                submitted.append((claim, error))
        for claim, job in submitted:
            try:
                yield claim, job if isinstance(job, EsotericError) else self.result(job)
            except EsotericError as error:
                yield claim, error

    def submit(self, claim: str, recipe: str | None = None, anyway: bool = False) -> Document:
        """Submit a claim and return its ``id``, ``state`` and ``links`` at once.

        ``anyway``: also a link, a text in another language or a question without yes or no.
        """
        body = {"claim": claim, "anyway": anyway} | ({"recipe": recipe} if recipe else {})
        return self._json("POST", "/claims", body)

    def progress(self, job: str) -> Iterator[Document]:
        """Yield each event of a claim (``stage``, ``message``, …) until the claim ends."""
        since = 0
        while True:
            answer = self._json("GET", f"/claims/{job}/progress?since={since}")
            yield from answer["events"]
            if answer["state"] not in PENDING:
                return
            since = answer["next"]
            time.sleep(WAIT_SECONDS)

    def result(self, job: str) -> Document:
        """Wait until a claim ends and return its result."""
        for _ in self.progress(job):
            pass
        ended = self.claim(job)
        if ended["error"] is not None:
            raise EsotericError(**ended["error"])
        if ended["result"] is None:
            raise EsotericError("cancelled", "The claim was cancelled.", "Submit it again.")
        result: Document = ended["result"]
        return result

    def claim(self, job: str) -> Document:
        """Return a claim as it is now, with its result or its error if there is one."""
        return self._json("GET", f"/claims/{job}")

    def claims(self, words: str = "", page: int = 1, limit: int = 20) -> Document:
        """Return one page of the claims that contain these words, newest first."""
        return self._json("GET", f"/claims?{urlencode({'q': words, 'page': page, 'limit': limit})}")

    def export(self, job: str, kind: str = "json") -> bytes:
        """Return the result as a file: json, md, csv or claimreview."""
        return self._bytes("GET", f"/claims/{job}/export?format={kind}")

    def cancel(self, job: str) -> Document:
        """Cancel a claim that is pending, and return it."""
        return self._json("DELETE", f"/claims/{job}")

    def delete(self, job: str) -> None:
        """Delete a claim with its events and its result."""
        self._bytes("DELETE", f"/claims/{job}?forget=1")

    def recipes(self) -> list[Document]:
        """Return the recipes: which can run, and why others cannot."""
        found: list[Document] = self._json("GET", "/recipes")["recipes"]
        return found

    def corpora(self) -> list[Document]:
        """Return the corpora that claims are checked against."""
        found: list[Document] = self._json("GET", "/corpora")["corpora"]
        return found

    def _json(self, method: str, path: str, body: Document | None = None) -> Document:
        document: Document = json.loads(self._bytes(method, path, body))
        return document

    def _bytes(self, method: str, path: str, body: Document | None = None) -> bytes:
        request = Request(
            f"{self.address}/api/v1{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers=self._login | ({} if body is None else {"Content-Type": "application/json"}),
            method=method,
        )
        try:
            with urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                content: bytes = answer.read()
                return content
        except HTTPError as error:
            with error:
                raise EsotericError(**json.load(error)["error"]) from None


def main(address: str, claim: str) -> None:
    """Check one claim, print what happens, the verdict and the sentences that it rests on."""
    service = Esoteric(address)
    job = service.submit(claim)["id"]
    for event in service.progress(job):
        print(f"  {event['stage']}: {event['message']}", file=sys.stderr)
    result = service.result(job)
    print(f"{result['verdict']['label']} ({result['verdict']['confidence']:.2f})")
    for item in result["evidence"]:
        if item["selected"]:
            print(f"- {item['sentence']} [{item['title']}, {item['url']}]")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} ADDRESS CLAIM")
    main(*sys.argv[1:])
