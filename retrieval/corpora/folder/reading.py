"""Reads files in a process of its own (``child_process``), within limits of time and memory."""

from __future__ import annotations

from multiprocessing.connection import Connection
from pathlib import Path

from retrieval.corpora import child_process
from retrieval.corpora.child_process import ChildEnded, ChildProcess, ChildTooSlow, limit_memory
from retrieval.corpora.folder.document import FileText, Format, Unreadable
from retrieval.system.fixes import install_service_command

# What a file may take, by its size: a PDF of 5,000 pages takes about 180 seconds, and a page of a
# scanned one 3 for 30 kB.
SECONDS = 600
_SECONDS_AT_LEAST, _SECONDS_PER_MEGABYTE = 30, 100
_MEMORY_AT_LEAST, _MEMORY_PER_BYTE = 768 << 20, 100
_MOST_TEXT = 64_000_000  # characters of a document
DIVIDE = "Divide the file, or save its text as a .txt file."


def read_file(
    child: ChildProcess,
    path: Path,
    kind: Format,
    password: str | None = None,
    seconds: float | None = None,
) -> FileText:
    """Return what a file says, read by ``child``, a process of this module.

    ``password`` opens an encrypted file, if its format knows that. ``seconds``: that it may take,
    if not as many as its size allows.

    Raises:
        Unreadable: it cannot be read, or not within the limits.
        BadSource: the process does not start.
    """
    if seconds is None:
        megabytes = path.stat().st_size / 1e6
        seconds = min(SECONDS, _SECONDS_AT_LEAST + round(_SECONDS_PER_MEGABYTE * megabytes))
    try:
        child.send((path, kind, password))
        document: FileText = child.receive(seconds)
    except ChildEnded as error:
        why = "the process that read the file was ended, perhaps for lack of memory."
        if isinstance(error, ChildTooSlow):
            why = f"the file takes more than {seconds:g} seconds to read."
        raise Unreadable(why, DIVIDE) from error
    return document


def serve(connection: Connection) -> None:
    """Read the files that the connection names, until it is closed."""
    while True:
        connection.send(_answer(*connection.recv()))


def _answer(path: Path, kind: Format, password: str | None) -> FileText | Unreadable:
    limit = child_process.MEMORY
    try:
        limit = min(limit, _MEMORY_AT_LEAST + _MEMORY_PER_BYTE * path.stat().st_size)
        limit_memory(limit)
        read = kind.reader()
        document = read(path, password) if password and kind.encrypts else read(path)
    except Unreadable as error:
        return error
    except OSError as error:
        return Unreadable(f"it cannot be read ({error.strerror}).", "Check its permissions.")
    except ImportError as error:
        return Unreadable(f"it cannot be read ({error}).", f"Run: {install_service_command()}")
    except MemoryError:
        return Unreadable(f"the file needs more than {limit >> 20:,} MiB of memory.", DIVIDE)
    except Exception as error:  # a library's own, on a file that was not foreseen
        why = f"the file cannot be read ({type(error).__name__})."
        return Unreadable(why, "Save its text as a .txt file.")
    if sum(len(block.text) for block in document.blocks) > _MOST_TEXT:
        return Unreadable(f"the file has more than {_MOST_TEXT:,} characters of text.", DIVIDE)
    return document
