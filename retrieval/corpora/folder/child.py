"""Reads files in a process of its own, which may take only so much time and memory.

A small hostile file may unpack to gigabytes or never come to an end, and a damaged one may crash a
library; only the process that reads it is lost.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import subprocess
import sys
import warnings
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread

from retrieval.corpora.folder.document import Document, Unreadable
from retrieval.corpora.folder.formats import Format
from retrieval.errors import BadSource
from retrieval.fixes import install_corpora_command

SECONDS = 300  # that a file may take; 400 pages of PDF take about 3
MEMORY = 2 << 30  # bytes of addresses, the libraries' included
_STARTING = 60  # seconds that the process may take to start, on a busy computer
_MOST_TEXT = 64_000_000  # characters of a document
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    f" from {__name__} import serve; serve(*map(int, sys.argv[2:]))"
)
_DIVIDE = "Divide the file, or save its text as a .txt file."


class ChildReader:
    """The process; it starts with the first file, and anew after a file that it was ended for."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    def __enter__(self) -> ChildReader:
        """Return this reader."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._end()

    def read(self, path: Path, kind: Format) -> Document:
        """Return what a file says.

        Raises:
            Unreadable: it cannot be read, or not within the limits.
            BadSource: the process does not start.
        """
        connection = self._connection or self._start()
        try:
            connection.send((path, kind))
            if not connection.poll(SECONDS):
                self._end()
                raise Unreadable(f"the file takes more than {SECONDS} seconds to read.", _DIVIDE)
            answer = connection.recv()
        except (EOFError, OSError) as error:
            self._end()
            raise Unreadable(
                "the process that read the file was ended, perhaps for lack of memory.", _DIVIDE
            ) from error
        if isinstance(answer, Unreadable):
            raise answer
        document: Document = answer
        return document

    def _start(self) -> Connection:
        # Not by ``multiprocessing``, which runs the main program of the user again.
        connection, other = Pipe()
        with other:
            arguments = [json.dumps(sys.path), str(other.fileno()), str(MEMORY)]
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, *arguments],
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
            self._end()
            raise BadSource(
                "reader_not_started",
                "The process that reads HTML, PDF and Word files did not start.",
                "There may be too little memory. Run the same command again.",
            )
        return connection

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._connection = self._process = None


def serve(handle: int, memory: int) -> None:
    """Read the files that the connection names, with so many bytes, until it is closed."""
    Thread(target=_end_with_parent, name="end with parent", daemon=True).start()
    logging.disable()
    warnings.simplefilter("ignore")
    with suppress(ValueError, OSError):  # some systems do not know this limit
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    with Connection(handle) as connection, suppress(EOFError, OSError):
        connection.send(True)
        while True:
            path, kind = connection.recv()
            connection.send(_answer(path, kind, memory))


def _end_with_parent() -> None:
    """End this process when its parent ends: a killed parent cannot stop its children."""
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


def _answer(path: Path, kind: Format, memory: int) -> Document | Unreadable:
    try:
        document = kind.reader()(path)
    except Unreadable as error:
        return error
    except OSError as error:
        return Unreadable(f"it cannot be read ({error.strerror}).", "Check its permissions.")
    except ImportError as error:
        return Unreadable(f"it cannot be read ({error}).", f"Run: {install_corpora_command()}")
    except MemoryError:
        return Unreadable(f"the file needs more than {memory >> 20:,} MiB of memory.", _DIVIDE)
    except Exception as error:  # a library's own, on a file that nobody has foreseen
        return Unreadable(
            f"the file cannot be read ({type(error).__name__}).",
            "Save its text as a .txt file.",
        )
    if sum(len(block.text) for block in document.blocks) > _MOST_TEXT:
        return Unreadable(f"the file has more than {_MOST_TEXT:,} characters of text.", _DIVIDE)
    return document
