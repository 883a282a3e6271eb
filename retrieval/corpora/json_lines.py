"""Reads and writes JSON lines, also of files that are compressed or damaged."""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from retrieval.corpora.corpus import BadPage, Page
from retrieval.corpora.decoding import utf_16_of
from retrieval.errors import BadSource

BLOCK = 1 << 20  # bytes
LONGEST = 1 << 28  # bytes of a line; the memory of a build is bounded by it
_PIECE = 1 << 16  # bytes
_START = 256  # bytes of a file that show its format
_SUFFIX = re.compile(r"(?<=.)\.(?:json.*|\w+)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Records:
    """A chunk of a corpus: whole lines of a file, or items of a list, each a JSON object in UTF-8.

    ``pages`` makes pages of the place and the object of one with a text under each of ``keys``.
    ``first`` is the number of the first, from 1. ``damage``: why the file cannot be read after
    them, "" if it can; ``hint``: what to do then.
    """

    pages: Callable[[str, dict[str, Any]], Iterable[Page | BadPage]]
    keys: tuple[str, ...] = ()
    name: str = ""
    first: int = 1
    content: bytes = b""
    damage: str = ""
    hint: str = "Fetch the file again."
    unit: str = "line"

    def __iter__(self) -> Iterator[Page | BadPage]:
        """Yield the pages, and what is wrong; blank lines say nothing."""
        number = self.first - 1
        for number, line in enumerate(self.content.splitlines(keepends=True), self.first):
            if line.strip():
                where = f"{self.name}, {self.unit} {number}"
                record = record_in(where, line, self.keys)
                yield from [record] if isinstance(record, BadPage) else self.pages(where, record)
        if self.damage:
            where = f"{self.name}, {self.unit} {number + 1}"
            yield BadPage(f"{where}: {self.damage}.", self.hint)


def encoded_line(record: Mapping[str, Any]) -> bytes:
    """Return the record as one line of JSON in UTF-8."""
    try:
        text = json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can write
        text = json.dumps(record).encode()
    return text + b"\n"


def record_in(where: str, line: bytes, keys: tuple[str, ...]) -> dict[str, Any] | BadPage:
    """Return the object of a line with a text under each of ``keys``, or what is wrong with it."""
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
        return BadPage(f"{where}: not a JSON object.", "Correct it, or remove it.")
    for key in keys:
        if not isinstance(record.get(key), str):
            return BadPage(f"{where}: no text under {key!r}.", "Correct that line.")
    return record


class FilesCorpus:
    """What corpora of files share: their name, source, size in bytes, and a digest."""

    date = ""
    language = ""

    def __init__(self, kind: str, place: Path, endings: Sequence[str], more: bytes = b"") -> None:
        """Find the file at a place, or those in a folder and below with one of the endings.

        ``more``: what the digest of their content depends on, too.

        Raises:
            BadSource: there are none.
        """
        self.files = [place] if place.is_file() else []
        if not self.files:
            found = (path for path in place.rglob("[!.]*") if path.name.endswith(tuple(endings)))
            self.files = sorted(path for path in found if path.is_file())
        if not self.files:
            message = f"{place} contains no {' or '.join(endings)} files."
            hint = f"Give a file, or a folder of them: {kind}:PATH."
            raise BadSource("source_missing", message, hint)
        whole = place.resolve()
        self.name = _SUFFIX.sub("", whole.name) if place.is_file() else whole.name
        self.source = f"{kind}:{whole}"
        self._more = more

    def fingerprint(self) -> str:
        """Return a digest of the files' names and contents.

        Raises:
            BadSource: one cannot be read.
        """
        return fingerprint_of([(path.name, path) for path in self.files], self._more)

    def size(self) -> int:
        """Return the bytes of the files."""
        return sum(path.stat().st_size for path in self.files)

    def in_chunks(self, records: Records) -> Iterator[tuple[Records, int]]:
        """Yield the lines in order of the files' names, each chunk with its bytes in the file."""
        for path in self.files:
            with unpacked(path) as content:
                yield from content.in_chunks(replace(records, name=str(path)))


def fingerprint_of(files: Sequence[tuple[str, Path]], more: bytes = b"") -> str:
    """Return a digest of files, each with a name, and of ``more``.

    Raises:
        BadSource: one cannot be read.
    """
    digest = hashlib.sha256()
    for name, path in files:
        with opened(path) as stream:
            digest.update(name.encode("utf-8", "surrogateescape"))
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    digest.update(more)
    return digest.hexdigest()


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
        message = f"{path} cannot be read ({error.strerror})."
        hint = "Check the path and its permissions."
        raise BadSource("source_unreadable", message, hint) from error


class Unpacked:
    """A file's content; where it is damaged it ends, and ``damage`` says why."""

    def __init__(self, stream: IO[bytes], content: Any, damage: str = "") -> None:
        """Read ``content``, which is unpacked from ``stream``, or is ``stream`` itself."""
        self._stream, self._content, self.damage = stream, content, damage

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

    def in_chunks(self, records: Records) -> Iterator[tuple[Records, int]]:
        """Yield the lines in chunks like ``records``, each with its bytes in the file.

        The last one names the damage, unless it cuts off a line, which says so.

        Raises:
            BadSource: a line is too long.
        """
        first, read, rest = 1, 0, b""
        while piece := self.read(BLOCK):
            whole, newline, rest = (rest + piece).rpartition(b"\n")
            if newline:
                more = self.position() - read
                yield replace(records, first=first, content=whole + newline), more
                first, read = first + whole.count(b"\n") + 1, read + more
            elif len(rest) > LONGEST:
                message = f"{records.name}, line {first}: longer than {LONGEST >> 20} MiB."
                hint = "Break the file into lines, one page each."
                raise BadSource("source_not_json", message, hint)
        if rest or self.damage:
            damage = "" if rest else self.damage
            last = replace(records, first=first, content=rest, damage=damage)
            yield last, self.position() - read


class _Recoded:
    """The content of a file in UTF-16, in UTF-8."""

    def __init__(self, content: Any, encoding: str) -> None:
        self._content = content
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")

    def read1(self, size: int, /) -> bytes:
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
            yield Unpacked(stream, stream, "the file is not JSON, or is damaged")
            return
        with suppress(EOFError, OSError, zlib.error):  # reported when the content is read
            if encoding := utf_16_of(content.peek(_START)):
                content = _Recoded(content, encoding)
        yield Unpacked(stream, content)
