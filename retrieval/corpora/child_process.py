"""Reads files in a process of its own, which may take only so much time and memory.

A small hostile file may unpack to gigabytes or never end, and a damaged one may crash a library;
only the process that reads it is lost. It starts when it is needed, and anew after it was ended.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import subprocess
import sys
import time
import warnings
from contextlib import AbstractContextManager, suppress
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from threading import Thread, Timer
from typing import Any

from retrieval.errors import BadSource

MEMORY = 2 << 30  # bytes that the process may take
_STARTING = 60  # seconds that it may take to start, on a busy computer
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    f" from {__name__} import serve; serve(sys.argv[2], *map(int, sys.argv[3:]))"
)


class ChildEnded(Exception):
    """The process ended, perhaps for lack of memory."""


class ChildTooSlow(ChildEnded):
    """The process did not answer in time, and was ended."""


class ChildProcess(AbstractContextManager["ChildProcess"]):
    """A process that answers requests with the function ``serve(connection)`` of a module."""

    def __init__(self, module: str, memory: int | None = None) -> None:
        """Start nothing yet; ``memory``: bytes that the process may take, if not ``MEMORY``."""
        self._module = module
        self._memory = memory
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    def __exit__(self, *raised: object) -> None:
        self.end()

    @property
    def pid(self) -> int | None:
        """The number of the process, if there is one."""
        return self._process.pid if self._process is not None else None

    def send(self, request: object) -> None:
        """Send a request, which must pickle.

        Raises:
            ChildEnded: the process has ended.
            BadSource: it does not start.
        """
        connection = self._connection or self._start()
        try:
            connection.send(request)
        except OSError as error:
            self.end()
            raise ChildEnded from error

    def receive(self, seconds: float) -> Any:
        """Return the next answer, after so many seconds at most; raise it if it is an error.

        Raises:
            ChildEnded: there is none; the process has ended.
        """
        if self._connection is None or self._process is None:
            raise ChildEnded
        # A part of an answer may have arrived, so that waiting for its first byte is not enough.
        limit = Timer(seconds, self._process.kill)
        end = time.monotonic() + seconds
        limit.start()
        try:
            answer = self._connection.recv()
        except (EOFError, OSError) as error:
            too_slow = time.monotonic() >= end
            self.end()
            raise (ChildTooSlow if too_slow else ChildEnded) from error
        finally:
            limit.cancel()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def end(self) -> None:
        """End the process, if there is one."""
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._connection = self._process = None

    def _start(self) -> Connection:
        # Not by ``multiprocessing``, which runs the main program of the user again.
        connection, other = Pipe()
        with other:
            numbers = str(other.fileno()), str(self._memory or MEMORY)
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, json.dumps(sys.path), self._module, *numbers],
                stdin=subprocess.PIPE,  # its end tells the process that this one has ended
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # a library's remarks on a file are not for the user
                pass_fds=[other.fileno()],
                start_new_session=True,  # Ctrl-C is for this process, which then ends that one
            )
        self._connection = connection
        try:
            ready = connection.poll(_STARTING) and connection.recv()
        except (EOFError, OSError):
            ready = False
        if not ready:
            self.end()
            message = "The process that reads the files did not start."
            hint = "There may be too little memory. Run the same command again."
            raise BadSource("reader_not_started", message, hint)
        return connection


def serve(module: str, handle: int, memory: int) -> None:
    """Answer the requests of a connection until it is closed, with so many bytes of memory."""
    global MEMORY
    MEMORY = memory  # for messages
    Thread(target=_end_with_parent, name="end with parent", daemon=True).start()
    logging.disable()
    warnings.simplefilter("ignore")
    with suppress(ValueError, OSError):  # some systems do not know these limits
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    with Connection(handle) as connection, suppress(EOFError, OSError):
        connection.send(True)
        import_module(module).serve(connection)


def limit_memory(most: int) -> None:
    """Let this process take so many bytes of memory, fewer than ``MEMORY`` for what comes next."""
    with suppress(ValueError, OSError):
        # Not of addresses: a ZIM file of 100 GB is mapped.
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _end_with_parent() -> None:
    """End this process when its parent ends: a killed parent cannot stop its children."""
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)
