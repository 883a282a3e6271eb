"""A client for the API of the service that ``esoteric up`` runs."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Sequence
from typing import Any

from cli.home_lock import address_of_running
from retrieval.errors import EsotericError
from retrieval.llm_judge.choice import name_of
from retrieval.types import Progress, ProgressListener
from settings import Settings

_PENDING = ("queued", "running")
_POLL_SECONDS = 0.05
_TIMEOUT_SECONDS = 30.0
_READY_SECONDS = 2.0


class ServiceFailed(EsotericError):
    """The service could not check the claim, or no longer answers."""


class Service:
    """The API of a running service."""

    def __init__(self, host: str, port: int, home_id: str, token: str = "") -> None:
        """Remember its address, the id of its home (``Settings.home_id``), and a user's token."""
        self._host, self._port = host, port
        self._home_id = home_id
        self._token = token
        self.receiver = ""  # the language model that it sends claims to, set by ``ready``

    def ready(self) -> tuple[bool, dict[str, Any]]:
        """Return whether this service runs and can check claims, and the answer of /readyz.

        A service with another home may listen at the address; it does not count.
        """
        try:
            status, answer = self._ask("GET", "/readyz", seconds=_READY_SECONDS)
        except ServiceFailed:
            return False, {}
        asked = answer.get("language_model")
        if asked and asked["host"] is not None:
            self.receiver = name_of(asked["model"], asked["host"])
        return status == http.client.OK and answer.get("home") == self._home_id, answer

    def checked(
        self,
        claim: str,
        recipe: str | None,
        on_progress: ProgressListener,
        anyway: bool = False,
        corpora: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """Submit a claim, wait until it is done and return it as the API does, with its result.

        ``recipe``: ``None`` for the one that the service chooses. ``anyway``: also a link, a text
        in another language or a question. ``corpora``: names, ``None`` for the default one.

        If the wait is interrupted, the service still checks the claim: others may wait for it.

        Raises:
            ServiceFailed: it was not checked; the message says why.
        """
        asked: dict[str, Any] = {"claim": claim, "anyway": anyway}
        asked |= {"recipe": recipe} if recipe else {}
        asked |= {"corpora": [*corpora]} if corpora else {}
        job = self._answer("POST", "/api/v1/claims", asked)
        links = job["links"]
        self._wait(links["progress"], on_progress)
        job = self._answer("GET", links["self"])
        if job["error"] is not None:
            raise ServiceFailed(**job["error"])
        if job["result"] is None:
            raise ServiceFailed(
                "cancelled", "The claim was cancelled in the service.", "Check it again."
            )
        return job

    def _wait(self, progress: str, on_progress: ProgressListener) -> None:
        since = 0
        while True:
            answer = self._answer("GET", f"{progress}?since={since}")
            since = answer["next"]
            if answer["state"] == "queued":
                on_progress(Progress("queued", "Waiting for the service's other claims", 0, 1))
            for event in answer["events"]:
                on_progress(Progress(event["stage"], event["message"], event["done"], event["of"]))
            if answer["state"] not in _PENDING:
                return
            time.sleep(_POLL_SECONDS)

    def _answer(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        status, document = self._ask(method, path, body)
        if status >= http.client.BAD_REQUEST:
            raise ServiceFailed(**document["error"])
        return document

    def _ask(
        self, method: str, path: str, body: object = None, seconds: float = _TIMEOUT_SECONDS
    ) -> tuple[int, dict[str, Any]]:
        headers = {} if body is None else {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        content = None if body is None else json.dumps(body)
        connection = http.client.HTTPConnection(self._host, self._port, timeout=seconds)
        try:
            connection.request(method, path, content, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ServiceFailed(
                "service_gone",
                f"The running service does not answer ({error or type(error).__name__}).",
                "Run the command again. If the service has ended, the command loads the models"
                " itself.",
            ) from error
        finally:
            connection.close()


def ready_service(settings: Settings) -> Service | None:
    """Return the service with this home, if it runs and can check claims."""
    address = address_of_running(settings.home)
    if address is None:
        return None
    service = Service(*address, settings.home_id, settings.token)
    ready, _ = service.ready()
    return service if ready else None
