"""``fever:DIR``: wiki-pages as the FEVER release has them (Thorne et al. 2018)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import Page
from retrieval.corpora.fever_spelling import plain_text, plain_title
from retrieval.corpora.json_lines import read_json_lines
from retrieval.corpora.page_ids import PageIds
from retrieval.errors import BadSource


class FeverCorpus:
    """The pages of every ``*.jsonl`` in a folder; ids and sentence ids stay FEVER's."""

    def __init__(self, folder: Path) -> None:
        """Find the files.

        Raises:
            BadSource: the folder is missing or holds none.
        """
        self.name = folder.resolve().name
        self.source = f"fever:{folder.resolve()}"
        self._files = sorted(folder.glob("*.jsonl")) if folder.is_dir() else []
        if not self._files:
            raise BadSource(
                "source_missing",
                f"{folder} holds no .jsonl files.",
                "Give the folder with FEVER's wiki-pages: fever:DIR.",
            )

    def fingerprint(self) -> str:
        """Return a digest of the files' names and contents."""
        digest = hashlib.sha256()
        for path in self._files:
            with path.open("rb") as stream:
                digest.update(path.name.encode())
                digest.update(hashlib.file_digest(stream, "sha256").digest())
        return digest.hexdigest()

    def __len__(self) -> int:
        """Return how many pages there are."""
        return sum(1 for _ in self._records())

    def __iter__(self) -> Iterator[Page]:
        """Yield the pages; the release's one page without an id is passed over."""
        ids = PageIds()
        for path, number, record in self._records():
            where = f"{path}, line {number}"
            ids.add(record["id"], where)
            lines = _lines(record["lines"], where)
            yield Page(
                id=record["id"],
                title=clean(plain_title(record["id"])),
                url=f"https://en.wikipedia.org/wiki/{_address(record['id'])}",
                text="",
                sentences=tuple(clean(plain_text(line.tokens)) for line in lines),
                links=tuple(line.links for line in lines) if any(x.links for x in lines) else (),
            )

    def _records(self) -> Iterator[tuple[Path, int, dict[str, Any]]]:
        for path in self._files:
            for number, record in read_json_lines(path, ("id", "text", "lines")):
                if record["id"]:
                    yield path, number, record


def _address(page_id: str) -> str:
    return quote(plain_title(page_id).replace(" ", "_"))


@dataclass(slots=True)
class _Line:
    """A sentence as FEVER writes it, and the titles of the pages that it links to."""

    tokens: str = ""
    links: tuple[str, ...] = ()


def _lines(lines: str, where: str) -> list[_Line]:
    r"""Return the sentences in order of their ids.

    ``0\tSentence .\twords\ttitle\twords\ttitle\n1\t...``: behind a sentence the words that
    are a link, and the title that they lead to. A line that does not begin with a
    number goes on with the one before: some sentences of the release hold line breaks.
    """
    found: dict[int, _Line] = {}
    last = -1
    for line in lines.split("\n"):
        number, tab, rest = line.partition("\t")
        tokens, *links = (rest if tab and _is_number(number) else line).split("\t")
        titles = tuple(clean(plain_text(title.replace("_", " "))) for title in links[1::2])
        if tab and _is_number(number):
            last = int(number)
            if last > 100_000:
                raise BadSource(
                    "source_incomplete", f"{where}: sentence id {last}.", "Mend that line."
                )
            found[last] = _Line(tokens, titles)
        elif last >= 0 and line.strip():
            found[last].tokens += " " + tokens
            found[last].links += titles
    return [found.get(i, _Line()) for i in range(max(last + 1, 0))]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
