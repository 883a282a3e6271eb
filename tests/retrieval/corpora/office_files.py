"""Makes small files of the formats of offices, books and mails."""

import re
import zipfile
from collections.abc import Mapping
from datetime import date
from email.message import EmailMessage
from io import BytesIO
from pathlib import Path

import pptx
import xlsxwriter
from lxml import etree
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

_SPACES = {name: name for name in ("office", "text", "table", "style")} | {"draw": "drawing"}
_OPENDOCUMENT = "urn:oasis:names:tc:opendocument:xmlns"
_ODT_NAMES = " ".join(f'xmlns:{a}="{_OPENDOCUMENT}:{b}:1.0"' for a, b in _SPACES.items())
_ODT_NAMES += ' xmlns:xlink="http://www.w3.org/1999/xlink"'


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    """Return a zip of these members."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def strict(path: Path) -> None:
    """Give a file of Office the names of Strict Open XML, and a day in the form of that."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    usual = rb"http://schemas\.openxmlformats\.org/(\w+ml|officeDocument)/2006/"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            content = re.sub(usual, rb"http://purl.oclc.org/ooxml/\1/", content)
            day = b' s="3" t="d"><v>1931-05-02</v>'
            archive.writestr(name, content.replace(b' s="3"><v>11445</v>', day))


def odt_of(body: str, kind: str = "text") -> bytes:
    """Return an .odt with this body, or an .ods, of the kind "spreadsheet".

    "up" and "down" are styles above and below the line, and "gone" one that is struck. "raised" is
    one of the file's common styles, and "own" is based on it.
    """
    looks = {"up": 'text-position="super 58%"', "down": 'text-position="-33% 58%"'}
    looks["gone"] = 'text-line-through-style="solid"'
    styles = "".join(
        f'<style:style style:name="{name}"><style:text-properties style:{look}/></style:style>'
        for name, look in looks.items()
    )
    styles += '<style:style style:name="own" style:parent-style-name="raised"/>'
    common = (
        f"<office:document-styles {_ODT_NAMES}><office:styles>"
        '<style:style style:name="raised"><style:text-properties style:text-position="super 58%"/>'
        "</style:style></office:styles></office:document-styles>"
    )
    content = (
        f"<office:document-content {_ODT_NAMES}>"
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    formula = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi><mo>=</mo><mn>7</mn></math>'
    )
    return zipped({"content.xml": content, "styles.xml": common, "Object 1/content.xml": formula})


def epub_of(title: str, chapters: Mapping[str, str]) -> bytes:
    """Return an .epub with these chapters, by their titles; its first page is empty."""
    pages = {"cover.xhtml": "<html><body><img src='a.png'/></body></html>"} | {
        f"chapter {number}.xhtml": f"<html xmlns='http://www.w3.org/1999/xhtml'><head><title>{name}"
        f"</title></head><body><h1>{name}</h1>{text}</body></html>"
        for number, (name, text) in enumerate(chapters.items())
    }
    items = "".join(
        f'<item id="{at}" href="text/{name.replace(" ", "%20")}"/>' for at, name in enumerate(pages)
    )
    order = "".join(f'<itemref idref="{at}"/>' for at, _ in enumerate(pages))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata'
        f' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{order}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    members = {"META-INF/container.xml": container, "OEBPS/book.opf": package}
    return zipped(members | {f"OEBPS/text/{name}": page for name, page in pages.items()})


def mail_of(subject: str, text: str, page: str = "", attachment: str = "") -> EmailMessage:
    """Return a mail with a text, or a page, and an attached file of this name."""
    mail = EmailMessage()
    mail["Subject"], mail["From"] = subject, "Ann Lee <ann@example.org>"
    mail.set_content(page, subtype="html") if page else mail.set_content(text)
    if attachment:
        mail.add_attachment(b"1", "application", "pdf", filename=attachment)
    return mail


_FORMULA = """<mc:AlternateContent
    xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"
    xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main"
    xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><mc:Choice Requires="a14">
    <a14:m><m:oMath><m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>6</m:t></m:r></m:sup>
    </m:sSup></m:oMath></a14:m></mc:Choice></mc:AlternateContent>"""


def write_slides(path: Path) -> None:
    """Write two shown slides, with a table and notes, and a hidden one, and a hidden box."""
    made = pptx.Presentation()
    first, second, hidden = (made.slides.add_slide(made.slide_layouts[5]) for _ in range(3))
    first.shapes.title.text = "Lamps of Rowan"
    box, unseen = (first.shapes.add_textbox(0, 0, Inches(1), Inches(1)) for _ in range(2))
    unseen.text_frame.text = "It is green."
    unseen._element.nvSpPr.cNvPr.set("hidden", "1")
    line = box.text_frame.paragraphs[0]
    tank = "The tank holds 3 \N{MULTIPLICATION SIGN} 10"
    raised, lowered = ("6", "30000"), ("2", "-25000")
    for text, baseline in (
        *((tank, ""), raised, (" litres of oil, 101", ""), lowered, (" and ", "")),
    ):
        run = line.add_run()
        run.text = text
        if baseline:
            run.font._element.set("baseline", baseline)
    line._p.append(etree.fromstring(_FORMULA))
    line.add_run().text = " cups."
    first.notes_slide.notes_text_frame.text = "The oil was bought in 1931."
    second.shapes.title.text = "Costs"
    table = second.shapes.add_table(3, 2, 0, 0, Inches(1), Inches(1)).table
    for at, text in enumerate(("Lamp", "Price", "red", "9 crowns", "", "8 crowns")):
        table.cell(at // 2, at % 2).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    hidden.shapes.title.text = "It is green."
    hidden.element.set("show", "0")
    made.save(str(path))


def write_charts(path: Path) -> None:
    """Write a slide with a chart of columns, one with a chart over days, and one with dots."""
    made = pptx.Presentation()
    bars, days = CategoryChartData(number_format='"$"#,##0'), CategoryChartData()
    bars.categories, days.categories = ("Rowan", "Elm"), (date(1931, 5, 2), date(1932, 1, 1))
    for year, values in (("1921", (1200, 7)), ("1922", (3.5, None))):
        bars.add_series(year, values)
    days.add_series("Share", (0.125, 0.5), number_format="0.0%")
    dots = XyChartData()
    dots.add_series("Lamps").add_data_point(1, 2)
    for data, kind in (
        (bars, XL_CHART_TYPE.COLUMN_CLUSTERED),
        (days, XL_CHART_TYPE.LINE),
        (dots, XL_CHART_TYPE.XY_SCATTER),
    ):
        slide = made.slides.add_slide(made.slide_layouts[6])
        chart = slide.shapes.add_chart(kind, 0, 0, Inches(4), Inches(4), data).chart
        if data is bars:
            chart.chart_title.text_frame.text = "Cost of the lamps"
    made.save(str(path))


def write_merged_workbook(path: Path, bold: bool) -> None:
    """Write a sheet with merged cells under a title, with a hidden row and a hidden column."""
    with xlsxwriter.Workbook(str(path)) as book:
        look = book.add_format({"bold": bold})
        lamps = book.add_worksheet()
        lamps.merge_range("A1:F1", "Lamps", look)
        lamps.merge_range("A2:A3", "County", look)
        lamps.merge_range("B2:B3", "Town", look)
        lamps.merge_range("C2:D2", 1921, look)
        lamps.merge_range("E2:F2", 1922, look)
        lamps.write_row("C3", ("Oil", "Gas", "Oil", "Gas"), look)
        lamps.merge_range("A4:A6", "North")
        for at, name in enumerate(("Rowan", "Alder", "Elm"), start=3):
            lamps.write_row(at, 1, (name, at, 10 * at, 100 * at, 1000 * at))
        lamps.set_row(4, None, None, {"hidden": True})
        lamps.set_column("E:E", None, None, {"hidden": True})


def write_workbook(path: Path) -> None:
    """Write a sheet with numbers in several forms, one with a rich text, and a hidden one."""
    with xlsxwriter.Workbook(str(path), {"default_date_format": "yyyy-mm-dd"}) as book:
        share, price = (book.add_format({"num_format": form}) for form in ("0.0%", '"$"#,##0.00'))
        lamps, towns, hidden = map(book.add_worksheet, ("Lamps", "Towns", "Drafts"))
        lamps.write_row(0, 0, ("Lamp", "Share", "Price", "Bought", "Sold", "Sum"))
        for at, (name, part, cost, day, sold, total) in {
            1: ("red", 0.125, 1320.5, date(1931, 5, 2), 12345, 0.1 + 0.2),
            3: ("blue", 0.5, 7, date(1932, 1, 1), 1, 1e20),
        }.items():
            lamps.write(at, 0, name)
            lamps.write(at, 1, part, share)
            lamps.write(at, 2, cost, price)
            lamps.write_row(at, 3, (day, sold, total))
        raised, struck = (book.add_format({form: 1}) for form in ("font_script", "font_strikeout"))
        pieces = ("Rowan has ", struck, "12 ", "300 lamps and 10", raised, "6", " taps")
        towns.write_rich_string(0, 0, *pieces)
        hidden.write(0, 0, "It is green")
        hidden.hide()
