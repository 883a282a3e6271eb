"""A client for the API of ESOTERIC, in one file that needs nothing but Python 3.11.

Start the service with ``esoteric up``, then:

    python esoteric_client.py http://127.0.0.1:8000 "Frankenstein was written by Mary Shelley."

or, in a program:

    from esoteric_client import Esoteric

    result = Esoteric("http://127.0.0.1:8000").check("Frankenstein was written by Mary Shelley.")
    print(result["verdict"]["label"])

Where users log in, set ESOTERIC_TOKEN to the token that the operator gave you, or pass ``token``.
Claims and results are the dictionaries that the API sends; /api/v1/openapi.json describes them.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http.client import HTTPException, IncompleteRead
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request, urlopen
from uuid import uuid4

Document = dict[str, Any]
PENDING = ("queued", "running")
WAIT_SECONDS = 0.2
TIMEOUT_SECONDS = 30.0


class EsotericError(Exception):
    """What the service answered with an error, or why there is no answer or no result."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(f"{message} {hint}")
        self.code, self.message, self.hint = code, message, hint


class Esoteric:
    """A service. Every method raises ``EsotericError`` if it refuses, or is not there."""

    def __init__(self, address: str, token: str = "") -> None:
        """``address``: without a path, such as http://127.0.0.1:8000.

        ``token``: where users log in, the one that ``esoteric users add`` printed.
        """
        self.address = address.rstrip("/")
        if not _is_address(self.address):
            raise EsotericError(
                "bad_address",
                f"{address!r} is not the address of a service.",
                "Give one such as http://127.0.0.1:8000, as `esoteric up` prints it.",
            )
        if not (token.isascii() and token.isprintable()):
            hint = "Copy it again, without spaces and line ends."
            raise EsotericError("bad_token", "The token has characters that no token has.", hint)
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

    def submit(
        self,
        claim: str,
        recipe: str | None = None,
        anyway: bool = False,
        corpora: Sequence[str] = (),
    ) -> Document:
        """Submit a claim and return its ``id``, ``state`` and ``links`` at once.

        ``anyway``: also a link, a text in another language or a question without yes or no.
        ``corpora``: names of those to search; without any the default one.
        """
        body: Document = {"claim": claim, "anyway": anyway}
        body |= {"recipe": recipe} if recipe else {}
        body |= {"corpora": [*corpora]} if corpora else {}
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

    def say(
        self,
        job: str,
        agrees: bool,
        label: str | None = None,
        wrong: Sequence[int] = (),
        note: str = "",
        name: str = "",
    ) -> Document:
        """Say what the verdict of a claim should be, and return the feedback with its ``id``.

        ``label``: needed without agreement. ``wrong``: numbers of evidence that is labelled
        wrongly. An agreement under a ``name`` allows the export as a ClaimReview.
        """
        body = {"agrees": agrees, "label": label, "wrong": list(wrong), "note": note, "name": name}
        return self._json("POST", f"/claims/{job}/feedback", body)

    def feedback(self, page: int = 1, limit: int = 20) -> Document:
        """Return one page of what people say about verdicts, newest first."""
        return self._json("GET", f"/feedback?{urlencode({'page': page, 'limit': limit})}")

    def one_feedback(self, feedback: str) -> Document:
        """Return one piece of feedback."""
        return self._json("GET", f"/feedback/{feedback}")

    def export_feedback(self, kind: str = "claims") -> bytes:
        """Return all feedback as JSON lines: claims, or pairs of claim and evidence."""
        return self._bytes("GET", f"/feedback/export?format={kind}")

    def delete_feedback(self, feedback: str) -> None:
        """Delete one piece of feedback."""
        self._bytes("DELETE", f"/feedback/{feedback}")

    def compare(self, jobs: Iterable[str]) -> Document:
        """Return checks side by side, by their ids."""
        return self._json("GET", f"/compare?claims={','.join(jobs)}")

    def export_comparison(self, jobs: Iterable[str], kind: str = "csv") -> bytes:
        """Return checks side by side as a file: csv, latex, trec (a zip) or json."""
        return self._bytes("GET", f"/compare/export?claims={','.join(jobs)}&format={kind}")

    def stop_comparison(self, comparison: str) -> Document:
        """Make none of the checks of a comparison that have not ended, and return it."""
        return self._json("DELETE", f"/compare?id={comparison}")

    def cancel(self, job: str) -> Document:
        """Cancel a claim that is pending, and return it."""
        return self._json("DELETE", f"/claims/{job}")

    def delete(self, job: str) -> None:
        """Delete a claim with its events and its result."""
        self._bytes("DELETE", f"/claims/{job}?forget=1")

    def submit_list(
        self, claims: Iterable[str | Document], name: str = "", recipe: str | None = None
    ) -> Document:
        """Submit a list of claims, which goes on by itself, and return how far it is.

        A claim is a text, or a dictionary with the key ``claim``; its other keys come back.
        """
        body = {"claims": [*claims], "name": name} | ({"recipe": recipe} if recipe else {})
        return self._json("POST", "/lists", body)

    def list_status(self, list_id: str) -> Document:
        """Return how far a list is."""
        return self._json("GET", f"/lists/{list_id}")

    def list_results(self, list_id: str, show: str = "all") -> Iterator[Document]:
        """Yield the rows of a list with their verdicts; ``show``: all, refuted, errors, …"""
        page, pages = 1, 1
        while page <= pages:
            answer = self._json("GET", f"/lists/{list_id}/results?show={show}&page={page}")
            yield from answer["rows"]
            page, pages = page + 1, answer["pages"]

    def export_list(self, list_id: str, kind: str = "csv") -> bytes:
        """Return a list with its verdicts as a file: csv, xlsx or jsonl."""
        return self._bytes("GET", f"/lists/{list_id}/export?format={kind}")

    def pause_list(self, list_id: str) -> Document:
        """Pause a list, and return it."""
        return self._json("POST", f"/lists/{list_id}/pause")

    def go_on_list(self, list_id: str) -> Document:
        """Continue a list that is paused, and return it."""
        return self._json("POST", f"/lists/{list_id}/go-on")

    def cancel_list(self, list_id: str) -> Document:
        """Cancel what is left of a list, and return it."""
        return self._json("DELETE", f"/lists/{list_id}")

    def sentences(self, text: str) -> list[Document]:
        """Return the sentences of a text: their kinds, and the claims of those that are facts.

        ``text`` may be the address of a web page where the operator allows that.
        """
        found: list[Document] = self._json("POST", "/texts", {"text": text})["sentences"]
        return found

    def recipes(self) -> list[Document]:
        """Return the recipes: which can run, and why others cannot."""
        found: list[Document] = self._json("GET", "/recipes")["recipes"]
        return found

    def corpora(self) -> list[Document]:
        """Return the corpora that claims can be checked against."""
        found: list[Document] = self._json("GET", "/corpora")["corpora"]
        return found

    def corpus(self, name: str) -> Document:
        """Return a corpus with its files, and how far their indexing is."""
        return self._json("GET", f"/corpora/{name}")

    def make_corpus(self, title: str, folder: str | None = None) -> Document:
        """Make a corpus, of a folder of the server if one is named; its ``name`` stays."""
        return self._json("POST", "/corpora", {"title": title, "folder": folder})

    def upload(self, name: str, files: Mapping[str, bytes]) -> Document:
        """Upload files, by their names, and return the corpus; they are indexed afterwards."""
        border = uuid4().hex
        parts = b"".join(
            f'--{border}\r\nContent-Disposition: form-data; name="files";'
            f' filename="{file.replace(chr(34), "%22")}"\r\n\r\n'.encode()
            + content
            + b"\r\n"
            for file, content in files.items()
        )
        kind = f"multipart/form-data; boundary={border}"
        body = parts + f"--{border}--".encode()
        return self._document(self._sent("POST", f"/corpora/{name}/files", body, kind))

    def share(self, kind: str, which: str, shared: str = "everyone") -> Document:
        """Share one of the "claims", "lists" or "corpora".

        ``shared``: with "everyone", with a group of yours ("group:NAME"), or only its "owner".
        """
        return self._json("PUT", f"/{kind}/{which}/sharing", {"shared": shared})

    def rename_corpus(self, name: str, title: str) -> Document:
        """Give a corpus another title and return it."""
        return self._json("PATCH", f"/corpora/{name}", {"title": title})

    def index_corpus(self, name: str) -> Document:
        """Let all files of a corpus be indexed again and return it."""
        return self._json("POST", f"/corpora/{name}/index")

    def remove_file(self, name: str, file: str) -> Document:
        """Remove a file from a corpus and return it."""
        return self._json("DELETE", f"/corpora/{name}/files/{quote(file)}")

    def remove_corpus(self, name: str) -> None:
        """Remove a corpus with its files and its index."""
        self._bytes("DELETE", f"/corpora/{name}")

    def _json(self, method: str, path: str, body: Document | None = None) -> Document:
        return self._document(self._bytes(method, path, body))

    def _bytes(self, method: str, path: str, body: Document | None = None) -> bytes:
        if body is None:
            return self._sent(method, path, None, "")
        return self._sent(method, path, json.dumps(body).encode(), "application/json")

    def _sent(self, method: str, path: str, body: bytes | None, kind: str) -> bytes:
        request = Request(
            f"{self.address}/api/v1{path}",
            data=body,
            headers=self._login | ({"Content-Type": kind} if kind else {}),
            method=method,
        )
        try:
            with urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                content: bytes = answer.read()
                return content
        except HTTPError as error:
            with error:
                refused = self._document(error.read()).get("error")
            if not isinstance(refused, dict):
                raise self._other_service() from None
            raise EsotericError(**refused) from None
        except (OSError, IncompleteRead) as error:
            why = getattr(error, "reason", None) or str(error) or type(error).__name__
            raise EsotericError(
                "no_answer",
                f"No service answers at {self.address} ({why}).",
                "Check the address; `esoteric up` starts a service of your own.",
            ) from None
        except HTTPException:
            raise self._other_service() from None

    def _document(self, content: bytes) -> Document:
        try:
            document = json.loads(content)
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise self._other_service()
        return document

    def _other_service(self) -> EsotericError:
        return EsotericError(
            "not_esoteric",
            f"What answers at {self.address} is not the API of ESOTERIC.",
            "Check the address; a proxy may answer for a service that is down.",
        )


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        named = parts.hostname and not set(parts.netloc) & set(" \t") and parts.port != 0
    except ValueError:
        return False
    return bool(named) and parts.scheme in ("http", "https")


def main(address: str, claim: str) -> None:
    """Check one claim, print what happens, the verdict and the sentences that it rests on."""
    service = Esoteric(address, os.environ.get("ESOTERIC_TOKEN", ""))
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
    try:
        main(*sys.argv[1:])
    except EsotericError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
