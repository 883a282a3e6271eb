"""The formats of files that a folder may hold, and what a file says, in the same form for all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from importlib import import_module
from importlib.util import find_spec
from itertools import islice

from retrieval.corpora.cleaning import clean
from retrieval.corpora.passages import Block, ends_sentence, without_edit

NAMED = 10  # rows or pages that a message names
_HEAD = 6  # lines in which a text says its day
_LONGEST_HEAD = 100  # characters
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DATE = re.compile(
    rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?P<month>{_MONTH})"
    rf"|(?P<month2>{_MONTH}) (?P<day2>\d{{1,2}}),?) (?P<year>(?:19|20)\d\d)"
)


class Unreadable(Exception):
    """A file cannot be read: what is wrong with it, and how to fix it.

    ``message`` follows the name of the file and a colon: "the file is damaged.".
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a file that could not be read: "page 2", what is wrong with it, how to fix it."""

    where: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file.

    Attributes:
        title: "" if the file does not say it.
        blocks: its paragraphs in order.
        url: where it was published, if the file says so.
        unread: the parts of the file that are not read.
        date: the day of the text by its own account, ISO 8601; "" if it does not say it.
    """

    title: str
    blocks: list[Block]
    url: str | None = None
    unread: list[Unread] = field(default_factory=list)
    date: str = ""


def own_date(lines: Iterable[str]) -> str:
    """Return the day that stands in the head of a text: "Minutes of 3 March 2024"; "" if none does.

    Only lines without the mark of a sentence count, which may tell of another day.
    """
    for line in islice(lines, _HEAD):
        for found in _DATE.finditer(line) if _is_head(line) else ():
            day, month = found["day"] or found["day2"], (found["month"] or found["month2"])[:3]
            with suppress(ValueError):
                number = _MONTHS.index(month.lower()) + 1
                return date(int(found["year"]), number, int(day)).isoformat()
    return ""


def _is_head(line: str) -> bool:
    return len(line) <= _LONGEST_HEAD and not ends_sentence(line)


def hidden_text(where: str, passages: int) -> list[Unread]:
    """Return what is said of so many passages in invisible letters: one message, or none."""
    if not passages:
        return []
    message = f"not read: {passages} passage{'s' * (passages > 1)} that a reader does not see."
    return [Unread(where, message, "White, tiny, transparent or covered text is left out.")]


def dropped_rows(table: int, rows: list[int]) -> list[Unread]:
    """Return what is said of the rows of a table that are not read: one message, or none."""
    if not rows:
        return []
    shown = ", ".join(map(str, rows[:NAMED])) + (", …" if len(rows) > NAMED else "")
    message = f"it is too large; not read: {len(rows)} of its rows ({shown})."
    return [Unread(f"table {table}", message, "Save it as a file of its own, in parts.")]


class Headings:
    """The headings above a place of a document."""

    def __init__(self, title: str) -> None:
        """Begin a document; the first heading that is its title is not part of a section."""
        self._title = clean(title)
        self._above: list[tuple[int, str]] = []

    def add(self, level: int, heading: str) -> None:
        """Go on after a heading, whose section ends before the next one of its level or above."""
        words = without_edit(clean(heading))
        if self._title and words == self._title:
            self._title = ""
            self._above = []
        elif words:
            self._above = [above for above in self._above if above[0] < level]
            self._above.append((level, words))

    @property
    def section(self) -> tuple[str, ...]:
        """The headings above this place, the outermost first."""
        return tuple(words for _, words in self._above)


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its suffixes, the module of this package that reads it, the largest file.

    ``library``: the package that the module needs, if it is not always installed; ``imports`` is
    the name that it is imported by. ``largest``: in bytes. ``encrypts``: its files may have a
    password, which its module knows how to use.
    """

    suffixes: tuple[str, ...]
    module: str
    largest: int
    library: str = ""
    imports: str = ""
    encrypts: bool = False

    @property
    def installed(self) -> bool:
        """Whether its library is there."""
        return not self.imports or find_spec(self.imports) is not None

    def reader(self) -> Callable[..., FileText]:
        """Return what reads a file: its path, and its password if the format ``encrypts``.

        It raises ``Unreadable`` or ``OSError``.

        Raises:
            ImportError: the library is not installed, or a package that it needs.
        """
        module = import_module(f"{__package__}.{self.module}")
        read: Callable[..., FileText] = module.read
        return read


_FORMATS = (
    Format((".txt", ".text"), "plain_text", 64_000_000),
    Format((".md", ".markdown"), "markdown", 10_000_000),
    Format(
        (".html", ".htm", ".xhtml", ".mhtml", ".mht"),
        "web_page",
        10_000_000,
        "trafilatura",
        "trafilatura",
    ),
    Format((".pdf",), "pdf", 500_000_000, "pypdfium2", "pypdfium2", encrypts=True),
    Format((".docx",), "word", 250_000_000, "python-docx", "docx"),
    Format((".odt", ".ods"), "open_document", 250_000_000, "lxml", "lxml"),
    Format((".rtf",), "rich_text", 50_000_000, "striprtf", "striprtf"),
    Format((".epub",), "book", 250_000_000, "lxml", "lxml"),
    Format((".eml", ".mbox"), "mail", 250_000_000, "lxml", "lxml"),
    Format((".pptx",), "slides", 250_000_000, "python-pptx", "pptx"),
    Format((".xlsx",), "spreadsheet", 250_000_000, "openpyxl", "openpyxl"),
    Format((".csv", ".tsv"), "delimited", 64_000_000),
    Format((".srt", ".vtt", ".ics"), "times", 10_000_000),
)
BY_SUFFIX = {suffix: kind for kind in _FORMATS for suffix in kind.suffixes}
