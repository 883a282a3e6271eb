"""Reads the numbers of charts as tables: a row for each category."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import zip_longest
from typing import Any

from pptx.chart.chart import Chart
from pptx.oxml import parse_xml

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import Unread
from retrieval.corpora.folder.numbers import shown_number
from retrieval.corpora.folder.tables import Cell, row_sentences

_FIRST_DAY = date(1899, 12, 30)  # of a spreadsheet
_MOST = 20_000  # categories of a chart
_PART = re.compile(r"(?:xl|word)/charts/chart\d*\.xml")
_WRITE_IT = "Write its numbers into a table."


def charts_in(archive: zipfile.ZipFile) -> tuple[list[str], list[Unread]]:
    """Return the sentences of the charts of an office file, and what is said of the others."""
    said: list[str] = []
    without = 0
    for name in sorted(filter(_PART.fullmatch, archive.namelist())):
        sentences = chart_sentences(Chart(parse_xml(archive.read(name)), None))  # type: ignore[no-untyped-call]
        without += not sentences
        said += sentences
    where = "1 chart" if without == 1 else f"{without} charts"
    message = "not read, but for what also stands in texts and tables."
    return said, [Unread(where, message, _WRITE_IT)] if without else []


def chart_sentences(chart: Any, above: str = "") -> list[str]:
    """Return a sentence for each category; ``above`` is what stands above the chart."""
    title = ""
    if chart.has_title and chart.chart_title.has_text_frame:
        title = clean(" ".join(each.text for each in chart.chart_title.text_frame.paragraphs))
    axes = chart._chartSpace.xpath("//c:valAx/c:title//a:p")
    said = [title, above, *(clean("".join(each.itertext())) for each in axes)]
    return [
        text for table in _tables(chart, title) for text in row_sentences(table, said, of_data=True)
    ]


def _tables(chart: Any, title: str) -> Iterator[list[list[Cell]]]:
    """Yield the tables of a chart, each below its title; one without categories has none."""
    for plot in chart.plots:
        series = list(plot.series)
        names = _categories(plot)[:_MOST]
        if not names or not series:
            continue
        above = [[Cell(title, heading=True)] * (1 + len(series))] if title else []
        heads = [Cell(clean(one.name), heading=True) for one in series]
        values = list(zip_longest(*map(_values, series), fillvalue=""))
        values += [("",) * len(series)] * (len(names) - len(values))
        rows = zip(names, values, strict=False)
        below = [[Cell(name), *map(Cell, row)] for name, row in rows]
        yield [*above, [Cell("", heading=True), *heads], *below]


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
