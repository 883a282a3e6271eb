"""One service for each home: ``esoteric up`` keeps ``up.lock`` locked while it runs.

The file contains the number of its process and the address that it listens on.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from retrieval.errors import EsotericError
from retrieval.system.files import make_private_folder
from retrieval.system.fixes import esoteric_command

_LOCK = "up.lock"
# ``address_of_running`` takes the lock for a moment, so ``running`` tries more than once.
_TRIES = 3
_PAUSE_SECONDS = 0.05


class CannotStart(EsotericError):
    """The service cannot start, or cannot continue."""


def address_of_running(home: Path) -> tuple[str, int] | None:
    """Return host and port of the service that uses this home, if there is one."""
    try:
        with (home / _LOCK).open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return None  # not locked: the file is left from a service that has ended
            except BlockingIOError:
                running = json.load(lock)
        return str(running["host"]), int(running["port"])
    except (OSError, ValueError, LookupError, TypeError):
        return None


@contextmanager
def running(home: Path, process: int, host: str, port: int) -> Iterator[None]:
    """Lock the home for one service, and store the address that it listens on.

    Raises:
        CannotStart: another service uses it, or the folder cannot be used.
    """
    another = f"choose another folder: {esoteric_command('up --home DIR')}"
    with _locked(home, {"process": process, "host": host, "port": port}, another):
        yield


@contextmanager
def without_service(home: Path) -> Iterator[None]:
    """Lock the home so that no service starts meanwhile.

    Raises:
        CannotStart: a service uses it, or the folder cannot be used.
    """
    with _locked(home, {"process": os.getpid()}, "set ESOTERIC_HOME to another folder."):
        yield


@contextmanager
def _locked(home: Path, holder: dict[str, object], another: str) -> Iterator[None]:
    """Lock the home; ``another`` says how to use another one."""
    try:
        make_private_folder(home / "logs")
        lock = (home / _LOCK).open("a+")
    except OSError as error:
        raise CannotStart(
            "home",
            f"ESOTERIC_HOME {home} cannot be used: {error.strerror}.",
            f"Make it writable, or {another}",
        ) from error
    with lock:
        _lock(lock, home, another)
        lock.truncate(0)
        json.dump(holder, lock)
        lock.flush()
        yield


def _lock(lock: IO[str], home: Path, another: str) -> None:
    for _ in range(_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(_PAUSE_SECONDS)
        else:
            return
    lock.seek(0)
    try:
        process = json.load(lock)["process"]
    except (ValueError, LookupError, TypeError):
        process = "unknown"
    raise CannotStart(
        "already_running",
        f"ESOTERIC is already running with the home {home} (process {process}).",
        f"Stop it, or {another}",
    )
