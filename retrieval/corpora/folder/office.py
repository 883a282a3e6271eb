"""What the files of offices share: zips of XML, how numbers are shown, and charts.

A zip that unpacks to more than fits into memory is refused. Numbers are written as the formats of
spreadsheets show them (12%, $320, 45.6 million, 00123), and charts are read as tables: a row for
each category.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, NamedTuple

from lxml import etree

from retrieval.corpora.cleaning import clean, reason_of
from retrieval.corpora.folder.document import Unread, Unreadable
from retrieval.corpora.folder.tables import Cell, row_sentences

_LARGEST = 256 << 20  # bytes of a document after unpacking
_OLE = b"\xd0\xcf\x11\xe0"  # the first bytes of files of Office 2003, and of encrypted ones
# The names of XML in files that Office saves as "Strict Open XML", and the usual ones.
_STRICT = b"http://purl.oclc.org/ooxml/"
_STRICT_NAME = re.compile(re.escape(_STRICT) + rb"(\w+)/")
_USUAL_NAME = rb"http://schemas.openxmlformats.org/\1/2006/"
_TEMPLATES = 2013  # the year of python-docx's own template
_SAVE_AGAIN = "Open it in the program that made it and save it again, without a password."


@contextmanager
def unpacked(path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield the zip of a document.

    The declared sizes can be trusted: ``zipfile`` reads no more of a member than it declares.

    Raises:
        Unreadable: it is no zip, is encrypted or damaged, or unpacks to too much.
        OSError: the file cannot be read.
    """
    suffix = path.suffix.lower()
    with path.open("rb") as stream:
        if stream.read(4) == _OLE:
            why = f"the file is encrypted, or is not a {suffix} but of an older format."
            raise Unreadable(why, _SAVE_AGAIN)
        try:
            with zipfile.ZipFile(stream) as archive:
                size = sum(member.file_size for member in archive.infolist())
                if size > _LARGEST:
                    most = f"at most {_LARGEST / 1e6:,.0f} MB are read."
                    why = f"the file unpacks to {size / 1e6:,.0f} MB; {most}"
                    raise Unreadable(why, "Save it without its pictures, or divide it.")
                yield archive
        except (Unreadable, OSError, MemoryError):
            raise
        except Exception as error:  # of zipfile, lxml and libraries, which do not list their own
            if "unknown error" in str(error):  # all that lxml says without memory
                raise MemoryError from error
            why = f"the file is damaged, or is not a {suffix} ({reason_of(error)})."
            raise Unreadable(why, _SAVE_AGAIN) from error


@contextmanager
def office_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a .docx, .pptx or .xlsx; one in Strict Open XML has the usual names, as libraries want.

    Raises what ``unpacked`` does.
    """
    with unpacked(path) as archive:
        if _STRICT not in archive.read("_rels/.rels"):
            with path.open("rb") as stream:
                yield stream
            return
        file = BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as usual:
            for member in archive.infolist():
                content = archive.read(member)
                if member.filename.endswith((".xml", ".rels")):
                    content = _STRICT_NAME.sub(_USUAL_NAME, content)
                usual.writestr(member.filename, content)
        yield file


def saved_on(properties: Any) -> str:
    """Return the day on which an office file says that it was written last, "" if it does not.

    A day before it was made, or that programs write into a new file, is none.
    """
    day = properties.modified or properties.created
    return day.date().isoformat() if day and day.year > _TEMPLATES else ""


def parsed(content: bytes) -> etree._Element:
    """Return the root of XML; its entities are left alone.

    Raises:
        XMLSyntaxError: it is damaged.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
    return etree.fromstring(content, parser)


_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|\[[^\]]*\]|_.|\*."  # a colour or a condition, a space, a filling
    r"|(?P<digits>General|[#0?][#0?,.]*)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_SHOWN = set("$€£¥%+-() '!&~<>=^{}")  # characters that need no quotes


class _Section(NamedTuple):
    """A format of numbers: what stands around the digits, and their own part of it.

    ``digits``: "" if the format shows no number, ``None`` if it is one of fractions, powers or
    dates, which are not known here. ``percent``: whether it shows hundredths.
    """

    before: str = ""
    digits: str | None = ""
    after: str = ""
    percent: bool = False


def shown_number(value: float, form: str) -> str:
    """Return a number with the sign, the unit and the zeros that its format gives it.

    Digits that the format rounds away are kept, except in percentages. A number that the format
    hides is "".
    """
    sections = _sections(form) if form else (_Section(digits="General"),)
    at = 1 if value < 0 and len(sections) > 1 else 2 if value == 0 and len(sections) > 2 else 0
    before, digits, after, percent = sections[at]
    number = Decimal(format(value, ".15g"))  # a spreadsheet computes with 15 digits
    if digits is None:
        return _plain(number)
    if not digits:
        return (before + after).strip()
    if percent:
        decimals = len(digits.partition(".")[2])
        number = (number * 100).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
        number = number.normalize() if digits.endswith("#") else number
    scale = len(digits) - len(digits.rstrip(","))
    number /= 1000**scale
    minus = "-" if number < 0 else ""
    whole, point, rest = _plain(abs(number), "," in digits[: len(digits) - scale]).partition(".")
    if digits[0] == "0" and "," not in digits:
        whole = whole.zfill(digits.partition(".")[0].count("0"))
    if minus:  # in brackets, or with a sign of the format
        before, after = before.replace("(", "").replace("-", ""), after.replace(")", "")
    return f"{minus}{before}{whole}{point}{rest}{after}".strip()


def _plain(number: Decimal, grouped: bool = False) -> str:
    """Return the digits of a number; one that is very small or large has an exponent."""
    if number and not -10 < number.adjusted() < 20:
        return f"{number.normalize():e}"
    return f"{number:,f}" if grouped else f"{number:f}"


@lru_cache(maxsize=1000)
def _sections(form: str) -> tuple[_Section, ...]:
    """Return the formats of positive numbers, of negative ones and of zero; one may be all."""
    sections = [_Section()]
    for found in _TOKEN.finditer(form):
        last = sections[-1]
        other = found["other"] or ""
        literal = (found["quoted"] or found["escaped"] or found["currency"] or "") + other
        if other == "%":
            last = last._replace(percent=True)
        if other == ";":
            sections.append(_Section())
            continue
        if found["digits"]:
            # A second group of digits is that of a fraction or a power.
            known = not last.digits and last.digits is not None
            last = last._replace(digits=found["digits"] if known else None, after="")
        elif other and other not in _SHOWN:
            last = last._replace(digits=None)
        elif last.digits:
            last = last._replace(after=last.after + literal)
        else:
            last = last._replace(before=last.before + literal)
        sections[-1] = last
    return tuple(sections)


_FIRST_DAY = date(1899, 12, 30)  # of a spreadsheet
_MOST = 20_000  # categories of a chart
_PART = re.compile(r"(?:xl|word)/charts/chart\d*\.xml")
_WRITE_IT = "Write its numbers into a table."


def charts_in(archive: zipfile.ZipFile) -> tuple[list[str], list[Unread]]:
    """Return the sentences of the charts of an office file, and what is said of the others."""
    from pptx.chart.chart import Chart  # not every format that this file opens needs it
    from pptx.oxml import parse_xml

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
    return [text for table in _tables(chart, title) for text in row_sentences(table, said)]


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
