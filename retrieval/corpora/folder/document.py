"""The formats of files that a folder may hold, and what a file says, in the same form for all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from importlib import import_module
from importlib.util import find_spec
from itertools import islice

from retrieval.corpora.cleaning import clean
from retrieval.corpora.passages import Block, ends_sentence, without_edit

_NAMED = 10  # rows or pages that a message names
_HEAD = 6  # lines in which a text says its day
_LONGEST_HEAD = 100  # characters
_MONTHS = (
    "january januar januari janvier enero gennaio",
    "february februar februari février febrero febbraio",
    "march märz mars maart marzo mrt",
    "april avril abril",
    "may mai mei maj mayo maggio",
    "june juni juin junio giugno",
    "july juli juillet julio luglio",
    "august augustus août agosto",
    "september septembre septiembre settembre",
    "october oktober octobre octubre ottobre",
    "november novembre noviembre",
    "december dezember décembre diciembre dicembre",
)
_NAMES = (f"{name[:3]}(?:{name[3:]}|{name[3:4]})?" for name in " ".join(_MONTHS).split())
_MONTH = rf"(?i:(?:{'|'.join(_NAMES)})\b\.?)"
_DATE = re.compile(
    rf"(?:(?P<d1>\d{{1,2}})(?:st|nd|rd|th|er|\.)? (?:de )?(?P<m1>{_MONTH})(?: de)?"
    rf"|(?P<m2>{_MONTH}) (?P<d2>\d{{1,2}}),?)"
    r" (?P<y1>(?:19|20)\d\d)|(?P<y2>(?:19|20)\d\d)-(?P<m3>\d\d)-(?P<d3>\d\d)"
    r"|(?P<d4>\d{1,2})\.(?P<m4>\d{1,2})\.(?P<y3>(?:19|20)\d\d)"
)
# What a line with the day of a text says beside it; "The flood of 3 May 1953" may be its subject.
_OF_A_TEXT = re.compile(
    r"\b(?:minutes|meeting|session|agenda|protocol|dated?|as (?:of|at)|issued|published|updated"
    r"|posted|status|release|statement|memo|letter|notice|news|report|draft|version)\b",
    re.IGNORECASE,
)
_FEW = 2  # words beside a day: "Rowan, 3 March 2024"
# What programs write as titles.
_NO_TITLE = re.compile(
    r"|untitled.*|\(?(?:anonymous|unspecified|none)\)?|microsoft \w+ - .*"
    r"|word document|(?:powerpoint )?presentation"
    r"|.*\.(?:docx?|pptx?|xlsx?|od[ts]|rtf|pdf|tex|dvi|indd|qxd|p65|fm|te?xt|[ct]sv|md|markdown"
    r"|srt|vtt|ics|x?html?|mht(?:ml)?|epub|eml|mbox)",
    re.IGNORECASE,
)
_ISO = re.compile(r"\d{4}-\d\d-\d\d")


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

    ``title``: "" if the file does not say it. ``url``: where it was published, if the file says so.
    ``unread``: the parts of the file that are not read. ``saved``: the day on which a program saved
    it last, by its own account, ISO 8601; "" if it has none.
    """

    title: str
    blocks: list[Block]
    url: str | None = None
    unread: list[Unread] = field(default_factory=list)
    saved: str = ""

    @property
    def day(self) -> str:
        """The day of what has none of its own: that in its head, or of its file; "" if none."""
        first = (block for block in self.blocks[:_HEAD] if not block.date)
        head = (text for block in first for text in (*block.section, block.text))
        said = own_date([self.title, *dict.fromkeys(head)]), self.saved
        return next(filter(None, map(as_day, said)), "")


def as_day(written: str) -> str:
    """Return what a file says as a day, ISO 8601; "" if it is none, or has not come yet."""
    with suppress(ValueError):
        day, tomorrow = date.fromisoformat(written), datetime.now(UTC).date() + timedelta(1)
        return day.isoformat() if day <= tomorrow else ""  # it is tomorrow already in the east
    return ""


def own_date(lines: Iterable[str]) -> str:
    """Return the day that stands in the head of a text: "Minutes of 3 March 2024"; "" if none does.

    Only short lines without the mark of a sentence count, which say little beside it: others may
    tell of another day.
    """
    for line in islice(filter(None, lines), _HEAD):
        beside = _DATE.sub("", line)
        of_text = _OF_A_TEXT.search(beside) or len(beside.split()) <= _FEW
        if not of_text or len(line) > _LONGEST_HEAD or ends_sentence(line):
            continue
        if day := first_day(line):
            return day
    return ""


def first_day(line: str) -> str:
    """Return the first day that a line names, ISO 8601; "" if it names none."""
    for found in _DATE.finditer(line):
        parts = {name[0]: value for name, value in found.groupdict().items() if value}
        month = parts["m"].lower().rstrip(".")
        names = (number for number, names in enumerate(_MONTHS, 1) if f" {month}" in f" {names}")
        number = int(month) if month.isdecimal() else next(names, 0)
        with suppress(ValueError):
            return date(int(parts["y"]), number, int(parts["d"])).isoformat()
    return ""


def first_title(*said: str | None) -> str:
    """Return the first of some titles that is one, and no name of a file or of a program."""
    return next((t for t in map(clean, filter(None, said)) if not _NO_TITLE.fullmatch(t)), "")


def iso_day(written: str) -> str:
    """Return the day that a text begins with, "" if it begins with none in ISO 8601."""
    found = _ISO.match(written.strip())
    return found[0] if found else ""


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
    message = f"it is too large; not read: {len(rows)} of its rows ({numbers_of(rows)})."
    return [Unread(f"table {table}", message, "Save it as a file of its own, in parts.")]


def numbers_of(numbers: list[int]) -> str:
    """Return the first of some numbers, as a message names them."""
    return ", ".join(map(str, numbers[:_NAMED])) + (", …" if len(numbers) > _NAMED else "")


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
            self._title, self._above = "", []
        elif words:
            self._above = [above for above in self._above if above[0] < level]
            self._above.append((level, words))

    @property
    def section(self) -> tuple[str, ...]:
        """The headings above this place, the outermost first."""
        return tuple(words for _, words in self._above)


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the module of this package that reads it, and the largest file in bytes.

    ``library``: the package that the module needs, if it is not always installed; ``imports`` is
    the name that it is imported by, if that is another. ``encrypts``: its files may have a
    password, which its module knows how to use.
    """

    module: str
    largest: int
    library: str = ""
    imports: str = ""
    encrypts: bool = False

    @property
    def installed(self) -> bool:
        """Whether its library is there."""
        return not self.library or find_spec(self.imports or self.library) is not None

    def reader(self) -> Callable[..., FileText]:
        """Return what reads a file: its path, and its password if the format ``encrypts``.

        It raises ``Unreadable`` if the file is not of the format, is encrypted or damaged, is too
        large or has no text, and ``OSError`` if it cannot be read.

        Raises:
            ImportError: the library is not installed, or a package that it needs.
        """
        read: Callable[..., FileText] = import_module(f"{__package__}.{self.module}").read
        return read


_FORMATS = {
    (".txt", ".text", ".csv", ".tsv"): Format("plain_text", 64_000_000),
    (".md", ".markdown", ".srt", ".vtt", ".ics"): Format("plain_text", 10_000_000),
    (".html", ".htm", ".xhtml", ".mhtml", ".mht"): Format("web_page", 10_000_000, "trafilatura"),
    (".pdf",): Format("pdf", 500_000_000, "pypdfium2", encrypts=True),
    (".docx",): Format("word", 250_000_000, "python-docx", "docx"),
    (".odt", ".ods"): Format("open_document", 250_000_000, "lxml"),
    (".epub",): Format("book", 250_000_000, "lxml"),
    (".rtf",): Format("rich_text", 50_000_000, "striprtf"),
    (".eml", ".mbox"): Format("mail", 250_000_000, "lxml"),
    (".pptx",): Format("slides", 250_000_000, "python-pptx", "pptx"),
    (".xlsx",): Format("spreadsheet", 250_000_000, "openpyxl"),
}
BY_SUFFIX = {suffix: kind for suffixes, kind in _FORMATS.items() for suffix in suffixes}
