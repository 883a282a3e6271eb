"""Writes the rows of a table as sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

_ENDS = (".", "!", "?", "…")
_LONGEST = 80  # characters of a heading
MOST_COLUMNS = 500
_MOST_HEADS = 3  # rows
_MOST_CELLS = 500_000  # of a table whose merged cells are repeated
# A year, "2019/20", "FY 2020", "Q1", "Q1/2020", perhaps with the mark of a note.
_PERIOD = re.compile(
    r"(?:FY|[QH][1-4])?[ '/-]?(?:1[5-9]|20)\d\d(?: ?[/–-] ?\d\d(?:\d\d)?)?\*?|[QH][1-4]"  # noqa: RUF001
)
_NUMBER = re.compile(r"\W*(?:\w+ \W*)?\d")  # "9 m", "in 1921", but not "a fire of 12 days"


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A cell of a table, which may stand in several columns and rows.

    ``text``: with white space folded. ``heading``: whether the file marks it as one, perhaps by
    bold letters alone.
    """

    text: str
    heading: bool = False
    columns: int = 1
    rows: int = 1


@dataclass(frozen=True, slots=True)
class TableText:
    """What a table says.

    Attributes:
        sentences: one for each row, such as "Lamp: red, year: 1921.".
        dropped: the number of each row that is too wide to be read, from 1.
    """

    sentences: list[str]
    dropped: list[int]


def table_text(rows: Sequence[Sequence[Cell]]) -> TableText:
    """Return the sentences of a table whose merged cells are repeated (``row_sentences``)."""
    grid, dropped = _repeated(rows)
    return TableText(list(row_sentences(grid)), dropped)


def row_sentences(rows: Sequence[Sequence[Cell | str]]) -> Iterator[str]:
    """Yield a sentence for each row; a cell that is in several places is the same object there.

    Names of the columns are in the first rows, if all their cells are marked as headings, or else
    in the first row if each of its cells looks like a name, and there are rows below it. In columns
    of figures they may be in the rows below that, if cells of the upper one stand over several
    columns, or the lower one does not name its row. A row that is one cell over all columns is a
    sentence, and a heading of the rows below it if they have one.
    """
    cells = [[Cell(each) if isinstance(each, str) else each for each in row] for row in rows]
    grid = [row for row in cells if any(cell.text for cell in row)]
    heads = _heads(grid)
    names = [_joined(column) for column in _columns([r for r in grid[:heads] if not _alone(r)])]
    last = max((at for at, row in enumerate(grid) if not _alone(row)), default=0)
    groups: list[str] = []
    for at, row in enumerate(grid):
        alone = _alone(row)
        if alone and at < last and len(alone) <= _LONGEST and not alone.endswith(_ENDS):
            groups = [*groups, alone] if at and _alone(grid[at - 1]) else [alone]
        elif alone:
            yield _ended(alone)
        elif at >= heads:
            yield _ended(", ".join([*groups, *_named(names, row)]).replace(":, ", ": "))


def naming_rows(rows: list[list[Cell]]) -> list[list[Cell]]:
    """Return the first rows of a table that name its columns; none of them is empty."""
    return rows[: _heads(rows)]


def _repeated(rows: Sequence[Sequence[Cell]]) -> tuple[list[list[Cell]], list[int]]:
    """Return the rows with merged cells in each place, and the numbers of the dropped ones."""
    grid: list[list[Cell]] = []
    dropped: list[int] = []
    from_above: dict[int, tuple[Cell, int]] = {}  # by column, with the rows that are left
    cells = 0
    for number, row in enumerate(rows, start=1):
        placed: list[Cell] = []
        waiting = list(reversed(row))
        below: dict[int, tuple[Cell, int]] = {}
        while (waiting or len(placed) in from_above) and len(placed) <= MOST_COLUMNS:
            at = len(placed)
            inherited = at in from_above
            cell, left = from_above.pop(at) if inherited else (waiting[-1], waiting[-1].rows)
            width = 1 if inherited else max(1, waiting.pop().columns)
            for column in range(at, min(at + width, MOST_COLUMNS + 1)):
                placed.append(cell)
                if left > 1:
                    below[column] = (cell, left - 1)
        from_above = below
        cells += len(placed)
        if len(placed) > MOST_COLUMNS or cells > _MOST_CELLS:
            dropped.append(number)
        else:
            grid.append(placed)
    return grid, dropped


def _heads(grid: list[list[Cell]]) -> int:
    """Return how many of the first rows name the columns, or the table; 0 if there are no names."""
    titles = len(list(takewhile(_alone, grid)))
    rows = grid[titles:]
    heads = len(list(takewhile(_is_marked, rows)))
    if not heads:
        most = min(_MOST_HEADS, len(rows) - 1)
        heads = next((heads for heads in range(most, 0, -1) if _are_heads(rows, heads)), 0)
    return titles + heads if 0 < heads < len(rows) else 0


def _are_heads(grid: list[list[Cell]], heads: int) -> bool:
    """Return whether so many of the first rows look like the names of the columns."""
    first, below = grid[0], grid[heads:]
    if len(first) < 2 or any(_names_its_row(cell) for row in grid[:heads] for cell in row):
        return False
    if len(first) == 2 and _differ([row[1].text for row in below if len(row) == 2]):
        return False
    values = [[row[at].text for row in below if at < len(row)] for at in range(len(first))]
    return all(_are_names(row, values) for row in grid[:heads]) and all(
        _goes_on(upper, lower, values) for upper, lower in pairwise(grid[:heads])
    )


def _are_names(row: list[Cell], values: list[list[str]]) -> bool:
    names = all(_is_a_name(cell.text, below) for cell, below in zip(row, values, strict=False))
    return names and sum(not cell.text for cell in row) < len(row) - 1


def _goes_on(upper: list[Cell], lower: list[Cell], values: list[list[str]]) -> bool:
    """Return whether the names of columns in one row go on in the next."""
    pairs = enumerate(pairwise(upper))
    over = {place for at, (a, b) in pairs if a is b and a.text for place in (at, at + 1)}
    named = over if over or lower[0].text else {at for at, cell in enumerate(lower) if cell.text}
    return bool(named) and all(at < len(values) and _are_figures(values[at]) for at in named)


def _are_figures(values: list[str]) -> bool:
    return any(values) and not any(map(_has_a_word, values))


def _is_marked(row: list[Cell]) -> bool:
    """Return whether all cells are marked as headings; the first and empty ones need not be."""
    if len(row) < 2:
        return False
    return any(cell.heading for cell in row) and all(c.heading or not c.text for c in row[1:])


def _names_its_row(cell: Cell) -> bool:
    return cell.heading or cell.text.endswith(":")


def _differ(values: list[str]) -> bool:
    """Return whether only some values of a column are numbers: rows are names and their values."""
    return len({bool(_NUMBER.match(v)) or not _has_a_word(v) for v in values if v}) == 2


def _is_a_name(text: str, below: list[str]) -> bool:
    """Return whether the first cell of a column looks like its name.

    With digits it does if it is a period or has words, and what is below are other kinds of values.
    """
    if not any(map(str.isdigit, text)):
        return not text or any(map(str.isalpha, text))
    values = [value for value in below if value]
    if _PERIOD.fullmatch(text):
        return not all(map(_PERIOD.fullmatch, values))
    return any(map(str.isalpha, text)) and not any(_has_a_word(value) for value in values)


def is_period(text: str) -> bool:
    """Return whether a text is a year, or another period that may name a column."""
    return _PERIOD.fullmatch(text) is not None


def _has_a_word(value: str) -> bool:
    return any(map(str.isalpha, value)) and value.lower() not in {"n/a", "na", "nil"}


def _columns(rows: list[list[Cell]]) -> list[list[Cell]]:
    width = max(map(len, rows), default=0)
    return [[row[at] for row in rows if at < len(row)] for at in range(width)]


def _joined(cells: list[Cell]) -> str:
    """Return the name of a column that has several headings, the upper first, each once."""
    return " ".join(dict.fromkeys(cell.text.rstrip(":") for cell in cells if cell.text))


def _named(names: list[str], row: list[Cell]) -> list[str]:
    """Return the cells of a row with their names; a cell in two columns of a name is there once."""
    padded = names + [""] * (len(row) - len(names))
    pairs = dict.fromkeys((name, cell) for name, cell in zip(padded, row, strict=False))
    if not any(names) and len(row) == 2 and _names_its_row(row[0]) and row[1].text:
        pairs = {(row[0].text.rstrip(":"), row[1]): None}  # "Mayor | Ann Lee"
    return [f"{name}: {cell.text}" if name else cell.text for name, cell in pairs if cell.text]


def _alone(row: list[Cell]) -> str:
    """Return the text of a row that is one cell over several columns, or else ""."""
    return row[0].text if len(row) > 1 and all(cell is row[0] for cell in row) else ""


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith(_ENDS) else f"{sentence}."
