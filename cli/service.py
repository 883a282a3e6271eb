"""The service that ``esoteric up`` runs on a folder, found and asked by the other commands.

``up`` holds ``up.lock`` in the folder locked while it runs, and writes its process and its address
there.
"""

from __future__ import annotations

import fcntl
import http.client
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from retrieval.errors import EsotericError
from retrieval.mends import esoteric_command
from retrieval.types import Progress, ProgressListener
from settings import Settings

_LOCK = "up.lock"
_PENDING = ("queued", "running")
_POLL_SECONDS = 0.05
_TIMEOUT_SECONDS = 30.0
_READY_SECONDS = 2.0
_LOCK_TRIES = 3  # of ``running``: whoever looks for a service holds the lock for a moment


class CannotStart(EsotericError):
    """Something is in the way of starting, or of going on."""


class ServiceFailed(EsotericError):
    """The service could not check the claim, or no longer answers."""


class Service:
    """The API of a running service."""

    def __init__(self, host: str, port: int, home_id: str) -> None:
        """Remember where it listens, and on which home it runs (``Settings.home_id``)."""
        self._host, self._port = host, port
        self._home_id = home_id

    def ready(self) -> tuple[bool, dict[str, Any]]:
        """Return whether this service is there and can check claims, and what it answers.

        Another one may listen at its address: one that runs on another home.
        """
        try:
            status, answer = self._ask("GET", "/readyz", seconds=_READY_SECONDS)
        except ServiceFailed:
            return False, {}
        return status == http.client.OK and answer.get("home") == self._home_id, answer

    def check(self, claim: str, recipe: str, on_progress: ProgressListener) -> dict[str, Any]:
        """Submit a claim, wait for its end and return the claim document.

        Whoever no longer waits leaves the claim to the service: others may wait for the same one.

        Raises:
            ServiceFailed: it was not checked; the error's own message says why.
        """
        job = self._answer("POST", "/api/v1/claims", {"claim": claim, "recipe": recipe})
        links = job["links"]
        self._wait(links["progress"], on_progress)
        job = self._answer("GET", links["self"])
        if job["error"] is not None:
            raise ServiceFailed(**job["error"])
        if job["result"] is None:
            raise ServiceFailed(
                "cancelled", "The claim was cancelled in the service.", "Check it again."
            )
        result: dict[str, Any] = job["result"]
        return result

    def _wait(self, progress: str, on_progress: ProgressListener) -> None:
        since = 0
        while True:
            told = self._answer("GET", f"{progress}?since={since}")
            since = told["next"]
            if told["state"] == "queued":
                on_progress(Progress("queued", "Waiting for the service's other claims", 0, 1))
            for event in told["events"]:
                on_progress(Progress(event["stage"], event["message"], event["done"], event["of"]))
            if told["state"] not in _PENDING:
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
    """Return the service that runs on this home and can check claims, if there is one."""
    try:
        with (settings.home / _LOCK).open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return None  # nobody holds it: what the file says is of a service that has ended
            except BlockingIOError:
                running = json.load(lock)
        service = Service(running["host"], running["port"], settings.home_id)
    except (OSError, ValueError, LookupError, TypeError):
        return None
    ready, _ = service.ready()
    return service if ready else None


@contextmanager
def running(home: Path, process: int, host: str, port: int) -> Iterator[None]:
    """Hold the folder for one service, and say where it listens.

    Raises:
        CannotStart: another one runs on it, or the folder cannot be used.
    """
    try:
        (home / "logs").mkdir(parents=True, exist_ok=True)
        lock = (home / _LOCK).open("a+")
    except OSError as error:
        raise CannotStart(
            "home",
            f"ESOTERIC_HOME {home} cannot be used: {error.strerror}.",
            f"Make it writable, or choose another: {esoteric_command('up --home DIR')}",
        ) from error
    with lock:
        _hold(lock, home)
        lock.truncate(0)
        json.dump({"process": process, "host": host, "port": port}, lock)
        lock.flush()
        yield


def _hold(lock: IO[str], home: Path) -> None:
    for _ in range(_LOCK_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(_POLL_SECONDS)
        else:
            return
    lock.seek(0)
    try:
        process = json.load(lock)["process"]
    except (ValueError, LookupError, TypeError):
        process = "unknown"
    raise CannotStart(
        "already_running",
        f"ESOTERIC already runs on {home} (process {process}).",
        f"Stop that one, or choose another folder: {esoteric_command('up --home DIR')}",
    )
