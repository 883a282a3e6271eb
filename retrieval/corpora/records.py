"""Documents from the records of other programs: JSON objects, and rows of tables.

``jsonl:FILE``: one JSON object a line, or one list of objects; compressed or not. Each has ``id``,
``text``, and perhaps ``title`` and ``url``.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import fields as parts_of
from functools import partial
from pathlib import Path
from typing import Any

from retrieval.corpora.cleaning import clean, reason_of, web_address
from retrieval.corpora.corpus import BadPage, Page, bad_id
from retrieval.corpora.decoding import in_utf_8
from retrieval.corpora.json_lines import (
    BLOCK,
    LONGEST,
    FilesCorpus,
    Records,
    Unpacked,
    encoded_line,
    opened,
    unpacked,
)
from retrieval.corpora.passages import Block, paragraphs, passages
from retrieval.errors import BadSource

_PACKED = (b"PK\x03\x04", b"\xfd7zX", b"\x28\xb5\x2f\xfd")
_START = 256  # bytes


@dataclass(frozen=True, slots=True)
class Fields:
    """The keys or columns that hold the parts of a document; those of title and url may lack."""

    id: str = "id"
    title: str = "title"
    text: str = "text"
    url: str = "url"

    @classmethod
    def read(cls, written: str) -> Fields:
        """Return those that are written as ``id=_id,text=contents``; "" names the usual ones.

        Raises:
            BadSource: it is not written like this.
        """
        pairs = [pair.partition("=") for pair in written.split(",") if written]
        named = {part.strip(): name.strip() for part, _, name in pairs}
        known = [part.name for part in parts_of(cls)]
        if len(named) < len(pairs) or not all(named.values()) or not set(named) <= set(known):
            hint = f"Name keys or columns for {', '.join(known)}: --fields id=_id,text=contents."
            raise BadSource("source_unknown", f"--fields {written!r} cannot be used.", hint)
        return cls(**named)

    def digest(self) -> bytes:
        """Return what makes the fingerprint of a corpus another one; nothing for usual names."""
        return b"" if self == USUAL else repr(self).encode("utf-8", "surrogatepass")


USUAL = Fields()


def pages_of(
    where: str,
    record: Mapping[str, Any],
    fields: Fields,
    blocks: Callable[[str], Iterable[Block]],
) -> Iterator[Page | BadPage]:
    """Yield the document of a record, a long one in passages, or why it cannot be read.

    ``where``: its place, for messages. ``blocks`` divides the text. An id may be a number. Without
    a title the id is the title.
    """
    text = record.get(fields.text)
    parts = {
        "id": _written(record.get(fields.id)),
        "title": _written(record.get(fields.title) or ""),
        "text": text if isinstance(text, str) else None,
    }
    if lacking := next((part for part, value in parts.items() if value is None), None):
        name: str = getattr(fields, lacking)
        names = ", ".join(map(repr, list(record)[:20])) if name not in record else ""
        hint = f"If one of {names} holds it, add: --fields {lacking}=NAME."
        yield BadPage(
            f"{where}: no text under {name!r}.", hint if names else "Correct that record."
        )
        return
    page_id, title, text = (value or "" for value in parts.values())
    if bad := bad_id(page_id, where):
        yield bad
    else:
        url = web_address(record.get(fields.url))
        yield from passages(page_id, title or page_id, url, blocks(text))


def _written(value: object) -> str | None:
    """Return a text or a number as text; some tables hold whole numbers as 7.0."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(int(value)) if value % 1 == 0 else str(value)
    return None


class JsonlCorpus(FilesCorpus):
    """The documents of one file."""

    def __init__(self, path: Path, fields: Fields) -> None:
        """Find the file; ``fields`` are the keys that are read.

        Raises:
            BadSource: it is a folder, or is compressed in another way than by gzip or bzip2.
        """
        if path.is_dir():
            raise BadSource("source_missing", f"{path} is a folder.", "Give a file: jsonl:FILE.")
        with opened(path) as stream:
            if stream.read(4).startswith(_PACKED):
                raise BadSource("source_not_json", f"{path} is compressed.", "Unpack it first.")
        super().__init__("jsonl", path, (), fields.digest())
        self._fields = fields

    def chunks(self) -> Iterator[tuple[Records, int]]:
        """Yield the documents in the file's order."""
        (path,) = self.files
        with unpacked(path) as content:
            start = content.read(_START)
        mark = len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0
        pages = partial(pages_of, fields=self._fields, blocks=_paragraphs)
        records = Records(pages, name=str(path))
        with unpacked(path) as content:
            is_list = start[mark:].lstrip().startswith(b"[")
            content.read(mark if is_list else 0)
            chunks = _items(records, content) if is_list else content.in_chunks(records)
            for chunk, size in chunks:
                yield replace(chunk, content=in_utf_8(chunk.content)), size


def _paragraphs(text: str) -> Iterable[Block]:
    return map(Block, paragraphs(text))


class _Bounded:
    """A stream in UTF-8 that ends with an error where one item is too long for memory."""

    def __init__(self, name: str, content: Unpacked) -> None:
        self._name, self._content = name, content
        self._cut = b""  # the beginning of a character
        self.of_item = 0  # bytes that were read

    def read(self, size: int, /) -> bytes:
        self.of_item += size
        if self.of_item > LONGEST:
            message = f"{self._name}: an item is longer than {LONGEST >> 20} MiB."
            hint = "Divide the list into objects, one page each."
            raise BadSource("source_not_json", message, hint)
        read = self._cut + self._content.read(size)
        end = codecs.utf_8_decode(read, "replace", False)[1]
        self._cut = read[end:]
        return in_utf_8(read[:end])


def _items(records: Records, content: Unpacked) -> Iterator[tuple[Records, int]]:
    """Yield the objects of a list, read one by one, as lines; each chunk with its bytes."""
    import ijson

    stream = _Bounded(records.name, content)
    chunk = replace(records, unit="item", hint="Correct the file.")
    lines: list[bytes] = []
    size = read = 0
    damage = ""
    try:
        for item in ijson.items(stream, "item", use_float=True):
            stream.of_item = 0
            lines.append(encoded_line(item))
            size += len(lines[-1])
            if size > BLOCK:
                yield replace(chunk, content=b"".join(lines)), content.position() - read
                chunk, read = replace(chunk, first=chunk.first + len(lines)), content.position()
                lines, size = [], 0
    except (ijson.JSONError, UnicodeDecodeError) as error:
        why = content.damage or f"not JSON ({reason_of(error)})"
        damage = f"{why}; the rest is left out"
    yield replace(chunk, content=b"".join(lines), damage=damage), content.position() - read
