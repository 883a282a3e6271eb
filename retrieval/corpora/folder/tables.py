"""Writes the rows of a table as sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, pairwise, takewhile

from retrieval.corpora.boxes import apart, with_boxes
from retrieval.corpora.corpus import EMPTY_BOX, TICKED_BOX
from retrieval.corpora.passages import ON_IT

_BOXES = (EMPTY_BOX, TICKED_BOX)
_ENDS = (".", "!", "?", "…")
_LONGEST = 80  # characters of a heading
MOST_COLUMNS = 500
_MOST_HEADS = 3  # rows
_MOST_AT_ONCE = 400_000  # cells of a table
_MOST_CELLS = 500_000  # of a table whose merged cells are repeated
# A year, "2019/20", "FY 2020", "Q1", "Q1/2020", "31.12.2020", perhaps with the mark of a note.
_PERIOD = re.compile(
    r"(?:FY|[QH][1-4])?[ '/-]?(?:1[5-9]|20)\d\d(?: ?[/–-] ?\d\d(?:\d\d)?)?\*?|[QH][1-4]"  # noqa: RUF001
    r"|\d{1,2}([./])\d{1,2}\1(?:1[5-9]|20)\d\d|(?:1[5-9]|20)\d\d-\d\d-\d\d"
)
_LONGEST_NOTE = 200  # characters
_NOTE = re.compile(r"(?:sources?|notes?|n\.b\.)\b|[*†‡]", re.IGNORECASE)
_NOTE_ROW = re.compile(
    r"(?:notes?|remarks?|comments?|info|rules?|clauses?|hinweise?)(?: ?\w{1,3})?[.:)]?|[#*†‡].*"
    r"|notes?\b.*: .*",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"[-+−]?\d[\d.,\s]*")  # noqa: RUF001
_NEGATIVE = re.compile(r"\(\s*(\d[\d.,]*)\s*\)")
_LEAST = 3  # characters of a figure in brackets that may be no mark
# What a note says of figures in brackets, and if they are below zero.
_ON_BRACKETS = re.compile(r"\bin (?:brackets|parentheses)\b|\(\s*\) ?(?:[=:]|means)", re.IGNORECASE)
_BELOW_ZERO = re.compile(r"negative|minus|below zero|loss|deficit|cost|expen[sd]", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"[(\[]([^()\[\];]{1,60})(?:;[^()\[\]]*)?[)\]]")
# "All amounts in CHF 000 unless stated otherwise", "Sums in thousand euros, with tax"
_SAID_IN = re.compile(
    r"\b(?:amounts|figures|values|sums)(?: are)? in ([^,;.:()]{1,40}?)(?=[,;.:)]| unless\b)", re.I
)
# "homes_thousand"
_LAST_WORD = re.compile(r"_((?:thousand|million|billion)s?(?: [a-z]{3})?)$", re.IGNORECASE)
_K_OF_MONEY = re.compile(r"_k(eur|usd|gbp|chf)$", re.IGNORECASE)  # "2024_keur"
_ALL = re.compile(r"\A(.+)\Z")
_AFTER_IN = re.compile(r"(?:\b[Ii]n|,|:)\s([^,:()]{1,40})$")
_MONEY = r"(?:US\$|A\$|[$€£¥]|EUR|USD|GBP|CHF|(?-i:[A-Z]{3}))"
# "in thousand euros", "$m", "EUR million", "£'000", "$ thousands", "thousands of pounds"
_UNIT = re.compile(
    r"(?:(?:all )?(?:amounts|figures|values|sums) )?(?:are )?(?:in )?"
    rf"(?P<before>{_MONEY})?\s?"
    r"(?P<factor>thousands?|millions?|billions?|['’]?000s?|(?<=[$€£¥DRPFK ])(?:mn?|bn|k))"  # noqa: RUF001
    r"(?:\s(?:of\s)?(?P<after>(?:US\s)?[a-z]{3,12}|[$€£¥]))?",
    re.IGNORECASE,
)
# "in EUR 1,000", "in 1000 euros", "in TEUR", "in k€"
_1000 = r"1[,.’' ]?000s?"  # noqa: RUF001
_IN_1000 = re.compile(
    rf"\b[Ii]n (?:({_MONEY}) ?{_1000}|{_1000}(?= (?:of )?(?:{_MONEY}|euros|dollars|pounds))"
    r"|[Tk](€|EUR))(?![\w,.])"
)
_FACTORS = {"th": "thousand", "00": "thousand", "k": "thousand"} | {
    **dict.fromkeys(("mi", "m", "mn"), "million"),
    **dict.fromkeys(("bi", "bn"), "billion"),
}
_CURRENCIES = {"$": "dollars", "us$": "US dollars", "usd": "US dollars", "chf": "francs"} | (
    {"a$": "Australian dollars", "€": "euros", "eur": "euros", "£": "pounds", "gbp": "pounds"}
    | {"¥": "yen", "nok": "Norwegian kroner", "dkk": "Danish kroner", "sek": "Swedish kronor"}
)
# What says that figures are counted in something else: "Employees", "Workers in May", but not
# "Services for older people", "Members' expenses" or "Spent to date".
_OTHER_UNIT = re.compile(
    r"[%‰]|\bper\b(?! (?:claim|loss|occurrence)\b)"
    r"|\b(?:percent|percentage|rate|ratio|share of|number)\b"
    r"|^(?:notes?|people|persons|years?|(?:[\w-]+ )*(?<!\bto )date|(?:years?|date) of .*)$"
    r"|^(?:(?!(?:and|for|of|to|with) )[\w-]+ ){0,3}(?:employees|headcount|workers|inhabitants"
    r"|population|members|passengers|visitors)"
    r"(?=\W*$| ?[,(]| (?:as|at|by|in|of|on|who|with)\b)"
    r"|\((?!(?:thousand|million|billion|net|gross|deficit|loss|revised|actual|plan(?:ned)?"
    r"|budget(?:ed)?|forecast|estimated?|provisional|preliminary|draft|target)s?\))"
    r"(?-i:(?:in |sq )?[a-z]{1,12}[²³.]?|FTE|[kMG]Wh?|°C)\)$",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\W\d_]+")
_LONGER = 2.5, 3.0  # how much longer words of both columns are than their names
_UNIT_SIGNS = ("%", "‰", "€", "$", "£")
# A value beside a name, and no name of a column: "Ann Lee, clerk", "of oak and iron, since 1902".
_VALUE = re.compile(r".*[,;]|.*\.(?: |$)|(?:\S+ ){4}")
_PART = re.compile(r"[;.]\s(?![^()]*\))")
_CODE = re.compile(
    r"[A-Z]?\d{0,4}\.?|[IVX]{1,4}\.?"
)  # of a section of a budget: "2", "C", "A1", "IV."
_TOTAL = re.compile(
    r"(?:(?:grand |sub-?)?total|(?:net |overall )?(?:balance|deficit|profit|result|surplus))\b.*"
    r"|.*\btotal",
    re.IGNORECASE,
)
_OF_PEOPLE = re.compile(
    r"\b(?:names?|persons?|candidates?|members?|authors?|councillors?)$", re.IGNORECASE
)
_TURNED = re.compile(r"([^\W\d_][\w'’ -]+), ((?:[^\W\d_][\w'’.-]* ?){1,3})")  # noqa: RUF001
# A figure that is lacking, or has the mark of a note: "n/a", "14,512 (p)", "120r".
_NO_WORD = re.compile(r"n[./]? ?a\.?|nil|none|tb[acd]|[-+−]?\d[\d.,\s]*\(?[a-z]\)?", re.IGNORECASE)  # noqa: RUF001
_MARKED = re.compile(r"([:?]), ")
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


def table_text(
    rows: Sequence[Sequence[Cell]], said: Sequence[str] = (), of_data: bool = False
) -> tuple[list[str], list[int]]:
    """Return the sentences of a table whose merged cells are repeated (``row_sentences``).

    The numbers are those of the rows that are too wide to be read, from 1.
    """
    grid, dropped = _repeated(rows)
    return list(row_sentences(grid, said, of_data)), dropped


def row_sentences(
    rows: Sequence[Sequence[Cell | str]], said: Sequence[str] = (), of_data: bool = False
) -> Iterator[str]:
    """Yield a sentence for each row; a cell that is in several places is the same object there.

    Names of the columns are in the first rows, if all their cells are marked as headings, or else
    in the first row if each of its cells looks like a name, and there are rows below it. In columns
    of figures they may be in the rows below that, if cells of the upper one stand over several
    columns, or the lower one does not name its row. A row that is one cell over all columns is a
    sentence, and a heading of the rows below it if they have one; so is one with a first cell alone
    if a section can begin there. Rows above the names that have only a first cell, such as the
    title of a sheet, name each row. A unit with a factor in a title or a note, or in ``said``, what
    stands above the table, is written after each figure that has none: "in thousand euros".
    ``of_data``: a file of data has names of columns; two columns of words in another one may be
    names and values ("Chair | Ann Lee").
    """
    whole = grid = _filled(rows)
    titles = _titles(grid)
    if titles and _heads(grid[len(titles) :]):
        yield from (_ended(title) for title in titles if not _is_name_of_rows(title))
        grid = grid[len(titles) :]
    else:
        titles = []
    heads = 0 if not of_data and _are_pairs(grid) else _heads(grid)
    naming = [row for row in grid[:heads] if not _alone(row)]
    width = max(map(len, naming), default=0)
    texts = [[cell.text for cell in row] for row in naming]
    for upper, lower in pairwise(texts):
        _fill(upper, lower)
    columns = ([row[at] for row in texts if at < len(row)] for at in range(width))
    # Of several names of a column the upper first, each once.
    named = (dict.fromkeys(text.rstrip(":") for text in column if text) for column in columns)
    names = list(map(" ".join, named))
    _put_first_names_first(grid, heads, names)
    # A note on the figures, or a caption; other sentences may be about something else.
    short = (text for text in said if len(text) <= _LONGEST_NOTE)
    near = (t for t in short if not t.endswith(_ENDS) or any(map(ON_IT.match, _PART.split(t))))
    about = [*near, *titles, *map(_only, whole), *names[:1]]
    on_columns = [(t, name, on) for t in about for name in names[1:] if (on := _on_column(name, t))]
    taken = {text for text, _, _ in on_columns}
    unit = unit_in(text for text in about if text not in taken)
    above = [
        t
        for t in filter(_is_name_of_rows, titles)
        if not _UNIT.fullmatch(_in_words(t).strip("()[] "))
    ]
    below = [[row[at].text for row in grid[heads:] if at < len(row)] for at in range(width)]
    years = {name for name, values in zip(names, below, strict=True) if _are_years(values)}
    plain = years.union(filter(_OTHER_UNIT.search, names))
    own = dict.fromkeys(plain, "")
    own |= {name: unit_in([part]) for _, name, part in on_columns}
    own |= {name: of_it for name in names if (of_it := unit_in([name]))}
    cells = [cell.text for row in whole for cell in row]
    least = _least_in_brackets([*said, *cells], cells)
    yield from _of_rows(grid, heads, names, above, unit, own, least)


def _fill(upper: list[str], lower: list[str]) -> None:
    """Write the name of a group over all its columns if the names below it are repeated.

    "2022 | | 2023 |" stands above "Plan | Paid | Plan | Paid"; a file may not say that a cell
    stands over several columns.
    """
    names = list(filter(None, lower[1:]))
    repeated = {name for name in names if names.count(name) > 1}
    for at in range(2, min(len(upper), len(lower))):
        if lower[at] in repeated:
            upper[at] = upper[at] or upper[at - 1]


def _filled(rows: Sequence[Sequence[Cell | str]]) -> list[list[Cell]]:
    cells = ([Cell(each) if isinstance(each, str) else each for each in row] for row in rows)
    return _with_sections([row for row in cells if any(cell.text for cell in row)])


def _with_sections(grid: list[list[Cell]]) -> list[list[Cell]]:
    """Write a section that has a code of its own, above rows with longer ones, as one cell."""
    for row, after in pairwise(grid):
        code, *names = [cell.text for cell in row if cell.text]
        is_code = bool(_CODE.fullmatch(code)) and code == row[0].text
        if is_code and len(names) == 1 < len(row) - 2 and row[1].text == names[0]:
            longer = after[0].text.startswith(code) and after[0].text != code
            if longer or row[1].heading or names[0].isupper():
                row[:] = [Cell(names[0], heading=True), *(Cell("") for _ in row[1:])]
    return grid


def _titles(grid: list[list[Cell]]) -> list[str]:
    """Return what stands above the names of columns: rows of one cell, then maybe one of two.

    Above names of three columns or more, with figures below, the one cell may stand anywhere, and
    the two at the ends of a line; above four names they may be beside each other.
    """
    titles: list[str] = []
    for at, (row, after) in enumerate(pairwise(grid), start=1):
        if _only(row):
            titles.append(_only(row))
            continue
        filled = [place for place, cell in enumerate(row) if cell.text]
        named = len(after) > max(2, filled[-1]) and all(cell.text for cell in after)
        below = (cell.text for row in grid[at + 1 :] for cell in row[1:])
        figures = any(map(_FIGURE.fullmatch, below))
        is_alone = named and figures and len(filled) == 1
        beside = filled == [0, 1] and len(after) > 3
        ends = figures and filled == [0, len(after) - 1]
        if is_alone or (named and (beside or ends) and _heads(grid[at:]) == 1):
            titles.append(", ".join(row[place].text for place in filled))
        if not is_alone:
            break
    return titles


def _are_pairs(grid: list[list[Cell]]) -> bool:
    """Return whether a table has two columns of words, of which the first row names none.

    The second cells are of several forms, or all have two capitals or more, as names of people do.
    A first row with capitals or shorter words than below it names the columns.
    """
    first, *below = grid or [[]]
    if len(first) != 2 or _is_marked(first) or _alone(first) or any(len(r) != 2 for r in below):
        return False
    if not all(cell.text for cell in first):
        return False
    labels, values = ([row[at].text for row in below] for at in (0, 1))
    words = not any(_NUMBER.match(text) for text in (first[1].text, *values))
    if not (below and all(values) and words) or any(text[:1].islower() for text in labels):
        return False
    forms, of_first = set(map(_form, values)), _form(first[1].text)
    alike = len(forms) == 1 and (of_first not in forms or sum(of_first) < 2)
    longer = (
        sum(map(len, texts)) >= by * len(texts) * len(cell.text)
        for texts, by, cell in zip((labels, values), _LONGER, first, strict=True)
    )
    named = first[1].text[0].isupper() and any(text[0].islower() for text in values)
    named = named or all(cell.text.isupper() for cell in first)
    return not (alike or named or any(longer))


def _form(text: str) -> tuple[bool, ...]:
    """Return for each word of a text whether it begins with a capital."""
    return tuple(word[0].isupper() for word in text.split())


def names_in(rows: Sequence[Sequence[Cell | str]]) -> list[list[Cell]]:
    """Return the first rows of a table that name its columns, none if they are values."""
    grid = _filled(rows)
    return grid[: _heads(grid)]


def _put_first_names_first(grid: list[list[Cell]], heads: int, names: list[str]) -> None:
    """Write "Lee, Ann" as "Ann Lee" in a column of people, whose commas would part the row."""
    for at, name in enumerate(names):
        below = [row for row in grid[heads:] if at < len(row) and row[at].text]
        if _OF_PEOPLE.search(name) and all(_TURNED.fullmatch(row[at].text) for row in below):
            for row in below:
                row[at] = replace(row[at], text=in_order(row[at].text))


def in_order(name: str) -> str:
    """Return "Ann Lee" for "Lee, Ann", and other names as they are."""
    return _TURNED.sub(r"\2 \1", name) if _TURNED.fullmatch(name) else name


def _of_rows(
    grid: list[list[Cell]],
    heads: int,
    names: list[str],
    above: list[str],
    unit: str,
    own: Mapping[str, str],
    least: int,
) -> Iterator[str]:
    """Yield the sentences of the rows.

    ``own``: units of some columns, "" for none; ``least``: of ``_least_in_brackets``.
    """
    notes = _notes_begin(grid, heads) if heads else len(grid)
    last = max((at for at, row in enumerate(grid[:notes]) if not _only(row)), default=0)
    heading = [[cell.text for cell in row] for row in grid[:heads]]
    sections = heads < len(grid) and _has_one_cell(grid[heads])
    groups: list[str] = []
    summed = False
    # The sums of the columns of figures, of all rows and of those of a section.
    whole: dict[int, float] = {}
    part: dict[int, float] = {}
    for at, row in enumerate(grid):
        alone = _only(row)
        over_all = bool(_alone(row))
        begins = over_all or sections or row[0].heading or alone.endswith(":")
        if at >= notes:
            yield _ended(_joined(_named([], row, "", {}, least)))
        elif alone and at < last and begins and _is_name_of_rows(alone):
            nested = over_all and at and _alone(grid[at - 1])
            groups = [*groups, alone.rstrip(":")] if nested else [alone.rstrip(":")]
            part = {}
        elif alone and (over_all or not _is_name_of_rows(alone)):
            yield _ended(alone)
        elif at >= heads and [cell.text for cell in row] not in heading:  # repeated on a new page
            row, empty = _with_ticks(row, names)
            values = _named(names, row, unit, own, least)
            is_sum = bool(_TOTAL.fullmatch(next((cell.text for cell in row if cell.text), "")))
            of_all = is_sum and _is_sum(row, whole) and not _is_sum(row, part)
            groups = [] if of_all or (summed and is_sum) else groups  # the sum of several sections
            summed = is_sum
            for sums in (whole, part) if groups and not is_sum else ():
                _add(row, sums)
            if values[1:] and values[-1].endswith("?"):  # the row itself is no question
                values[-1] = values[-1].replace(row[-1].text, f"“{row[-1].text}”")
            if values:
                yield _ended(_joined([*above, *groups, *values]))
            yield from (f"{EMPTY_BOX} {_joined([*above, *groups, *one])}." for one in empty)


def _add(row: list[Cell], sums: dict[int, float]) -> None:
    for at, cell in enumerate(row):
        sums[at] = sums.get(at, 0.0) + (_value(cell.text) or 0.0)


def _is_sum(row: list[Cell], sums: Mapping[int, float]) -> bool:
    """Return whether the figures of a row are the sums of its columns; they may be rounded."""
    values = {at: value for at, cell in enumerate(row) if (value := _value(cell.text)) is not None}
    return bool(values) and all(
        math.isclose(value, sums.get(at, 0.0), rel_tol=0.01, abs_tol=1.0)
        for at, value in values.items()
    )


def _value(figure: str) -> float | None:
    """Return the value of a figure, below zero in brackets; None for other texts."""
    negative = _NEGATIVE.fullmatch(figure)
    plain = re.sub(r"[, ]", "", f"-{negative[1]}" if negative else figure)
    plain = plain.replace("\N{MINUS SIGN}", "-")
    return float(plain) if re.fullmatch(r"[-+]?\d+(?:\.\d+)?", plain) else None


def _notes_begin(grid: list[list[Cell]], heads: int) -> int:
    """Return the place of the first of the last rows that are notes, and not about the columns.

    These have a label and a text, or one cell; the first is marked as a note, or is a statement
    alone below a later column.
    """
    at = len(grid)
    while at > heads and _is_apart(grid[at - 1], len(grid[at - 1])):
        at -= 1
    if any(_NOTE_ROW.fullmatch(row[0].text) for row in grid[heads:at]):  # as all rows are
        return len(grid)
    return next((at for at in range(at, len(grid)) if _is_note(grid[at])), len(grid))


def _is_apart(row: list[Cell], width: int) -> bool:
    """Return whether a row has one cell, or a label and a text that leave other columns empty."""
    filled = [at for at, cell in enumerate(row) if cell.text]
    is_thin = len(filled) == 1 or (filled == [0, 1] and width > 2)
    return is_thin and _has_a_word(row[filled[-1]].text) and not _alone(row)


def _is_note(row: list[Cell]) -> bool:
    text = next(cell.text for cell in row if cell.text)
    is_statement = not row[0].text and (len(text) > _LONGEST or ": " in text)
    return bool(_NOTE_ROW.fullmatch(text)) or is_statement


def _joined(cells: list[str]) -> str:
    return _MARKED.sub(r"\1 ", ", ".join(cells))


def _only(row: list[Cell]) -> str:
    """Return the text of a row that has one cell, over all columns or the first; "" for others."""
    return row[0].text if _has_one_cell(row) else _alone(row)


def _is_name_of_rows(text: str) -> bool:
    """Return whether a row of one cell is a heading, and no sentence or note."""
    return len(text) <= _LONGEST and not text.endswith(_ENDS) and not _NOTE.match(text)


def _with_ticks(row: list[Cell], names: list[str]) -> tuple[list[Cell], list[list[str]]]:
    """Return a row without its empty boxes, and what each says if no other is ticked.

    A box without a name of its column belongs to the cell after it, as do all that begin a row.
    """
    signs = [with_boxes(cell.text) for cell in row]
    for at, (sign, after) in enumerate(pairwise(signs)):
        has_name = bool(at and at < len(names) and names[at])
        if sign in _BOXES and after and not has_name and not _has_box(after):
            signs[at : at + 2] = "", f"{sign} {after}"
    boxed = [at for at, sign in enumerate(signs) if _has_box(sign)]
    filled = [at for at, sign in enumerate(signs) if sign]
    if filled[:1] == boxed and signs[boxed[0]].startswith(EMPTY_BOX):
        return [Cell("")] * len(row), [[signs[at].removeprefix(EMPTY_BOX).strip() for at in filled]]
    others = [at for at in filled if at not in boxed]
    shown = list(row) if boxed else row
    empty: list[list[str]] = []
    for at in {*boxed, *(at for at, sign in enumerate(signs) if boxed and not sign)}:
        parts = apart(signs[at])
        shown[at] = Cell(" ".join(part for part in parts if not part.startswith(EMPTY_BOX)))
        labels = [p.removeprefix(EMPTY_BOX).strip() for p in parts if p.startswith(EMPTY_BOX)]
        if labels == [""] and TICKED_BOX not in signs and at < len(names):  # a box alone
            labels = names[at : at + 1]
        of_row = [each for each in others if each < at] or others[:1]
        row_said = [
            ": ".join([*filter(None, names[each : each + 1]), signs[each]]) for each in of_row
        ]
        empty += ([*row_said, label] for label in labels if label)
    return shown, empty


def _has_box(text: str) -> bool:
    return EMPTY_BOX in text or TICKED_BOX in text


def above_table(before: Iterable[tuple[str, bool]]) -> list[str]:
    """Return the last texts above a table that may be about it, of three with whether it is a row.

    What stands right below the rows of another table is a note on that one, unless it stands right
    above this one too.
    """
    texts = list(before)
    notes = {at + 1 for at, (_, is_row) in enumerate(texts) if is_row} - {len(texts) - 1}
    return [text for at, (text, is_row) in enumerate(texts) if not is_row and at not in notes][-2:]


def unit_in(texts: Iterable[str]) -> str:
    """Return the unit with a factor that one of some texts gives figures: "thousand euros".

    "in thousand euros", "($m)", "(EUR million)", "Figures in thousands of pounds"; "" if none does.
    """
    return next((unit for text in texts if (unit := _unit_apart(text)[0])), "")


@lru_cache(maxsize=MOST_COLUMNS)
def _unit_apart(text: str) -> tuple[str, str]:
    """Return the unit that a text gives figures, and the text without it."""
    text = _in_words(text)
    places = _IN_BRACKETS, _SAID_IN, _AFTER_IN, _LAST_WORD, _ALL
    for found in chain(*(place.finditer(text) for place in places)):
        unit = _UNIT.fullmatch(found[1].strip(" ."))
        if unit and (found[1] != text or unit["before"]):
            factor = _FACTORS[unit["factor"].lower().strip("'’")[:2]]  # noqa: RUF001
            money = unit["before"] or (unit["after"] or "").lower()
            rest = f"{text[: found.start()].strip()} {text[found.end() :].strip()}".strip()
            rest = text if ";" in found[0] else rest
            return f"{factor} {_CURRENCIES.get(money.lower(), money)}".strip(), rest
    return "", text


def _on_column(name: str, text: str) -> str:
    """Return the part of a note of several parts that begins with the name of a column, or "".

    "Rounded to ten; households in thousands" is about the column "households" alone.
    """
    parts = _PART.split(text.rstrip(" ."))
    if not parts[1:] or not (column := _WORDS.match(name.casefold())):
        return ""
    word = column[0]
    return next((part for part in parts if part.casefold().startswith(word)), "")


def _in_words(text: str) -> str:
    return _K_OF_MONEY.sub(r"_thousand \1", _IN_1000.sub(r"in \1\2 thousand", text))


def tables_in(rows: Iterable[list[Cell]]) -> Iterator[list[list[Cell]]]:
    """Yield the tables of a sheet, of a limited size: stacked, or beside each other.

    An empty row ends a table if new names of columns follow it, or else is left out; a part of a
    table that does not name its columns is yielded below the names of the part before. What stands
    alone between two empty rows belongs to what follows.
    """
    names: list[list[Cell]] = []
    before: list[list[Cell]] = []  # the rows below them
    titles: list[list[Cell]] = []
    for stretch in map(_with_sections, _stretches(rows)):
        said = [_said_apart(row) for row in stretch]
        if all(said):
            titles += (
                [Cell(text), *(Cell("") for _ in stretch[0][1:])] for row in said for text in row
            )
            continue
        for table in _beside_each_other([*titles, *stretch]):
            alone = list(takewhile(_only, table))
            own = table[len(alone) : len(alone) + _heads(table[len(alone) :])]
            if own and _may_follow(own, names, table[len(alone) + len(own) :]):
                names, before = [*alone, *own], table[len(alone) + len(own) :]
                yield table
            elif _are_notes(table[len(alone) :], before):
                yield from ([*alone, row] for row in table[len(alone) :])
            else:
                yield [*names, *table]
                before += table
        titles = []
    if titles:
        yield titles


def _are_notes(rows: list[list[Cell]], before: list[list[Cell]]) -> bool:
    """Return whether rows below an empty one are notes, and not about the columns of those before.

    Each has a label and a text, or words in columns of figures, and some are unlike those before.
    """
    width = max(map(len, before), default=0)
    above = [[row[at].text for row in before if row[at:] and row[at].text] for at in range(width)]
    figures = {at for at, texts in enumerate(above) if texts and not any(map(_has_a_word, texts))}
    longest = max(_LONGEST, *(len(text) for texts in above for text in texts), 0)
    unlike = []
    for row in rows:
        filled = {at for at, cell in enumerate(row) if cell.text}
        words = {at for at in filled & figures if _has_a_word(row[at].text)}
        is_odd = words == filled or (2 * len(filled) <= width and bool(words - {0}))
        unlike.append(is_odd or any(len(cell.text) > longest for cell in row))
    return any(unlike) and all(
        is_odd or _is_apart(row, width) for row, is_odd in zip(rows, unlike, strict=True)
    )


def _said_apart(row: list[Cell]) -> list[str]:
    """Return what a row says that has one cell, or two at the ends of a line; none of others."""
    filled = [at for at, cell in enumerate(row) if cell.text]
    if len(row) == 1 or _only(row):
        return [row[filled[0]].text]
    texts = [row[at].text for at in filled]
    is_apart = len(filled) == 1 or (len(filled) == 2 and filled[1] - filled[0] > 2)
    return texts if is_apart and filled[0] < 2 and _has_a_word(texts[0]) else []


def _stretches(rows: Iterable[list[Cell]]) -> Iterator[list[list[Cell]]]:
    """Yield the rows between two empty ones, or fewer if they are very many."""
    held: list[list[Cell]] = []
    for row in chain(rows, [[]]):
        says = any(cell.text for cell in row)
        if held and (not says or len(held) * len(row) > _MOST_AT_ONCE):
            yield held
            held = []
        held += [row] if says else []


def _may_follow(own: list[list[Cell]], names: list[list[Cell]], below: list[list[Cell]]) -> bool:
    """Return whether names are those of a new table: words above words only if they are marked."""
    figures = any(_FIGURE.match(cell.text) for row in below for cell in row)
    return not names or figures or any(cell.heading for cell in own[0])


def _beside_each_other(rows: list[list[Cell]]) -> list[list[list[Cell]]]:
    """Return tables that an empty column parts, if each names its columns, or else all rows."""
    width = max(max(at for at, cell in enumerate(row, 1) if cell.text) for row in rows)
    whole = [[*row[:width], *(Cell("") for _ in range(width - len(row)))] for row in rows]
    filled = [any(row[at].text for row in whole) for at in range(width)]
    begins = [at for at in range(width) if filled[at] and not (at and filled[at - 1])]
    parts = [[row[a:b] for row in whole] for a, b in pairwise([*begins, width])]
    parts = [[row for row in part if any(cell.text for cell in row)] for part in parts]
    named = [_heads(part[len(list(takewhile(_only, part))) :]) for part in parts]
    return parts if len(parts) > 1 and all(named) else [whole]


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
    while heads > 1 and _has_one_cell(rows[heads - 1]):  # a section, in bold letters too
        heads -= 1
    if heads == 1 and rows[2:] and _goes_below(*rows[:3]):
        heads = 2
    if not heads:
        most = min(_MOST_HEADS, len(rows) - 1)
        heads = next((heads for heads in range(most, 0, -1) if _are_heads(rows, heads)), 0)
    return titles + heads if 0 < heads < len(rows) else 0


def _are_heads(grid: list[list[Cell]], heads: int) -> bool:
    """Return whether so many of the first rows look like the names of the columns."""
    first, below = grid[0], grid[heads:]
    cells = [cell for row in grid[:heads] for cell in row]
    if len(first) < 2 or any(_names_its_row(cell) or _has_box(cell.text) for cell in cells):
        return False
    seconds = (row[1].text for row in below if len(row) == 2)
    kinds = {bool(_NUMBER.match(text)) or not _has_a_word(text) for text in seconds if text}
    is_value = len(first) == 2 and first[1].text[:1].isdigit() and not is_period(first[1].text)
    is_pair = kinds == {False} and (_VALUE.match(first[1].text) or is_period(first[0].text[:4]))
    if is_value or is_pair or (len(first) == 2 and len(kinds) == 2):  # names and their values
        return False
    values = [[row[at].text for row in below if at < len(row)] for at in range(len(first))]
    # "Part 2 Conduct | yes | no" above columns of boxes
    boxed = all(any(map(_has_box, map(with_boxes, column))) for column in values[1:])
    if boxed and heads == 1:
        return not any(any(map(str.isdigit, cell.text)) for cell in first[1:])
    return all(_are_names(row, values) for row in grid[:heads]) and all(
        _goes_on(upper, lower, values) for upper, lower in pairwise(grid[:heads])
    )


def _are_names(row: list[Cell], values: list[list[str]]) -> bool:
    # "Prices (2020 = 100) | 2024 | 2025" above names and figures
    first = int(len(row) > 2 and all(is_period(cell.text) for cell in row[1:]))
    pairs = zip(row[first:], values[first:], strict=False)
    names = all(_is_a_name(cell.text, below) for cell, below in pairs)
    return names and sum(not cell.text for cell in row) < len(row) - 1


def _goes_on(upper: list[Cell], lower: list[Cell], values: list[list[str]]) -> bool:
    """Return whether the names of columns of figures in one row go on in the next."""
    pairs = enumerate(pairwise(upper))
    over = {place for at, (a, b) in pairs if a is b and a.text for place in (at, at + 1)}
    named = over if over or lower[0].text else {at for at, cell in enumerate(lower) if cell.text}
    columns = [values[at] if at < len(values) else [] for at in named]
    return bool(named) and all(any(c) and not any(map(_has_a_word, c)) for c in columns)


def _goes_below(upper: list[Cell], lower: list[Cell], below: list[Cell]) -> bool:
    """Return whether names below merged ones are names too, though only the upper are marked."""
    merged = any(a is b and a.text for a, b in pairwise(upper))
    names = all(c.text and not any(map(str.isdigit, c.text)) for c in lower[1:])
    figures = not lower[0].text and any(any(map(str.isdigit, cell.text)) for cell in below[1:])
    return merged and names and (figures or lower[0] is upper[0])


def _is_marked(row: list[Cell]) -> bool:
    """Return whether all cells are marked as headings; the first and empty ones need not be."""
    marked = any(cell.heading for cell in row) and all(c.heading or not c.text for c in row[1:])
    return len(row) > 1 and marked


def _names_its_row(cell: Cell) -> bool:
    return cell.heading or cell.text.endswith(":")


def _is_a_name(text: str, below: list[str]) -> bool:
    """With digits it is one if it is a period or has words, and most of what is below is not."""
    if not any(map(str.isdigit, text)):
        return not text or text in _UNIT_SIGNS or any(map(str.isalpha, text))
    values = [value for value in below if value]
    if _PERIOD.fullmatch(text):
        return not all(map(_PERIOD.fullmatch, values))
    if "_" in text and not any("_" in value for value in values):  # "fee_2024"
        return True
    return any(map(str.isalpha, text)) and sum(map(_has_a_word, values)) * 3 <= len(values)


def is_period(text: str) -> bool:
    """Return whether a text is a year, or another period that may name a column."""
    return _PERIOD.fullmatch(text) is not None


def _are_years(values: list[str]) -> bool:
    filled = list(filter(None, values))
    return len(filled) > 1 and all(map(is_period, filled))


def _has_a_word(value: str) -> bool:
    return any(map(str.isalpha, value)) and not _NO_WORD.fullmatch(value)


def _named(
    names: list[str], row: list[Cell], unit: str, own: Mapping[str, str], least: int
) -> list[str]:
    """Return the cells of a row with their names; a cell in two columns of a name is there once."""
    padded = names + [""] * (len(row) - len(names))
    pairs = dict.fromkeys((name, cell) for name, cell in zip(padded, row, strict=False))
    label = row[0].text.rstrip(":")
    is_label = len(label) <= _LONGEST and _has_a_word(label) and not re.search(r"[:.!?…]", label)
    others = [cell for cell in row[1:] if cell.text]
    if not any(names) and len(others) == 1 and is_label and not _has_box(label):
        pairs = {(label, others[0]): None}  # "Mayor | Ann Lee"
    of_row = unit_in([row[0].text]) or ("" if _OTHER_UNIT.search(row[0].text) else unit)
    said: list[str] = []
    whole: list[bool] = []  # whether a cell says its unit
    for name, cell in pairs:
        of_cell = own.get(name, of_row)
        fewest = max(least, _LEAST) if least and own.get(name) == "" else least
        value = _with_unit(cell.text, of_cell, fewest) if cell is not row[0] else cell.text
        name = _unit_apart(name)[1] if value != cell.text else name  # the unit is said once
        whole.append(value != cell.text or cell is row[0] or not any(map(str.isdigit, value)))
        said += [f"{name}: {value}" if name and value else value]
    if names and _unit_apart(names[0]) == (unit, "") and (unit != of_row or all(whole)):
        said[0] = row[0].text
    return list(filter(None, said))


def _least_in_brackets(texts: Iterable[str], cells: Iterable[str]) -> int:
    """Return how many characters a figure in brackets has at least that is below zero; 0: none is.

    A short one may be a mark or a rank, if no cell shows that brackets are the minus of a table.
    """
    said = list(filter(_ON_BRACKETS.search, texts))
    if said:
        return 1 if any(map(_BELOW_ZERO.search, said)) else 0
    found = filter(None, map(_NEGATIVE.fullmatch, cells))
    return 1 if any(len(figure[1]) >= _LEAST for figure in found) else _LEAST


def _with_unit(text: str, unit: str, least: int) -> str:
    """Return a figure with its unit, and one in brackets with a minus: "(1,200)"."""
    found = _NEGATIVE.fullmatch(text) if least else None
    if found and (unit or len(found[1]) >= least):
        text = f"-{found[1]}"
    return f"{text} {unit}" if unit and _FIGURE.fullmatch(text) else text


def _alone(row: list[Cell]) -> str:
    """Return the text of a row that is one cell over several columns, or else ""."""
    return row[0].text if len(row) > 1 and all(cell is row[0] for cell in row) else ""


def _has_one_cell(row: list[Cell]) -> bool:
    return len(row) > 1 and bool(row[0].text) and not any(cell.text for cell in row[1:])


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith(_ENDS) else f"{sentence}."
