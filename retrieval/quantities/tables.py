"""Says in words what the figures of a table say together: changes, differences, order, sum, share.

A network reads a figure in its row well, but it only guesses what two of them, or all of a column,
say about a claim. So arithmetic is done here, for the rows and columns that a claim names, and the
verifier reads its results before the row. Where units, order or parts are not sure, nothing is
said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, combinations, pairwise

from retrieval.quantities.rows import Figure, Row
from retrieval.text.word_forms import stems_in
from retrieval.types import SentenceKey

LONGEST = 320  # characters of all results: with row and claim they fit the verifier's window
_MOST_ROWS, _MOST_COLUMNS = 3, 4  # that are compared with each other
_MOST_OF_ALL = 2  # columns that are ordered and summed up
_MOST_ADDED = 60  # rows of a column that is summed up
_NAMED, _SURELY = 0.5, 0.75  # a claim names a row with more than this share of its name
_LITTLE = Decimal("0.1")  # a smaller share is not said
_NEAR_BEST = 0.6  # of the largest share: a row with less is not meant
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_GROUPED = re.compile(r"\d+(?:[.,]\d+)+")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_PART_OF_YEAR = re.compile(
    r"\b(?:[QH](?P<number>[1-4])|(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may"
    r"|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?))\b",
    re.IGNORECASE,
)
_PERIOD = re.compile(rf"{_YEAR.pattern}(?:[/–-]\d\d(?:\d\d)?)?|{_PART_OF_YEAR.pattern}", re.I)  # noqa: RUF001
_TOTAL = re.compile(
    r"(?:grand |sub-?)?totals?\b.*|.* total|all(?: .*)?|sums?(?: .*)?|overall|altogether|together"
    r"|(?:net|gross|overall|operating|final|opening|closing)?\s?"
    r"(?:balance|result|profit|loss|surplus|deficit|difference)\b.*"
    r"|mean|average|median|(?:whole|entire) .*|(?:-|of which|thereof|including) .*",
    re.IGNORECASE,
)
# Columns whose figures are never added: rates, ranks, dates, numbers that are names.
_NEVER_ADDED = re.compile(
    r"%|°|#|\b(?:per|rates?|share|shares of|percent(?:age)?|average|mean|median|index|rank|place"
    r"|position|score|marks?|grade|level|price|fee|age|phone|id|no|nr|number|code|year|date|time"
    r"|opened|built|founded|since|born|died|temperature|height|altitude|distance|km"
    r"|cumulative|change|difference|total)\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"%|\bpercent|\bshare\b|\brate\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Results:
    """What follows from a table for a claim: the rows that the claim names, and the text."""

    rows: tuple[SentenceKey, ...]
    text: str


def results(
    claim: str, table: Sequence[Row], best: SentenceKey | None = None, *, whole: bool = True
) -> Results | None:
    """Return what follows from a table for a claim, None if that is nothing.

    If the claim names no row, the ``best`` one counts as named, nearest to it in meaning. Without
    the ``whole`` table nothing is said of all its rows.
    """
    asked = _words(claim)
    columns = list(dict.fromkeys(column for row in table for column in row.figures))
    named = _columns_of(asked, columns)
    rows = _rows_of(asked, table)
    if not rows and not named:
        return None
    some = named or (columns if len(columns) <= _MOST_COLUMNS else [])
    lead = rows or [row for row in table if row.key == best]
    shown = [*_looked_up(lead, named), *(text for c in some for text in _between(lead, c))]
    alone = [text for row in lead[:_MOST_ROWS] for text in _of_row(row, named, columns)]
    of_all = [text for c in some[:_MOST_OF_ALL] for text in _of_all(table, rows, c)]
    changes = list(_all_changes(table, some))
    if not whole:
        of_all = changes = []
    if not rows:
        parts = [*changes, *of_all, *shown, *alone]
    elif len(named) == 1:
        parts = [*shown, *of_all, *alone]
    else:
        parts = [*shown, *alone, *of_all]
    text = " ".join(_fitting(parts))
    return Results(tuple(row.key for row in lead[:_MOST_ROWS]), text) if text else None


def _fitting(parts: Iterable[str]) -> Iterator[str]:
    """Yield parts in their order as long as they are short enough together; long ones are left."""
    left = LONGEST
    for part in dict.fromkeys(parts):
        if len(part) < left:
            left -= len(part) + 1
            yield part


# --- what a claim names


def _words(text: str) -> set[str]:
    """Return stems and periods of a text; the digits of "1,700" do not name "Line 1"."""
    text = _GROUPED.sub(" ", text)
    return stems_in(text) | {found[0].casefold() for found in _PERIOD.finditer(text)}


def _columns_of(asked: set[str], columns: Sequence[str]) -> list[str]:
    """Return the columns whose names share the most words with a claim, at least one."""
    shared = {column: len(asked & _words(column)) for column in columns}
    most = max(shared.values(), default=0)
    return [column for column, count in shared.items() if most and count == most][:_MOST_COLUMNS]


def _rows_of(asked: set[str], table: Sequence[Row]) -> list[Row]:
    """Return the rows that a claim names, the best first: by their names, else by other cells.

    More than three rows are not meant by their names, but may be by a cell that they share.
    """
    by_name = _named_by([row.name for row in table], asked)
    best = max(by_name.values(), default=0.0)
    chosen = [n for n, share in by_name.items() if share >= _NEAR_BEST * best]
    chosen.sort(key=lambda n: (-by_name[n], n))
    if best < _SURELY:
        others = _named_by([", ".join(list(row.words.values())[1:]) for row in table], asked)
        if shared := [n for n, share in others.items() if share >= _SURELY]:
            return [table[n] for n in shared]
    return [table[n] for n in chosen] if len(chosen) <= _MOST_ROWS else []


def _named_by(texts: Sequence[str], asked: set[str]) -> dict[int, float]:
    """Return which texts a claim names, and how much of each: a word of many texts counts less."""
    words = [_words(text) for text in texts]
    often = Counter(word for one in words for word in one)
    shares = {
        n: sum(1 / often[word] for word in one & asked) / sum(1 / often[word] for word in one)
        for n, one in enumerate(words)
        if one
    }
    return {n: share for n, share in shares.items() if share > _NAMED}


# --- periods


def _when(column: str) -> tuple[int, int] | None:
    """Return year and part of the year that a column is about, 0 where it names none."""
    year, part = _YEAR.search(column), _PART_OF_YEAR.search(column)
    if year is None and part is None:
        return None
    number = 0
    if part is not None:
        month = part["month"]
        number = int(part["number"]) if not month else 1 + _MONTHS.index(month[:3].lower())
    return int(year[0]) if year else 0, number


def _measure(column: str) -> str:
    """Return what a column measures: its name without the period."""
    return _PERIOD.sub("", column).casefold()


def _periods(columns: Sequence[str]) -> list[str]:
    """Return columns in the order of time; none unless all are of one measure and of other times.

    "Visitors 2019" and "Visitors 2020", but not "Visitors 2019" and "Staff 2019".
    """
    times = {column: time for column in columns if (time := _when(column)) is not None}
    if not len(times) == len(set(times.values())) == len(columns):
        return []
    return (
        sorted(times, key=lambda column: times[column]) if len({*map(_measure, times)}) == 1 else []
    )


# --- what the figures say


def _looked_up(rows: Sequence[Row], columns: Sequence[str]) -> Iterator[str]:
    for row in rows[:_MOST_ROWS]:
        cells = [f"{one}: {row.figures[one].said}" for one in columns if one in row.figures]
        if cells:
            yield f"{row.name}, {', '.join(cells)}."


def _of_row(row: Row, named: Sequence[str], columns: Sequence[str]) -> Iterator[str]:
    """Yield how the named figures of a row differ: over time, or side by side."""
    known = [column for column in columns if column in row.figures]
    asked = [column for column in named if column in known] or known
    if len(asked) == 1 and _when(asked[0]):  # the same in other periods
        asked = [column for column in known if _measure(column) == _measure(asked[0])]
    if periods := _periods(asked):
        ends = [(periods[0], periods[-1])] if len(periods) > 2 else []
        for first, last in (*ends, *reversed(list(pairwise(periods)))):
            yield from _change(row, first, last)
    elif len(asked) <= _MOST_COLUMNS:
        for first, last in combinations(asked, 2):
            one, other = row.figures[first], row.figures[last]
            if (named or one.unit) and (than := _than(one, other, first)):
                yield f"{row.name}: {first} ({one.said}) is {than} {last} ({other.said})."


def _change(row: Row, first: str, last: str) -> Iterator[str]:
    """Yield how the figure of a row changes between two periods, if its unit stays."""
    one, other = row.figures[first], row.figures[last]
    between = f"from {one.said} ({first}) to {other.said} ({last})"
    change, verb = abs(other.value - one.value), "rose" if other.value > one.value else "fell"
    if one.unit != other.unit:
        return
    if not change:
        yield f"{row.name} stayed the same {between}."
    elif one.value < 0 and other.value < 0:  # a cost or a loss, which grows as it falls
        yield f"{row.name} went {between}."
    elif _PERCENT.search(first + one.unit):
        yield f"{row.name} {verb} {between}, by {change.normalize():f} percentage points."
    else:
        percent = f" or {_rounded(100 * change / one.value)} %" if one.value > 0 else ""
        yield f"{row.name} {verb} {between}, by {one.shown(change)}{percent}."


def _than(one: Figure, other: Figure, column: str) -> str:
    """Return how one figure compares with another, "" where that is not sure."""
    if one.unit != other.unit or min(one.value, other.value) < 0:
        return ""
    if one.value == other.value:
        return "as much as"
    more, by = "more" if one.value > other.value else "less", abs(one.value - other.value)
    if _PERCENT.search(column + one.unit):
        return f"{more} (by {by.normalize():f} percentage points) than"
    if _NEVER_ADDED.search(column):
        years = _YEAR.fullmatch(one.said) and _YEAR.fullmatch(other.said)
        later = "later" if one.value > other.value else "earlier"
        return f"{later if years else more} than"
    times = f", {_rounded(one.value / other.value)} times" if other.value else ""
    return f"{more} (by {one.shown(by)}{times}) than"


def _rounded(value: Decimal) -> str:
    if 0 < value < _LITTLE:
        return f"under {_LITTLE}"
    return f"{round(value, 1 if value >= 10 else 2).normalize():f}"


def _between(rows: Sequence[Row], column: str) -> Iterator[str]:
    """Yield how these rows differ in a column, and their sum."""
    known = [row for row in rows if column in row.figures]
    if len(known) <= _MOST_ROWS:
        for one, other in combinations(known, 2):
            first, second = one.figures[column], other.figures[column]
            if than := _than(first, second, column):
                yield f"{column}: {one.name} ({first.said}) is {than} {other.name} ({second.said})."
    if 1 < len(known) == len(rows) and _can_be_added(known, column):
        many = f"{len(known)} rows"
        names = " and ".join(row.name for row in known) if len(known) <= _MOST_ROWS else many
        yield f"{column}: {names} together {known[0].figures[column].shown(_sum(known, column))}."


def _of_all(table: Sequence[Row], rows: Sequence[Row], column: str) -> Iterator[str]:
    """Yield the order of a column, and its sum with the share of each of these rows in it."""
    parts = _parts(table, column)
    ranked = sorted(parts, key=lambda row: -row.figures[column].value)
    if not ranked or not (text := _order([(row.name, row.figures[column]) for row in ranked])):
        return
    whole = _sum(parts, column)
    kept = {row.key for row in parts}
    totals = [
        row.figures[column].value for row in table if row.key not in kept and column in row.figures
    ]
    if not whole or any(total != whole for total in totals) or not _can_be_added(parts, column):
        yield f"{column}: {text}, of {len(parts)}."
        return
    places = {row.key: place for place, row in enumerate(ranked, start=1)}
    shares = [
        f"{row.name} is {_rounded(100 * row.figures[column].value / whole)} % of that, number"
        f" {places[row.key]}"
        for row in rows[:_MOST_ROWS]
        if row.key in places
    ]
    together = f"all {len(parts)} together {ranked[0].figures[column].shown(whole)}"
    yield f"{column}: {'; '.join([text, together, *shares])}."


def _order(ranked: Sequence[tuple[str, Figure]]) -> str:
    """Return which of ranked rows have the most and the least, "" where too many have as much."""
    (_, highest), (_, lowest) = ranked[0], ranked[-1]
    most = [name for name, figure in ranked if figure.value == highest.value]
    least = [name for name, figure in ranked if figure.value == lowest.value]
    if max(len(most), len(least)) > _MOST_ROWS or highest.value == lowest.value:
        return ""
    then = ""
    if len(most) == 1 and len(ranked) > len(least) + 1:
        then = f", then {ranked[1][0]} {ranked[1][1].said}"
    first, last = (" and ".join(names) for names in (most, least))
    return f"most {first} {highest.said}{then}, least {last} {lowest.said}"


def _all_changes(table: Sequence[Row], columns: Sequence[str]) -> Iterator[str]:
    """Yield how totals change between two periods, and how many rows rise and fall."""
    if len(periods := _periods(columns)) < 2:
        return
    first, last = periods[0], periods[-1]
    for row in table:
        if _is_total(row) and {first, last} <= row.figures.keys():
            yield from _change(row, first, last)
    parts = _parts(table, first)
    if not parts or parts != _parts(table, last):
        return
    changes: dict[str, list[str]] = {"rose": [], "fell": [], "did not change": []}
    for row in parts:
        one, other = row.figures[first], row.figures[last]
        if one.unit != other.unit:
            return
        verb = "rose" if other.value > one.value else "fell"
        changes[verb if one.value != other.value else "did not change"].append(row.name)
    said = [
        f"{len(names)} of {len(parts)} {verb}"
        + (f" ({', '.join(names)})" if len(names) <= _MOST_ROWS else "")
        for verb, names in changes.items()
        if names
    ]
    yield f"From {first} to {last}: {'; '.join(said)}."


# --- what may be compared and added


def _is_total(row: Row) -> bool:
    """Return whether a row sums up others, or is a part of another row."""
    own = row.name.removeprefix(f"{row.section}, ") if row.section else row.name
    return _TOTAL.fullmatch(own) is not None


def _parts(table: Sequence[Row], column: str) -> list[Row]:
    """Return the rows but totals; none unless all have a figure of one unit, in one section."""
    parts = [row for row in table if not _is_total(row)]
    figures = [row.figures.get(column) for row in parts]
    units = {figure.unit if figure and figure.value >= 0 else None for figure in figures}
    same = len(units) == 1 and None not in units and len({row.section for row in parts}) == 1
    return parts if same and len(parts) > 1 else []


def _sum(rows: Sequence[Row], column: str) -> Decimal:
    return sum((row.figures[column].value for row in rows), Decimal(0))


def _can_be_added(rows: Sequence[Row], column: str) -> bool:
    """Return whether the figures are amounts of one unit, none of which contains another."""
    figures = [row.figures[column] for row in rows]
    if _NEVER_ADDED.search(f"{column} {figures[0].unit}") or any(map(_is_total, rows)):
        return False
    if len({figure.unit for figure in figures}) > 1 or min(one.value for one in figures) < 0:
        return False
    years = all(_YEAR.fullmatch(figure.said) for figure in figures)
    return not years and not _is_nested([figure.value for figure in figures])


def _is_nested(values: Sequence[Decimal]) -> bool:
    """Return whether one of the values is the sum of those next to it, as a subtotal is."""
    if len(values) > _MOST_ADDED:
        return True
    for way in (values, values[::-1]):
        for at, value in enumerate(way):
            sums = list(accumulate(way[at + 1 :]))
            if value and value in sums[1:]:
                return True
    return False
