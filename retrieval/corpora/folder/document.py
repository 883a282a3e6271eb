"""What a file says, in the same form for every format."""

from __future__ import annotations

from dataclasses import dataclass, field

from retrieval.corpora.cleaning import clean
from retrieval.corpora.headings import without_edit
from retrieval.corpora.passages import Block

NAMED = 10  # rows or pages that a message names


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
    """

    title: str
    blocks: list[Block]
    url: str | None = None
    unread: list[Unread] = field(default_factory=list)


def dropped_rows(table: int, rows: list[int]) -> list[Unread]:
    """Return what is said of the rows of a table that are not read: one message, or none."""
    if not rows:
        return []
    shown = ", ".join(map(str, rows[:NAMED])) + (", …" if len(rows) > NAMED else "")
    message = f"it is too large; not read: {len(rows)} of its rows ({shown})."
    return [Unread(f"table {table}", message, "Save it as a file of its own, in parts.")]


def unread_charts(number: int) -> list[Unread]:
    """Return what is said of so many charts that are not read: one message, or none."""
    if not number:
        return []
    where = "1 chart" if number == 1 else f"{number} charts"
    message = "not read, but for what also stands in texts and tables."
    return [Unread(where, message, "Write its numbers into a table.")]


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
