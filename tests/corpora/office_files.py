"""Makes small files of the formats of offices, books and mails."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from datetime import date
from email.message import EmailMessage
from io import BytesIO
from pathlib import Path

import pptx
import xlsxwriter
from pptx.util import Inches

_ODT_NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"'
    for name, space in {
        "office": "office",
        "text": "text",
        "table": "table",
        "draw": "drawing",
        "style": "style",
    }.items()
)
_ODT_NAMES += ' xmlns:xlink="http://www.w3.org/1999/xlink"'


def zipped(members: Mapping[str, str]) -> bytes:
    """Return a zip of these members."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def odt_of(body: str) -> bytes:
    """Return an .odt with this body.

    "up" and "down" are styles above and below the line, and "gone" one that is struck. "raised" is
    one of the file's common styles, and "own" is based on it.
    """
    styles = "".join(
        f'<style:style style:name="{name}"><style:text-properties style:{look}/></style:style>'
        for name, look in {
            "up": 'text-position="super 58%"',
            "down": 'text-position="-33% 58%"',
            "gone": 'text-line-through-style="solid"',
        }.items()
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
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
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


def write_slides(path: Path) -> None:
    """Write two shown slides, with a table and notes, and a hidden one."""
    made = pptx.Presentation()
    first, second, hidden = (made.slides.add_slide(made.slide_layouts[5]) for _ in range(3))
    first.shapes.title.text = "Lamps of Rowan"
    box = first.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame
    box.text = "The tank holds 3 \N{MULTIPLICATION SIGN} 10"
    raised = box.paragraphs[0].add_run()
    raised.text = "6"
    raised.font._element.set("baseline", "30000")
    box.paragraphs[0].add_run().text = " litres of oil."
    first.notes_slide.notes_text_frame.text = "The oil was bought in 1931."
    second.shapes.title.text = "Costs"
    table = second.shapes.add_table(2, 2, 0, 0, Inches(1), Inches(1)).table
    for at, text in enumerate(("Lamp", "Price", "red", "9 crowns")):
        table.cell(at // 2, at % 2).text = text
    hidden.shapes.title.text = "It is green."
    hidden.element.set("show", "0")
    made.save(str(path))


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
