"""``jsonl:FILE``: one document a line, with ``id``, ``title``, ``text`` and perhaps ``url``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from retrieval.corpora.cleaning import clean, web_address
from retrieval.corpora.corpus import BadPage, Page
from retrieval.corpora.json_lines import LineBlock, line_blocks, opened
from retrieval.corpora.page_ids import bad_id
from retrieval.corpora.passages import Block, paragraphs, passages
from retrieval.errors import BadSource

_COMPRESSED = (b"\x1f\x8b", b"BZh", b"PK\x03\x04", b"\xfd7zX", b"\x28\xb5\x2f\xfd")


class JsonlCorpus:
    """The documents of one file."""

    date = ""
    language = ""

    def __init__(self, path: Path) -> None:
        """Find the file.

        Raises:
            BadSource: it is a folder, or is compressed.
        """
        if path.is_dir():
            raise BadSource("source_missing", f"{path} is a folder.", "Give a file: jsonl:FILE.")
        with opened(path) as stream:
            start = stream.read(4)
        if start.startswith(_COMPRESSED):
            raise BadSource("source_not_json", f"{path} is compressed.", "Unpack it first.")
        self.name = path.stem
        self.source = f"jsonl:{path.resolve()}"
        self._path = path

    def fingerprint(self) -> str:
        """Return a digest of the file."""
        with opened(self._path) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def size(self) -> int:
        """Return the file's bytes."""
        return self._path.stat().st_size

    def chunks(self) -> Iterator[tuple[JsonlChunk, int]]:
        """Yield the documents in the file's order."""
        with opened(self._path) as stream:
            for block in line_blocks(str(self._path), stream):
                yield JsonlChunk(block), len(block.content)


@dataclass(frozen=True, slots=True)
class JsonlChunk:
    """Some lines of the file."""

    block: LineBlock

    def __iter__(self) -> Iterator[Page | BadPage]:
        """Yield a document for each line, a long one in passages."""
        for where, record in self.block.records(("id", "title", "text")):
            if isinstance(record, BadPage):
                yield record
                continue
            page_id = clean(record["id"])
            if bad := bad_id(page_id, where):
                yield bad
                continue
            title = clean(record["title"]) or page_id
            url = web_address(record.get("url"))
            yield from passages(page_id, title, url, map(Block, paragraphs(record["text"])))
