"""Reads JSON lines block by block, and writes them; every error names the file and the line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, Protocol

from retrieval.corpora.corpus import BadPage
from retrieval.errors import BadSource

BLOCK = 1 << 20  # bytes
LONGEST = 1 << 28  # bytes of a line; the memory of a build is bounded by it


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""
        ...


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Whole lines of a file; ``first`` is the number of the first, ``name`` is for messages.

    ``damage``: why the file cannot be read after them, "" if it can.
    """

    name: str
    first: int
    content: bytes
    damage: str = ""

    def records(self, keys: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Any] | BadPage]]:
        """Yield the position of each line with its object; blank lines are skipped.

        If a line is not a JSON object in UTF-8 with a string under each of ``keys``, the error is
        yielded instead of the object, and so is the damage after the last line.
        """
        for number, line in enumerate(self.content.splitlines(keepends=True), self.first):
            if line.strip():
                where = f"{self.name}, line {number}"
                yield where, _record(where, line, keys)
        if self.damage:
            where = f"{self.name}, line {self.first}"
            yield where, BadPage(f"{where}: {self.damage}.", "Fetch the file again.")


def line_blocks(name: str, stream: Readable) -> Iterator[LineBlock]:
    """Yield a file's lines in blocks of about ``BLOCK`` bytes.

    Raises:
        BadSource: a line is longer than ``LONGEST``.
    """
    first, rest = 1, b""
    while read := stream.read(BLOCK):
        whole, newline, rest = (rest + read).rpartition(b"\n")
        if newline:
            yield LineBlock(name, first, whole + newline)
            first += whole.count(b"\n") + 1
        elif len(rest) > LONGEST:
            raise BadSource(
                "source_not_json",
                f"{name}, line {first}: longer than {LONGEST >> 20} MiB.",
                "Break the file into lines, one page each.",
            )
    if rest:
        yield LineBlock(name, first, rest)


def read_json_lines(path: Path, keys: tuple[str, ...]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each line's number and object; blank lines are skipped.

    Raises:
        BadSource: the file cannot be read, is not UTF-8, or a line is not a JSON object
            with a string under each of ``keys``.
    """
    with opened(path) as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                record = _record(f"{path}, line {number}", line, keys)
                if isinstance(record, BadPage):
                    raise BadSource("source_not_json", record.message, record.hint)
                yield number, record


def encoded_line(record: Mapping[str, Any]) -> bytes:
    """Return the record as one line of JSON in UTF-8."""
    try:
        text = json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can write
        text = json.dumps(record).encode()
    return text + b"\n"


@contextmanager
def opened(path: Path) -> Iterator[BufferedReader]:
    """Open a file to be read.

    Raises:
        BadSource: it cannot be opened, or cannot be read to its end.
    """
    try:
        with path.open("rb") as stream:
            yield stream
    except OSError as error:
        raise BadSource(
            "source_unreadable",
            f"{path} cannot be read ({error.strerror}).",
            "Check the path and its permissions.",
        ) from error


def _record(where: str, line: bytes, keys: tuple[str, ...]) -> dict[str, Any] | BadPage:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return BadPage(f"{where}: byte {error.start + 1} is not UTF-8.", "Save the file as UTF-8.")
    except (ValueError, RecursionError):
        if not line.endswith(b"\n"):
            return BadPage(f"{where}: cut off before its end.", "Fetch the file again.")
        hint = "Correct or remove that line."
        if line.strip() in (b"[", b"{"):  # of a file with one value on many lines
            hint = "Write each object on one line, without a list around them."
        return BadPage(f"{where}: not JSON.", hint)
    if not isinstance(record, dict):
        return BadPage(f"{where}: not a JSON object.", "Correct that line.")
    for key in keys:
        if not isinstance(record.get(key), str):
            return BadPage(f"{where}: no text under {key!r}.", "Correct that line.")
    return record
