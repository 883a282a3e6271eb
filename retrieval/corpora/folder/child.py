"""Reads files in a process of its own (``child_process``)."""

from __future__ import annotations

from multiprocessing.connection import Connection
from pathlib import Path

from retrieval.corpora import child_process
from retrieval.corpora.child_process import ChildEnded, ChildProcess, ChildTooSlow
from retrieval.corpora.folder.document import FileText, Format, Unreadable
from retrieval.system.fixes import install_service_command

SECONDS = 600  # that a file may take; a PDF of 5,000 pages takes about 180
_MOST_TEXT = 64_000_000  # characters of a document
_DIVIDE = "Divide the file, or save its text as a .txt file."


def read(
    child: ChildProcess,
    path: Path,
    kind: Format,
    password: str | None = None,
    seconds: float | None = None,
) -> FileText:
    """Return what a file says; ``child`` is a process of this module.

    ``password`` opens an encrypted file, if its format knows that. ``seconds``: that it may take,
    if not ``SECONDS``.

    Raises:
        Unreadable: it cannot be read, or not within the limits.
        BadSource: the process does not start.
    """
    seconds = SECONDS if seconds is None else seconds
    try:
        child.send((path, kind, password))
        answer = child.receive(seconds)
    except ChildTooSlow as error:
        raise Unreadable(
            f"the file takes more than {seconds:g} seconds to read.", _DIVIDE
        ) from error
    except ChildEnded as error:
        raise Unreadable(
            "the process that read the file was ended, perhaps for lack of memory.", _DIVIDE
        ) from error
    if isinstance(answer, Unreadable):
        raise answer
    document: FileText = answer
    return document


def serve(connection: Connection) -> None:
    """Read the files that the connection names, until it is closed."""
    while True:
        connection.send(_answer(*connection.recv()))


def _answer(path: Path, kind: Format, password: str | None) -> FileText | Unreadable:
    try:
        read = kind.reader()
        document = read(path, password) if password and kind.encrypts else read(path)
    except Unreadable as error:
        return error
    except OSError as error:
        return Unreadable(f"it cannot be read ({error.strerror}).", "Check its permissions.")
    except ImportError as error:
        return Unreadable(f"it cannot be read ({error}).", f"Run: {install_service_command()}")
    except MemoryError:
        limit = child_process.MEMORY >> 20
        return Unreadable(f"the file needs more than {limit:,} MiB of memory.", _DIVIDE)
    except Exception as error:  # a library's own, on a file that nobody has foreseen
        return Unreadable(
            f"the file cannot be read ({type(error).__name__}).",
            "Save its text as a .txt file.",
        )
    if sum(len(block.text) for block in document.blocks) > _MOST_TEXT:
        return Unreadable(f"the file has more than {_MOST_TEXT:,} characters of text.", _DIVIDE)
    return document
