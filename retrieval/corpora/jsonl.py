"""``jsonl:FILE``: one document a line, with ``id``, ``title``, ``text`` and perhaps ``url``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from retrieval.corpora.cleaning import clean, web_address
from retrieval.corpora.corpus import Page
from retrieval.corpora.json_lines import read_json_lines
from retrieval.corpora.page_ids import PageIds
from retrieval.errors import BadSource

_KEYS = ("id", "title", "text")


class JsonlCorpus:
    """The documents of one file."""

    def __init__(self, path: Path) -> None:
        """Find the file.

        Raises:
            BadSource: there is none.
        """
        if not path.is_file():
            raise BadSource("source_missing", f"{path} is no file.", "Give one: jsonl:FILE.")
        self.name = path.stem
        self.source = f"jsonl:{path.resolve()}"
        self._path = path

    def fingerprint(self) -> str:
        """Return a digest of the file."""
        with self._path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def __len__(self) -> int:
        """Return how many documents there are."""
        return sum(1 for _ in read_json_lines(self._path, _KEYS))

    def __iter__(self) -> Iterator[Page]:
        """Yield the documents in the file's order."""
        ids = PageIds()
        for number, record in read_json_lines(self._path, _KEYS):
            page_id = clean(record["id"])
            ids.add(page_id, f"{self._path}, line {number}")
            yield Page(
                id=page_id,
                title=clean(record["title"]) or page_id,
                url=web_address(record.get("url")),
                text=clean(record["text"]),
            )
