"""Reads a web page as a text: its main text without menus, and its title."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Semaphore
from urllib.parse import urlsplit

from retrieval.checkable.given_text import LONGEST_TEXT
from retrieval.checkable.reader import TextsBusy
from retrieval.corpora.child_process import ChildProcess
from retrieval.corpora.cleaning import clean
from retrieval.corpora.decoding import decoded
from retrieval.corpora.folder import reading
from retrieval.corpora.folder.document import BY_SUFFIX, FileText, Unreadable
from retrieval.errors import InvalidText
from retrieval.web.fetching import FetchedPage, Fetcher

_MOST_AT_ONCE = 2  # pages; each holds a thread of the server
_READING = 30  # seconds
# Bytes for the process that reads: a common page takes 40 MB, one of 5 MB 110, a hostile one all.
_MEMORY = 400 << 20
_LONGEST_TITLE = 200  # characters


@dataclass(frozen=True, slots=True)
class WebPage:
    """The text of a page. ``whole``: all of it, so that nothing was left out at its end."""

    title: str
    address: str
    text: str
    whole: bool


class PageReader:
    """Fetches and reads pages; safe to share between threads."""

    def __init__(self, fetcher: Fetcher | None = None) -> None:
        self._fetcher = fetcher or Fetcher()
        self._places = Semaphore(_MOST_AT_ONCE)
        self._one_at_a_time = Lock()  # so that several pages do not take memory together

    def read(self, address: str) -> WebPage:
        """Return the page at an address.

        Raises:
            TextsBusy: other pages are being read.
            InvalidText: it cannot be fetched, must not be, or has no text.
            BadSource: the process that reads it does not start.
        """
        if not self._places.acquire(blocking=False):
            raise TextsBusy
        try:
            page = self._fetcher.fetch(address)
            with self._one_at_a_time:
                document = _document(page)
        finally:
            self._places.release()
        text, whole = _text(block.text for block in document.blocks)
        title = clean(document.title)[:_LONGEST_TITLE] or urlsplit(page.address).hostname or ""
        return WebPage(title, page.address, text, whole)


def _document(page: FetchedPage) -> FileText:
    """Return what a page says, read in a process of its own."""
    suffix = ".txt" if page.kind == "text/plain" else ".html"
    content = page.content
    if page.charset:  # the reader knows only what the page says itself
        content = codecs.BOM_UTF8 + decoded(content, page.charset).encode()
    with TemporaryDirectory() as folder, ChildProcess(reading.__name__, _MEMORY) as process:
        file = Path(folder, f"page{suffix}")
        file.write_bytes(content)
        try:
            return reading.read_file(process, file, BY_SUFFIX[suffix], seconds=_READING)
        except Unreadable as error:
            raise InvalidText(
                "page_unreadable",
                "No text could be read from this page; some pages are only made in the browser.",
                "Open the page in a browser, and paste its text.",
            ) from error


def _text(paragraphs: Iterable[str]) -> tuple[str, bool]:
    """Return the first paragraphs, as many as a text may have, and whether these are all."""
    clear = [clean(one).replace("\N{REPLACEMENT CHARACTER}", "") for one in paragraphs]
    kept: list[str] = []
    room = LONGEST_TEXT
    for one in filter(None, clear):
        if len(one) > room:
            if not kept:
                kept.append(one[:room].rpartition(" ")[0])
            return "\n\n".join(kept), False
        kept.append(one)
        room -= len(one) + 2
    return "\n\n".join(kept), True
