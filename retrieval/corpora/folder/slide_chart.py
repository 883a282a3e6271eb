"""Reads the numbers of a chart on a slide as a table: a row for each category."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.number_format import shown_number
from retrieval.corpora.folder.tables import Cell

_FIRST_DAY = date(1899, 12, 30)  # of a spreadsheet
_MOST = 20_000  # categories of a chart


def chart_tables(chart: Any, title: str) -> Iterator[list[list[Cell]]]:
    """Yield the tables of a chart, each below its title; one without categories has none."""
    for plot in chart.plots:
        series = list(plot.series)
        names = _categories(plot)[:_MOST]
        if not names or not series:
            continue
        above = [[Cell(title, heading=True)] * (1 + len(series))] if title else []
        heads = [Cell(clean(one.name), heading=True) for one in series]
        columns = [_values(one) for one in series]
        rows = [
            [Cell(name), *(Cell(column[at] if at < len(column) else "") for column in columns)]
            for at, name in enumerate(names)
        ]
        yield [*above, [Cell("", heading=True), *heads], *rows]


def _categories(plot: Any) -> list[str]:
    """Return the names of the categories, those of several levels with the outer names."""
    form = " ".join(plot._element.xpath("(.//c:cat)[1]//c:formatCode/text()"))
    labels = [", ".join(levels) for levels in plot.categories.flattened_labels]
    return [_day(label) if "yy" in form.lower() else clean(label) for label in labels]


def _day(label: str) -> str:
    try:
        return (_FIRST_DAY + timedelta(days=float(label))).isoformat()
    except (ValueError, OverflowError):
        return clean(label)


def _values(series: Any) -> list[str]:
    form = " ".join(series._element.xpath("./c:val//c:formatCode/text()")[:1])
    return ["" if value is None else shown_number(value, form) for value in series.values]
