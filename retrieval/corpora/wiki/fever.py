"""``fever:DIR``: the wiki-pages of the FEVER release (Thorne et al. 2018), or its zip.

The spelling of the pages is undone: Penn Treebank tokens, and titles made for file names. Page ids
and sentence ids stay as in FEVER; only texts that are shown and matched are changed.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zipfile import BadZipFile, ZipFile, ZipInfo

from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import BadPage, Page, bad_id
from retrieval.corpora.json_lines import LineBlock, fingerprint_of, line_blocks, opened
from retrieval.errors import BadSource
from retrieval.text.word_forms import nfc

_MOST_SENTENCES = 100_001  # of a page
_BRACKETS = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "-COLON-": ":",
    "-SLASH-": "/",
}
_BRACKET = re.compile("|".join(_BRACKETS))
_OPENING_QUOTE = re.compile(r"``\s*")
_CLOSING_QUOTE = re.compile(r"\s*''")
_CLITIC = re.compile(r"\s+(n't|'(?:s|re|ve|ll|d|m))\b", re.IGNORECASE)
_PLURAL_POSSESSIVE = re.compile(r"(?<=s)\s+'(?=\s)")
_BEFORE = re.compile(r"(?<!\s)\s+([,.;:?!%)\]}])")
_AFTER = re.compile(r"([(\[{$£€#])\s+")
_DASH = re.compile(r"\s--\s")


class FeverCorpus:
    """The pages of every ``*.jsonl`` in a folder or a zip; ids and sentence ids stay FEVER's."""

    date = ""
    language = ""

    def __init__(self, place: Path) -> None:
        """Find the files.

        Raises:
            BadSource: the folder or zip is missing, has no such file, or is a damaged zip.
        """
        self.name = place.resolve().stem if place.is_file() else place.resolve().name
        self.source = f"fever:{place.resolve()}"
        self._place = place
        self._files = sorted(place.glob("*.jsonl")) if place.is_dir() else []
        self._members = _members(place) if place.is_file() else []
        if not self._files and not self._members:
            raise BadSource(
                "source_missing",
                f"{place} contains no .jsonl files.",
                "Give the folder with FEVER's wiki-pages, or its zip: fever:DIR.",
            )

    def fingerprint(self) -> str:
        """Return a digest of the files' names and contents."""
        return fingerprint_of(self._files or [self._place])

    def size(self) -> int:
        """Return the bytes of the files; of a zip, after unpacking."""
        return sum(path.stat().st_size for path in self._files) + sum(
            member.file_size for member in self._members
        )

    def chunks(self) -> Iterator[tuple[FeverChunk, int]]:
        """Yield the files' lines in order of the files' names."""
        for blocks in (self._blocks_of_files(), self._blocks_of_members()):
            for block in blocks:
                yield FeverChunk(block), len(block.content)

    def _blocks_of_files(self) -> Iterator[LineBlock]:
        for path in self._files:
            with opened(path) as stream:
                yield from line_blocks(str(path), stream)

    def _blocks_of_members(self) -> Iterator[LineBlock]:
        if not self._members:
            return
        with _unpacked(self._place) as archive:
            for member in self._members:
                with archive.open(member) as stream:
                    yield from line_blocks(f"{self._place}, {member.filename}", stream)


@dataclass(frozen=True, slots=True)
class FeverChunk:
    """Some lines of a file."""

    block: LineBlock

    def __iter__(self) -> Iterator[Page | BadPage]:
        """Yield the pages; the one page of the release without an id is skipped."""
        for where, record in self.block.records(("id", "text", "lines")):
            if isinstance(record, BadPage):
                yield record
            elif record["id"]:
                yield bad_id(record["id"], where) or _page(record, where)


def _members(place: Path) -> list[ZipInfo]:
    """Return the files of a zip in order of their names, without those that macOS adds."""
    with _unpacked(place) as archive:
        return sorted(
            (
                member
                for member in archive.infolist()
                if member.filename.endswith(".jsonl") and "__MACOSX" not in member.filename
            ),
            key=lambda member: member.filename,
        )


@contextmanager
def _unpacked(place: Path) -> Iterator[ZipFile]:
    try:
        with opened(place) as stream, ZipFile(stream) as archive:
            yield archive
    except (BadZipFile, zlib.error, EOFError) as error:
        raise BadSource(
            "source_damaged",
            f"{place} is not a zip, or is damaged.",
            "Fetch it again, or name the folder with FEVER's wiki-pages.",
        ) from error


def _page(record: dict[str, Any], where: str) -> Page | BadPage:
    lines = _lines(record["lines"], where)
    if isinstance(lines, BadPage):
        return lines
    return Page(
        id=record["id"],
        title=clean(plain_title(record["id"])),
        url=f"https://en.wikipedia.org/wiki/{_address(record['id'])}",
        text="",
        sentences=tuple(clean(plain_text(line.tokens)) for line in lines),
        links=tuple(line.links for line in lines) if any(x.links for x in lines) else (),
    )


def _address(page_id: str) -> str:
    return quote(plain_title(page_id).replace(" ", "_"))


@dataclass(slots=True)
class _Line:
    """A sentence as FEVER writes it, and the titles of the pages that it links to."""

    tokens: str = ""
    links: tuple[str, ...] = ()


def _lines(lines: str, where: str) -> list[_Line] | BadPage:
    r"""Return the sentences in order of their ids.

    ``0\tSentence .\twords\ttitle\twords\ttitle\n1\t...``: after a sentence come the words of each
    link and the title that it leads to. A line that does not begin with a number continues the
    line before: some sentences of the release contain line breaks.
    """
    found: dict[int, _Line] = {}
    last = -1
    for line in lines.split("\n"):
        number, tab, rest = line.partition("\t")
        tokens, *links = (rest if tab and _is_number(number) else line).split("\t")
        titles = tuple(clean(plain_text(title.replace("_", " "))) for title in links[1::2])
        if tab and _is_number(number):
            # By its length first: Python refuses to read thousands of digits.
            if len(number) > 6 or int(number) >= _MOST_SENTENCES:
                return BadPage(f"{where}: sentence id {number[:12]}.", "Correct that line.")
            last = int(number)
            found[last] = _Line(tokens, titles)
        elif last >= 0 and line.strip():
            found[last].tokens += " " + tokens
            found[last].links += titles
    return [found.get(i, _Line()) for i in range(max(last + 1, 0))]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def plain_title(page_id: str) -> str:
    """Return a page id as a title in normal spelling.

    ``Savages_-LRB-band-RRB-`` is ``Savages (band)``.
    """
    return nfc(_unbracketed(page_id).replace("_", " ")).strip()


def plain_text(tokens: str) -> str:
    """Return a tokenised sentence in normal spelling, in NFC.

    ``He did n't say `` no '' -LRB- twice -RRB- .`` is ``He didn't say "no" (twice).``
    """
    text = _unbracketed(tokens)
    # Searching a character is much faster than a pattern.
    if "`" in text:
        text = _OPENING_QUOTE.sub('"', text)
    if "'" in text:
        text = _CLOSING_QUOTE.sub('"', text)
        text = _CLITIC.sub(r"\1", text)
        text = _PLURAL_POSSESSIVE.sub("'", text)
    if "--" in text:
        text = _DASH.sub(" – ", text)  # noqa: RUF001 - the dash that is meant
    text = _BEFORE.sub(r"\1", text)
    text = _AFTER.sub(r"\1", text)
    return nfc(" ".join(text.split()))


def _unbracketed(text: str) -> str:
    return _BRACKET.sub(lambda match: _BRACKETS[match[0]], text) if "-" in text else text
