"""Reads files in a process of its own, which may take only so much time and memory.

A small hostile file may unpack to gigabytes or never come to an end, and a damaged one may crash a
library; only the process that reads it is lost.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import resource
import signal
import warnings
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path

from retrieval.corpora.folder.document import Document, Unreadable
from retrieval.corpora.folder.formats import Format
from retrieval.fixes import install_corpora_command
from retrieval.on_all_cores import end_with_parent

SECONDS = 300  # that a file may take; 400 pages of PDF take about 10
MEMORY = 2 << 30  # bytes of addresses, the libraries' included
_STARTING = 60  # seconds that the process may take to start, on a busy computer
_MOST_TEXT = 64_000_000  # characters of a document
_DIVIDE = "Divide the file, or save its text as a .txt file."


class ChildReader:
    """The process; it starts with the first file, and anew after a file that it was ended for."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._process: SpawnProcess | None = None
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
        context = multiprocessing.get_context("spawn")
        connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        self._connection = connection
        with suppress(EOFError, OSError):  # the next use of the connection says so
            if connection.poll(_STARTING):
                connection.recv()
        return connection

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._connection = self._process = None


def _serve(connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to end
    end_with_parent()
    logging.disable()  # a library's remarks on a file are not for the user
    warnings.simplefilter("ignore")
    with suppress(ValueError, OSError):  # some systems do not know this limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    connection.send(os.getpid())  # ready
    with suppress(EOFError, OSError):  # the parent needs no more
        while True:
            connection.send(_answer(*connection.recv()))


def _answer(path: Path, kind: Format) -> Document | Unreadable:
    try:
        document = kind.reader()(path)
    except Unreadable as error:
        return error
    except OSError as error:
        return Unreadable(f"it cannot be read ({error.strerror}).", "Check its permissions.")
    except ImportError as error:
        return Unreadable(f"it cannot be read ({error}).", f"Run: {install_corpora_command()}")
    except MemoryError:
        return Unreadable(f"the file needs more than {MEMORY >> 30} GiB of memory.", _DIVIDE)
    except Exception as error:  # a library's own, on a file that nobody has foreseen
        return Unreadable(
            f"the file cannot be read ({type(error).__name__}).",
            "Save its text as a .txt file.",
        )
    if sum(len(block.text) for block in document.blocks) > _MOST_TEXT:
        return Unreadable(f"the file has more than {_MOST_TEXT:,} characters of text.", _DIVIDE)
    return document
