"""Reads files that may be compressed, and may be damaged."""

from __future__ import annotations

import bz2
import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from retrieval.corpora.json_lines import LineBlock, line_blocks, opened

_PIECE = 1 << 16  # bytes
_START = 256  # bytes of a file that show its format
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# JSON begins with a bracket, and goes on with a quotation mark, another bracket or white space.
_LITTLE_ENDIAN = re.compile(rb"(?:[\s{\[]\0)[\s{\[\"]\0")
_BIG_ENDIAN = re.compile(rb"(?:\0[\s{\[])\0[\s{\[\"]")


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
        elif b"\0" in start and not _utf_16(start):
            nothing = Unpacked(stream, stream)
            nothing.damage = "the file is not JSON, or is damaged"
            yield nothing
            return
        with suppress(EOFError, OSError, zlib.error):  # reported when the content is read
            if encoding := _utf_16(content.peek(_START)):
                content = _Recoded(content, encoding)
        yield Unpacked(stream, content)


def _utf_16(start: bytes) -> str | None:
    """Return which UTF-16 a file is that begins so; without a mark its first letters are ASCII."""
    if start.startswith(_UTF_16):
        return "utf-16"
    if _LITTLE_ENDIAN.match(start):
        return "utf-16-le"
    return "utf-16-be" if _BIG_ENDIAN.match(start) else None
