"""Documents from the records of other programs: JSON objects, and rows of tables.

``jsonl:FILE``: one JSON object a line, or one list of objects; compressed or not. Each has ``id``,
``text``, and perhaps ``title`` and ``url``.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import fields as parts_of
from decimal import Decimal
from pathlib import Path
from typing import Any

from retrieval.corpora.cleaning import clean, web_address
from retrieval.corpora.corpus import BadPage, Page, bad_id
from retrieval.corpora.decoding import in_utf_8
from retrieval.corpora.json_lines import BLOCK, LONGEST, LineBlock, Unpacked, opened, unpacked
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
            raise BadSource(
                "source_unknown",
                f"--fields {written!r} cannot be used.",
                f"Name keys or columns for {', '.join(known)}: --fields id=_id,text=contents.",
            )
        return cls(**named)

    def names(self) -> tuple[str, ...]:
        """Return the four names."""
        return self.id, self.title, self.text, self.url

    def digest(self) -> bytes:
        """Return what makes the fingerprint of a corpus another one; nothing for usual names."""
        return b"" if self == USUAL else repr(self).encode("utf-8", "surrogatepass")


USUAL = Fields()


def pages_of(
    record: Mapping[str, Any],
    fields: Fields,
    where: str,
    blocks: Callable[[str], Iterable[Block]],
) -> Iterator[Page | BadPage]:
    """Yield the document of a record, a long one in passages, or why it cannot be read.

    ``where``: its place, for messages. ``blocks`` divides the text. An id may be a number. Without
    a title the id is the title.
    """
    page_id = _written(record.get(fields.id))
    title = _written(record.get(fields.title) or "")
    text = record.get(fields.text)
    if page_id is None:
        yield _lacks(record, where, "id", fields.id)
    elif title is None:
        yield _lacks(record, where, "title", fields.title)
    elif not isinstance(text, str):
        yield _lacks(record, where, "text", fields.text)
    elif bad := bad_id(page_id, where):
        yield bad
    else:
        url = web_address(record.get(fields.url))
        yield from passages(page_id, title or page_id, url, blocks(text))


def _written(value: object) -> str | None:
    """Return a text or a number as text; some tables hold whole numbers as 7.0."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return str(int(value)) if value % 1 == 0 else str(value)
    return None


def _lacks(record: Mapping[str, Any], where: str, part: str, name: str) -> BadPage:
    hint = "Correct that record."
    if name not in record:
        names = ", ".join(map(repr, list(record)[:20]))
        hint = f"If one of {names} holds it, add: --fields {part}=NAME." if names else hint
    return BadPage(f"{where}: no text under {name!r}.", hint)


class JsonlCorpus:
    """The documents of one file."""

    date = ""
    language = ""

    def __init__(self, path: Path, fields: Fields) -> None:
        """Find the file; ``fields`` are the keys that are read.

        Raises:
            BadSource: it is a folder, or is compressed in another way than by gzip or bzip2.
        """
        if path.is_dir():
            raise BadSource("source_missing", f"{path} is a folder.", "Give a file: jsonl:FILE.")
        with opened(path) as stream:
            start = stream.read(4)
        if start.startswith(_PACKED):
            raise BadSource("source_not_json", f"{path} is compressed.", "Unpack it first.")
        self.name = path.name.partition(".json")[0] or path.stem
        self.source = f"jsonl:{path.resolve()}"
        self._path = path
        self._fields = fields

    def fingerprint(self) -> str:
        """Return a digest of the file, and of the keys that are read."""
        with opened(self._path) as stream:
            digest = hashlib.file_digest(stream, "sha256")
        digest.update(self._fields.digest())
        return digest.hexdigest()

    def size(self) -> int:
        """Return the file's bytes."""
        return self._path.stat().st_size

    def chunks(self) -> Iterator[tuple[JsonlChunk | ListChunk, int]]:
        """Yield the documents in the file's order."""
        with unpacked(self._path) as content:
            start = content.read(_START)
        mark = len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0
        with unpacked(self._path) as content:
            if start[mark:].lstrip().startswith(b"["):
                content.read(mark)
                yield from _list_chunks(str(self._path), content, self._fields)
                return
            for block, size in content.line_blocks(str(self._path)):
                yield JsonlChunk(block, self._fields), size


@dataclass(frozen=True, slots=True)
class JsonlChunk:
    """Some lines of the file."""

    block: LineBlock
    fields: Fields

    def __iter__(self) -> Iterator[Page | BadPage]:
        """Yield a document for each line, a long one in passages."""
        block = replace(self.block, content=in_utf_8(self.block.content))
        for where, record in block.records(()):
            if isinstance(record, BadPage):
                yield record
            else:
                yield from pages_of(record, self.fields, where, _blocks)


@dataclass(frozen=True, slots=True)
class ListChunk:
    """Some objects of a list; ``first`` is the number of the first, from 1.

    ``damage``: why no more of the list can be read, ``None`` if it can.
    """

    name: str
    first: int
    records: tuple[dict[str, Any] | None, ...]
    fields: Fields
    damage: BadPage | None = None

    def __iter__(self) -> Iterator[Page | BadPage]:
        """Yield a document for each object, a long one in passages."""
        for number, record in enumerate(self.records, self.first):
            where = f"{self.name}, item {number}"
            if record is None:
                yield BadPage(f"{where}: not a JSON object.", "Correct that item.")
            else:
                yield from pages_of(record, self.fields, where, _blocks)
        if self.damage is not None:
            yield self.damage


class _Bounded:
    """A stream in UTF-8 that ends with an error where one item is too long for memory."""

    def __init__(self, name: str, content: Unpacked) -> None:
        self._name, self._content = name, content
        self._cut = b""  # the beginning of a character
        self.of_item = self.of_chunk = 0  # bytes that were read

    def read(self, size: int, /) -> bytes:
        """Return about so many bytes, none at the end."""
        self.of_item += size
        self.of_chunk += size
        if self.of_item > LONGEST:
            raise BadSource(
                "source_not_json",
                f"{self._name}: an item is longer than {LONGEST >> 20} MiB.",
                "Divide the list into objects, one page each.",
            )
        read = self._cut + self._content.read(size)
        end = codecs.utf_8_decode(read, "replace", False)[1]
        self._cut = read[end:]
        return in_utf_8(read[:end])


def _list_chunks(name: str, content: Unpacked, fields: Fields) -> Iterator[tuple[ListChunk, int]]:
    """Yield the objects of a list, reading them one by one, each chunk with its bytes.

    Raises:
        BadSource: an item is too long.
    """
    import ijson

    stream = _Bounded(name, content)
    first, read = 1, 0
    records: list[dict[str, Any] | None] = []

    def chunk(damage: BadPage | None = None) -> tuple[ListChunk, int]:
        nonlocal first, read, records
        made = ListChunk(name, first, tuple(records), fields, damage)
        more = content.position() - read
        first, read, records = first + len(records), read + more, []
        return made, more

    try:
        for item in ijson.items(stream, "item"):
            stream.of_item = 0
            records.append(_shallow(item) if isinstance(item, dict) else None)
            if stream.of_chunk > BLOCK:
                stream.of_chunk = 0
                yield chunk()
    except (ijson.JSONError, UnicodeDecodeError) as error:
        where = f"{name}, item {first + len(records)}"
        why = content.damage or f"not JSON ({' '.join(str(error).split())[:200]})"
        yield chunk(BadPage(f"{where}: {why}; the rest is left out.", "Correct the file."))
        return
    yield chunk()


def _shallow(item: dict[str, Any]) -> dict[str, Any]:
    """Return an object without the values that no part of a document can have."""
    kept = (str, int, float, Decimal)
    return {name: value if isinstance(value, kept) else None for name, value in item.items()}


def _blocks(text: str) -> Iterator[Block]:
    return map(Block, paragraphs(text))
