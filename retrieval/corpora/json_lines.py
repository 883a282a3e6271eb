"""Reads JSON lines block by block, and writes them; every error names the file and the line.

The files may be compressed, and may be damaged.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, Protocol

from retrieval.corpora.corpus import BadPage
from retrieval.corpora.decoding import utf_16_of
from retrieval.errors import BadSource

BLOCK = 1 << 20  # bytes
LONGEST = 1 << 28  # bytes of a line; the memory of a build is bounded by it
_PIECE = 1 << 16  # bytes
_START = 256  # bytes of a file that show its format


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


def files_in(place: Path, endings: tuple[str, ...]) -> list[Path]:
    """Return the file at a place, or the files below it whose names have these endings."""
    if place.is_file():
        return [place]
    return sorted(p for p in place.rglob("*") if p.name.endswith(endings) and p.is_file())


def fingerprint_of(files: Iterable[Path], more: bytes = b"") -> str:
    """Return a digest of the files' names and contents, and of ``more``.

    Raises:
        BadSource: one cannot be read.
    """
    digest = hashlib.sha256()
    for path in files:
        with opened(path) as stream:
            digest.update(path.name.encode("utf-8", "surrogateescape"))
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    digest.update(more)
    return digest.hexdigest()


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


class Unpacked:
    """A file's content; where it is damaged it ends, and ``damage`` says why."""

    def __init__(self, stream: IO[bytes], content: Any) -> None:
        """Read ``content``, which is unpacked from ``stream``, or is ``stream`` itself."""
        self._stream, self._content = stream, content
        self.damage = ""

    def position(self) -> int:
        """Return how many bytes of the file have been read."""
        return self._stream.tell()

    def read(self, size: int, /) -> bytes:
        """Return so many bytes, or less at the end."""
        pieces: list[bytes] = []
        while size > 0 and not self.damage:
            try:
                # Not read(), which loses what it has read before it comes to the damage.
                piece = self._content.read1(min(size, _PIECE))
            except EOFError:
                self.damage = "the file is cut off here"
            except (OSError, zlib.error) as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise  # the disk
                self.damage = f"the file is damaged here ({error})"
            else:
                if not piece:
                    break
                pieces.append(piece)
                size -= len(piece)
        return b"".join(pieces)

    def line_blocks(self, name: str) -> Iterator[tuple[LineBlock, int]]:
        """Yield the lines, each block with its bytes in the file; ``name`` is for messages.

        A last block without lines names the damage, unless it cuts off a line, which is reported as
        such.

        Raises:
            BadSource: a line is too long.
        """
        last = LineBlock(name, 1, b"\n")
        number = read = 0
        for last in line_blocks(name, self):
            number = last.first + last.content.count(b"\n") - 1
            more = self.position() - read
            read += more
            yield last, more
        if self.damage and last.content.endswith(b"\n"):
            yield LineBlock(name, number + 1, b"", self.damage), 0


class _Recoded:
    """The content of a file in UTF-16, in UTF-8."""

    def __init__(self, content: Any, encoding: str) -> None:
        self._content = content
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")

    def read1(self, size: int, /) -> bytes:
        """Return some bytes, none at the end."""
        while piece := self._content.read1(size):
            if text := self._decoder.decode(piece):
                return text.encode("utf-8", "replace")
        return b""


@contextmanager
def unpacked(path: Path) -> Iterator[Unpacked]:
    """Open a file; its first bytes say how it is packed and encoded, whatever its name is.

    Raises:
        BadSource: it cannot be read.
    """
    with opened(path) as stream:
        start = stream.peek(_START)[:_START]
        content: Any = stream
        if start.startswith(b"\x1f\x8b"):
            content = gzip.GzipFile(fileobj=stream)
        elif start.startswith(b"BZh"):
            content = bz2.BZ2File(stream)
        elif b"\0" in start and not utf_16_of(start):
            nothing = Unpacked(stream, stream)
            nothing.damage = "the file is not JSON, or is damaged"
            yield nothing
            return
        with suppress(EOFError, OSError, zlib.error):  # reported when the content is read
            if encoding := utf_16_of(content.peek(_START)):
                content = _Recoded(content, encoding)
        yield Unpacked(stream, content)
