"""``fever:DIR``: the wiki-pages of the FEVER release (Thorne et al. 2018), or its zip.

The spelling of the pages is undone: Penn Treebank tokens, and titles made for file names. Page ids
and sentence ids stay as in FEVER; only texts that are shown and matched are changed.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zipfile import BadZipFile, ZipFile, ZipInfo

from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import BadPage, Page, bad_id
from retrieval.corpora.json_lines import FilesCorpus, Records, Unpacked, opened
from retrieval.errors import BadSource
from retrieval.text.word_forms import nfc

_MOST_SENTENCES = 100_001  # of a page
_NAMES = ("LRB", "RRB", "LSB", "RSB", "LCB", "RCB", "COLON", "SLASH")
_BRACKETS = {f"-{name}-": sign for name, sign in zip(_NAMES, "()[]{}:/", strict=True)}
_BRACKET = re.compile("|".join(_BRACKETS))
_OPENING_QUOTE = re.compile(r"``\s*")
_CLOSING_QUOTE = re.compile(r"\s*''")
_CLITIC = re.compile(r"\s+(n't|'(?:s|re|ve|ll|d|m))\b", re.IGNORECASE)
_PLURAL_POSSESSIVE = re.compile(r"(?<=s)\s+'(?=\s)")
_BEFORE = re.compile(r"(?<!\s)\s+([,.;:?!%)\]}])")
_AFTER = re.compile(r"([(\[{$£€#])\s+")
_DASH = re.compile(r"\s--\s")


class FeverCorpus(FilesCorpus):
    """The pages of every ``*.jsonl`` in a folder or a zip; ids and sentence ids stay FEVER's."""

    def __init__(self, place: Path) -> None:
        """Find the files.

        Raises:
            BadSource: the folder or zip is missing, has no such file, or is a damaged zip.
        """
        super().__init__("fever", place, (".jsonl",))
        self._zip = place if place.is_file() else None
        if self._zip and not self._members():
            hint = "Give the folder with FEVER's wiki-pages, or its zip: fever:DIR."
            raise BadSource("source_missing", f"{place} contains no .jsonl files.", hint)

    def size(self) -> int:
        """Return the bytes of the files; of a zip, after unpacking."""
        return sum(each.file_size for each in self._members()) if self._zip else super().size()

    def chunks(self) -> Iterator[tuple[Records, int]]:
        """Yield the files' lines in order of the files' names."""
        records = Records(_pages, ("id", "text", "lines"))
        return self._unpacked(self._zip, records) if self._zip else self.in_chunks(records)

    def _members(self) -> list[ZipInfo]:
        """Return the files of a zip in order of their names, without those that macOS adds."""
        with _opened_zip(self.files[0]) as archive:
            found = (each for each in archive.infolist() if each.filename.endswith(".jsonl"))
            kept = (each for each in found if "__MACOSX" not in each.filename)
            return sorted(kept, key=lambda each: each.filename)

    def _unpacked(self, place: Path, records: Records) -> Iterator[tuple[Records, int]]:
        members = self._members()
        with _opened_zip(place) as archive:
            for member in members:
                with archive.open(member) as stream:
                    unpacked = Unpacked(stream, stream)
                    name = f"{place}, {member.filename}"
                    yield from unpacked.in_chunks(replace(records, name=name))
                    if unpacked.damage:
                        raise EOFError


@contextmanager
def _opened_zip(place: Path) -> Iterator[ZipFile]:
    try:
        with opened(place) as stream, ZipFile(stream) as archive:
            yield archive
    except (BadZipFile, zlib.error, EOFError) as error:
        hint = "Fetch it again, or name the folder with FEVER's wiki-pages."
        raise BadSource("source_damaged", f"{place} is not a zip, or is damaged.", hint) from error


def _pages(where: str, record: dict[str, Any]) -> Iterator[Page | BadPage]:
    """Yield the page of a record, none for the one of the release without an id."""
    page_id = record["id"]
    if not page_id:
        return
    lines = bad_id(page_id, where) or _lines(record["lines"], where)
    if isinstance(lines, BadPage):
        yield lines
        return
    title, links = plain_title(page_id), tuple(titles for _, titles in lines)
    url = "https://en.wikipedia.org/wiki/" + quote(title.replace(" ", "_"))
    sentences = tuple(clean(plain_text(tokens)) for tokens, _ in lines)
    yield Page(page_id, clean(title), url, "", sentences, links if any(links) else ())


def _lines(lines: str, where: str) -> list[tuple[str, tuple[str, ...]]] | BadPage:
    r"""Return the sentences in order of their ids, each with the titles that it links to.

    ``0\tSentence .\twords\ttitle\twords\ttitle\n1\t...``: after a sentence come the words of each
    link and the title that it leads to. A line that does not begin with a number continues the
    line before: some sentences of the release contain line breaks.
    """
    found: dict[int, tuple[str, tuple[str, ...]]] = {}
    last = -1
    for line in lines.split("\n"):
        number, tab, rest = line.partition("\t")
        begins = bool(tab) and number.isascii() and number.isdigit()
        tokens, *links = (rest if begins else line).split("\t")
        titles = tuple(clean(plain_text(title.replace("_", " "))) for title in links[1::2])
        if begins:
            # By its length first: Python refuses to read thousands of digits.
            if len(number) > 6 or int(number) >= _MOST_SENTENCES:
                return BadPage(f"{where}: sentence id {number[:12]}.", "Correct that line.")
            last = int(number)
            found[last] = tokens, titles
        elif last >= 0 and line.strip():
            before, known = found[last]
            found[last] = f"{before} {tokens}", known + titles
    return [found.get(number, ("", ())) for number in range(last + 1)]


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
