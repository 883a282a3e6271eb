"""``folder:DIR``: files of offices, books, mails and spreadsheets, and what is said of others."""

import zipfile
from datetime import timedelta
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
import xlsxwriter
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font
from pptx.dml.color import RGBColor
from pptx.util import Pt

from retrieval.corpora.corpus import BadPage, Page
from retrieval.corpora.folder import (
    book,
    mail,
    office,
    open_document,
    plain_text,
    rich_text,
    slides,
    spreadsheet,
    tables,
    word,
)
from retrieval.corpora.folder.document import FileText, Unreadable
from retrieval.corpora.folder.numbers import shown_number
from retrieval.corpora.passages import passages
from retrieval.corpora.sections import sections
from retrieval.corpora.sources import open_corpus
from retrieval.errors import BadSource
from tests.retrieval.corpora import office_files
from tests.retrieval.corpora.office_files import epub_of, mail_of, odt_of
from tests.support.cases import cases

pytestmark = pytest.mark.server


TIMES = "\N{MULTIPLICATION SIGN}"


def texts(document: FileText) -> list[tuple[tuple[str, ...], str]]:
    """Return the section and the text of each block that has some."""
    return [(block.section, block.text) for block in document.blocks if block.text]


def messages(folder: Path) -> list[str]:
    """Return what is said of what is left out of a folder."""
    found = [page for chunk, _ in open_corpus(f"folder:{folder}").chunks() for page in chunk]
    return [page.message for page in found if isinstance(page, BadPage)]


def test_an_ods_is_read_sheet_by_sheet(tmp_path: Path) -> None:
    row = "<table:table-row>{}</table:table-row>".format
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>".format
    head, first = row(cell("Lamp") + cell("Cost ($m)")), row(cell("red") + cell("(12.5)"))
    empty = '<table:table-row table:number-rows-repeated="9"><table:table-cell/></table:table-row>'
    sheet = f'<table:table table:name="Costs">{head}{first}{empty}</table:table>'
    path = tmp_path / "lamps.ods"
    path.write_bytes(odt_of(sheet, "spreadsheet"))
    assert texts(open_document.read(path)) == [
        (("Costs",), "Lamp: red, Cost: -12.5 million dollars.")
    ]


@cases("office", "odt", "read")
def test_an_odt_is_read_as_it_is_shown(tmp_path: Path, odt: str, read: list[str]) -> None:
    (tmp_path / "a.odt").write_bytes(odt_of(odt))
    assert [text for _, text in texts(open_document.read(tmp_path / "a.odt"))] == read


@cases("office", "rtf", "read")
def test_an_rtf_is_read_as_it_is_shown(tmp_path: Path, rtf: str, read: list[str]) -> None:
    (tmp_path / "a.rtf").write_text(rf"{{\rtf1\ansi {rtf}\par}}", encoding="ascii")
    assert [text for _, text in texts(rich_text.read(tmp_path / "a.rtf"))] == read


def _rtf_item(level: int, text: str) -> str:
    # As word processors write it: the sign, and then the level of the item.
    return rf"\pard{{\listtext\pard\plain\f3 \'b7\tab}}\ilvl{level}\ls1 {text}\par "


def test_the_last_item_of_an_rtf_may_have_no_end_and_its_level_any_number(tmp_path: Path) -> None:
    path = tmp_path / "a.rtf"
    last = _rtf_item(1, "ships").removesuffix(r"\par ")
    path.write_text(rf"{{\rtf1 We will not:\par {_rtf_item(0, 'sell:')}{last}}}", encoding="ascii")
    *_, page = passages("a", "Plan", None, rich_text.read(path).blocks)
    assert page.passage
    assert (page.passage.section, page.sentences) == (("We will not:", "sell:"), ("ships",))
    path.write_text(r"{\rtf1 \pard\ilvl9999999999 It is red.\par}", encoding="ascii")
    assert [block.text for block in rich_text.read(path).blocks] == ["It is red."]


def test_a_line_without_a_bullet_between_two_items_does_not_end_their_list() -> None:
    lines = ["You must not bring:", "- a coat", "or boots", "- a hat", "That is all."]
    found = [
        (page.passage, page.sentences) for page in passages("a", "Rules", None, sections(lines))
    ]
    assert [(place and place.section, said) for place, said in found] == [
        ((), ("You must not bring:",)),
        (("You must not bring:",), ("a coat", "or boots", "a hat")),
        ((), ("That is all.",)),
    ]


def test_an_item_in_an_item_is_below_both_of_its_lead_ins_in_rtf_and_text(tmp_path: Path) -> None:
    items = [(0, "keep pets"), (0, "do without consent:"), (1, "let rooms"), (0, "smoke in bed")]
    first, last = "The tenant must not:", "That is all."
    listed = "".join(_rtf_item(level, text) for level, text in items)
    path = tmp_path / "a.rtf"
    path.write_text(rf"{{\rtf1\ansi {first}\par {listed}\pard {last}\par}}", encoding="ascii")
    lines = [first, *("  " * level + f"- {text}" for level, text in items), last]
    for blocks in (rich_text.read(path).blocks, sections(lines)):
        pages = list(passages("a", "Lease", None, blocks))
        assert [(page.passage and page.passage.section, page.sentences) for page in pages] == [
            ((), (first,)),
            ((first,), ("keep pets", "do without consent:")),
            ((first, "do without consent:"), ("let rooms",)),
            ((first,), ("smoke in bed",)),
            ((), (last,)),
        ]


def test_an_epub_is_read_chapter_by_chapter_as_its_style_sheets_show_it(tmp_path: Path) -> None:
    path = tmp_path / "lamps.epub"
    chapters = {
        "The tank": "<p>The tank holds 3 &#215; 10<sup>6</sup> litres of oil for the lamps.</p>",
        "The fire": "<h2>At night</h2><p>The fire of 1931 burned for three days in Rowan.</p>"
        "<p style='display: none'>It is green.</p>"
        "<table><caption>Fires</caption><tr><th>Town</th><th>2019</th><th>2020</th></tr><tr>"
        '<td rowspan="2">Rowan</td><td>7</td><td>8</td></tr><tr><td>9</td><td>6</td></tr></table>',
        "The works": '<p>It paid $320<a epub:type="noteref" href="#n">1</a> for <span class="gone">'
        '12</span> 15 taps and 10<span class="up">6</span> ants.</p>'
        "<dl><dt>Mayor</dt><dd>Ann Lee</dd></dl>",
    }
    path.write_bytes(epub_of("Lamps of Rowan", chapters))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("text/a.css", ".gone { display: none } .up { vertical-align: super }")
    document = book.read(path)
    assert document.title == "Lamps of Rowan"
    at_night = ("The fire", "At night")
    assert texts(document) == [
        (("The tank",), f"The tank holds 3 {TIMES} 10⁶ litres of oil for the lamps."),
        (at_night, "The fire of 1931 burned for three days in Rowan."),
        (at_night, "Fires"),
        (at_night, "Town: Rowan, 2019: 7, 2020: 8."),
        (at_night, "Town: Rowan, 2019: 9, 2020: 6."),
        (("The works",), "It paid $320 for 15 taps and 10⁶ ants."),
        (("The works",), "Mayor: Ann Lee"),
    ]


def test_a_mail_is_read_without_its_signature_and_names_what_is_attached(tmp_path: Path) -> None:
    text = "The lamp is red.\n\n> It burns well,\n> says Ann.\n\n-- \nThe lamp company\n"
    path = tmp_path / "lamp.eml"
    path.write_bytes(bytes(mail_of("The lamp", text, attachment="plan.pdf")))
    document = mail.read(path)
    assert document.title == "The lamp"
    assert [" ".join(text.split()) for _, text in texts(document)] == [
        "The lamp is red.",
        "It burns well, says Ann.",
    ]
    (tmp_path / "good.txt").write_text("It is red.", encoding="utf-8")
    assert messages(tmp_path) == [f"{path}, attachment plan.pdf: the file is not a PDF."]


def test_slides_are_read_as_they_are_shown_with_their_notes(tmp_path: Path) -> None:
    path = tmp_path / "lamps.pptx"
    office_files.write_slides(path)
    document = slides.read(path)
    assert document.title == "Lamps of Rowan"
    assert [(block.page, block.section, block.text) for block in document.blocks] == [
        (1, (), f"The tank holds 3 {TIMES} 10⁶ litres of oil, 101₂ and 10⁶ cups."),
        (1, (), "The oil was bought in 1931."),
        (2, ("Costs",), "Lamp: red, Price: 9 crowns."),
        (2, ("Costs",), "Lamp: red, Price: 8 crowns."),
    ]


def test_items_know_whether_they_are_in_another_one(tmp_path: Path) -> None:
    lines = [(0, "We will not"), (1, "sell the crane"), (1, "close the gate"), (0, "It stays.")]
    by_style, by_level = docx.Document(), docx.Document()
    odt = ""
    for level, text in lines:
        by_style.add_paragraph(text, style="List Bullet 2" if level else "List Bullet")
        numbers = by_level.add_paragraph(text)._p.get_or_add_pPr().get_or_add_numPr()
        numbers.get_or_add_ilvl().val, numbers.get_or_add_numId().val = level, 1
        item = f"<text:list-item><text:p>{text}</text:p></text:list-item>"
        odt += f"<text:list>{item}</text:list>" if level else item.removesuffix("</text:list-item>")
        odt += "</text:list-item>" if text in ("close the gate", "It stays.") else ""
    by_style.save(str(tmp_path / "style.docx"))
    by_level.save(str(tmp_path / "level.docx"))
    (tmp_path / "a.odt").write_bytes(odt_of(f"<text:list>{odt}</text:list>"))
    found = [word.read(tmp_path / "style.docx"), word.read(tmp_path / "level.docx")]
    for document in (*found, open_document.read(tmp_path / "a.odt")):
        assert [(block.text, block.kind) for block in document.blocks] == [
            (text, "subitem" if level else "item") for level, text in lines
        ]


def test_the_items_of_a_slide_are_below_what_they_stand_in(tmp_path: Path) -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Rowan harbour"
    frame = slide.placeholders[1].text_frame
    lines = [(0, "We will not"), (1, "sell the crane"), (1, "Close, unless it snows:")]
    lines += [(2, "the gate"), (0, "The crane stays."), (1, "It is red."), (0, "Rejected:")]
    lines += [(0, "two clerks"), (0, "Lamps"), (1, "on the quay"), (0, "a boat"), (0, "Put off:")]
    for level, text in [*lines, (0, "a slipway")]:
        paragraph = frame.add_paragraph()
        paragraph.level, paragraph.text = level, text
    made.save(str(tmp_path / "a.pptx"))
    assert texts(slides.read(tmp_path / "a.pptx")) == [
        ((), "We will not"),
        (("We will not",), "sell the crane"),
        (("We will not",), "Close, unless it snows:"),
        (("We will not", "Close, unless it snows:"), "the gate"),
        ((), "The crane stays."),
        ((), "It is red."),
        ((), "Rejected:"),
        (("Rejected:",), "two clerks"),
        (("Rejected:",), "Lamps"),
        (("Rejected:", "Lamps"), "on the quay"),
        (("Rejected:",), "a boat"),
        ((), "Put off:"),
        (("Put off:",), "a slipway"),
    ]


@pytest.mark.parametrize("ground", ["", "000000"])
def test_what_nobody_sees_of_a_slide_is_not_read_and_counted(tmp_path: Path, ground: str) -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    line = slide.shapes.add_textbox(0, 0, 9, 9).text_frame.paragraphs[0]
    seen, white, tiny = (line.add_run() for _ in range(3))
    seen.text, white.text, tiny.text = "It is red.", " It is white.", " It is tiny."
    white.font.color.rgb, tiny.font.size = RGBColor(255, 255, 255), Pt(1)
    beside = slide.shapes.add_textbox(made.slide_width, 0, 9, 9)
    beside.text_frame.text = "It is far away."
    if ground:
        slide.background.fill.solid()
        slide.background.fill.fore_color.rgb = RGBColor.from_string(ground)
    made.save(str(tmp_path / "a.pptx"))
    document = slides.read(tmp_path / "a.pptx")
    assert [text for _, text in texts(document)] == [
        "It is red. It is white." if ground else "It is red."
    ]
    assert [part.message for part in document.unread] == [
        "not read: 2 passages that a reader does not see."
    ]


def test_charts_are_read_as_tables_or_counted(tmp_path: Path) -> None:
    office_files.write_charts(tmp_path / "a.pptx")
    document = slides.read(tmp_path / "a.pptx")
    costs = [
        "Cost of the lamps, Rowan, 1921: $1,200, 1922: $3.5.",
        "Cost of the lamps, Elm, 1921: $7.",
    ]
    days = ["1931-05-02, Share: 12.5%.", "1932-01-01, Share: 50.0%."]
    read = [(block.page, block.text) for block in document.blocks]
    assert read == list(zip((1, 1, 2, 2), costs + days, strict=True))
    assert [(part.where, part.message) for part in document.unread] == [
        ("slide 3", "a chart without categories is not read.")
    ]
    with xlsxwriter.Workbook(str(tmp_path / "a.xlsx")) as made:
        sheet = made.add_worksheet()
        sheet.write_column(0, 0, ("Lamps", 3, 4))
        chart = made.add_chart({"type": "line"})
        chart.add_series({"values": "=Sheet1!$A$2:$A$3"})
        sheet.insert_chart("C1", chart)
    (part,) = spreadsheet.read(tmp_path / "a.xlsx").unread
    said = ("1 chart", "not read, but for what also stands in texts and tables.")
    assert (part.where, part.message) == said
    written = docx.Document()
    written.add_paragraph("It is lit.")
    written.save(str(tmp_path / "a.docx"))
    with (
        zipfile.ZipFile(tmp_path / "a.pptx") as deck,
        zipfile.ZipFile(tmp_path / "a.docx", "a") as text,
    ):
        first = min(name for name in deck.namelist() if name.startswith("ppt/charts/chart"))
        text.writestr("word/charts/chart1.xml", deck.read(first))
    assert [text for _, text in texts(word.read(tmp_path / "a.docx"))] == ["It is lit.", *costs]


def test_the_rows_of_a_workbook_have_heads_and_numbers_as_they_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "lamps.xlsx"
    office_files.write_workbook(path)
    red = "Lamp: red, Share: 12.5%, Price: $1,320.5, Bought: 1931-05-02, Sold: 12345, Sum: 0.3."
    blue = "Lamp: blue, Share: 50.0%, Price: $7, Bought: 1932-01-01, Sold: 1, Sum: 1e+20."
    assert texts(spreadsheet.read(path)) == [
        (("Lamps",), red),
        (("Lamps",), blue),
        (("Towns",), "Rowan has 300 lamps and 10⁶ taps."),
    ]


@cases("office", "value", "form", "shown")
def test_a_number_is_shown_as_its_format_says(value: float, form: str, shown: str) -> None:
    assert shown_number(value, form) == shown


def test_what_is_struck_raised_or_lasts_in_a_workbook_is_read_as_shown(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    small = TextBlock(InlineFont(vertAlign="superscript"), "6")
    low = TextBlock(InlineFont(vertAlign="subscript"), "2")
    for row in (
        ["Lamp", "Seen"],
        ["red", CellRichText("10", small, " times")],  # written into the cell
        ["blue", CellRichText("101", low)],
        ["old", timedelta(hours=30, minutes=5)],
        ["new", 12],
        ["Total", "=B2+B3"],
        ["", "hidden"],
    ):
        book.active.append(row)
    book.active["B5"].font = Font(strike=True)
    book.active["B7"].font = Font(color="FFFFFFFF")
    book.save(tmp_path / "lamps.xlsx")
    document = spreadsheet.read(tmp_path / "lamps.xlsx")
    assert [text for _, text in texts(document)] == [
        "Lamp: red, Seen: 10⁶ times.",
        "Lamp: blue, Seen: 101₂.",
        "Lamp: old, Seen: 30:05.",
        "Lamp: new.",
    ]
    assert [part.message for part in document.unread] == [
        "1 formulas without values are not read, in rows 6.",
        "not read: 1 passage that a reader does not see.",
    ]


@pytest.mark.parametrize("bold", [True, False])
def test_merged_cells_are_repeated_and_hidden_ones_not_read(tmp_path: Path, bold: bool) -> None:
    path = tmp_path / "lamps.xlsx"
    office_files.write_merged_workbook(path, bold)
    assert [text for _, text in texts(spreadsheet.read(path))] == [
        "Lamps, County: North, Town: Rowan, 1921 Oil: 3, 1921 Gas: 30, 1922 Gas: 3000.",
        "Lamps, County: North, Town: Elm, 1921 Oil: 5, 1921 Gas: 50, 1922 Gas: 5000.",
    ]


def test_a_budget_has_its_title_its_unit_and_its_sections_in_bold_letters(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(str(tmp_path / "a.xlsx")) as book:
        bold = book.add_format({"bold": True})
        costs = book.add_worksheet()
        costs.merge_range("A1:C1", "Costs of Rowan", bold)
        costs.write("A2", "in thousand euros")
        costs.write_row("B4", ("Spent 1921", "Planned 1922"), bold)
        for at, (name, *figures) in enumerate(
            [("Lamps",), ("Oil", 4, 5), ("Total lamps", 4, 5), ("Ships",), ("Coal", 6, 7)], start=4
        ):
            costs.write_row(at, 0, (name, *figures), None if name in ("Oil", "Coal") else bold)
    assert [text for _, text in texts(spreadsheet.read(tmp_path / "a.xlsx"))] == [
        f"Costs of Rowan, {row} thousand euros."
        for row in (
            "Lamps, Oil, Spent 1921: 4 thousand euros, Planned 1922: 5",
            "Lamps, Total lamps, Spent 1921: 4 thousand euros, Planned 1922: 5",
            "Ships, Coal, Spent 1921: 6 thousand euros, Planned 1922: 7",
        )
    ]


def test_a_short_line_of_word_in_bold_letters_is_a_heading(tmp_path: Path) -> None:
    document = docx.Document()
    for text in ("*Rowan", "*1 Lamps", "It has 7.", "*Carried, 9 to 4", "*Ships", "It has 3."):
        document.add_paragraph().add_run(text.removeprefix("*")).bold = text.startswith("*")
    document.save(tmp_path / "a.docx")
    read = word.read(tmp_path / "a.docx")
    assert read.title == ""
    assert texts(read) == [
        ((), "Rowan"),
        (("1 Lamps",), "It has 7."),
        (("1 Lamps",), "Carried, 9 to 4"),
        (("Ships",), "It has 3."),
    ]


def test_files_in_strict_open_xml_are_read_as_others(tmp_path: Path) -> None:
    text, deck, book = (tmp_path / f"lamps{suffix}" for suffix in (".docx", ".pptx", ".xlsx"))
    made = docx.Document()
    made.add_paragraph("The lamp is red.")
    made.save(str(text))
    office_files.write_slides(deck)
    office_files.write_workbook(book)

    def blocks() -> list[object]:
        return [word.read(text).blocks, slides.read(deck).blocks, spreadsheet.read(book).blocks]

    usual = blocks()
    for path in (text, deck, book):
        office_files.strict(path)
    assert blocks() == usual


def test_a_comma_in_numbers_parts_no_cells_and_bad_rows_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "lamps.csv"
    path.write_text(
        'Town;1921;1922\nRowan;4,5;6,7\n"Alder;3,5;4,5\nElm;1,5;2,5\n', encoding="utf-8"
    )
    document = plain_text.read(path)
    assert texts(document) == [
        ((), "Town: Rowan, 1921: 4.5, 1922: 6.7."),
        ((), "Town: Elm, 1921: 1.5, 1922: 2.5."),
    ]
    assert [part.where for part in document.unread] == ["line 3"]
    path.write_text("lamp,year\n" + '"red"x,1931\n' * 100 + "blue,1932\n", encoding="utf-8")
    document = plain_text.read(path)
    assert [text for _, text in texts(document)] == ["lamp: blue, year: 1932."]
    assert len(document.unread) == 21
    assert document.unread[-1].where == "after line 21"
    assert document.unread[-1].message == (
        "80 more rows cannot be read; the last begins in line 101."
    )


def test_a_long_table_keeps_its_heads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tables, "_MOST_AT_ONCE", 6)
    path = tmp_path / "lamps.csv"
    rows = ["Lamps of 1921,", "Lamp,Town", *["red,Rowan"] * 9]
    path.write_text("\n".join(rows), encoding="utf-8")
    assert [text for _, text in texts(plain_text.read(path))] == [
        "Lamps of 1921, Lamp: red, Town: Rowan."
    ] * 9


def test_what_is_no_zip_or_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.epub", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(5):
            archive.writestr(f"{number}.xml", bytes(60_000_000))
    suffixes = (".epub", ".odt", ".pptx", ".xlsx")
    for suffix in suffixes:
        (tmp_path / f"bomb{suffix}").write_bytes((tmp_path / "bomb.epub").read_bytes())
        (tmp_path / f"none{suffix}").write_bytes(b"PK\3\4 cut off")
        (tmp_path / f"old{suffix}").write_bytes(b"\xd0\xcf\x11\xe0" * 9)
    (tmp_path / "good.txt").write_text("It is red.", encoding="utf-8")
    found = messages(tmp_path)
    for suffix, bomb, none, old in zip(suffixes, found[:4], found[4:8], found[8:], strict=True):
        assert "unpacks to 300 MB; at most 268 MB are read" in bomb
        assert f"the file is damaged, or is not a {suffix} (File is not a zip file)." in none
        assert f"the file is encrypted, or is not a {suffix}" in old
    entities = b'<!DOCTYPE a [<!ENTITY b "lamp lamp"><!ENTITY c "&b;&b;">]><a>&c;</a>'
    assert "".join(office.parsed(entities).itertext()) in {"", "&c;"}


def test_files_that_are_not_read_are_counted_by_ending(tmp_path: Path) -> None:
    for name in ("a.doc", "b.DOC", "c.webp", "noext", "deep.zip"):
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(BadSource) as refused:
        open_corpus(f"folder:{tmp_path}")
    assert f"5 files in {tmp_path} are of formats that are not read:" in refused.value.message
    text = " ".join(f"The lamp number {n} of Rowan was made in 1931." for n in range(9))
    (tmp_path / "lamp.html").write_text(f"<html><body><article><p>{text}</p></article></body>")
    for name in ("lamp_files/menu.html", "old_files/good.txt"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("<p>All our menus are here.</p>", encoding="utf-8")
    found = [page for chunk, _ in open_corpus(f"folder:{tmp_path}").chunks() for page in chunk]
    read = [page.id for page in found if isinstance(page, Page)]
    assert read == ["lamp.html", "old_files/good.txt"]
    (message,) = messages(tmp_path)
    said = message.partition("not read: ")[2].rstrip(".").split(", ")
    assert sorted(said) == ["1 .webp", "1 .zip", "1 without an ending", "2 .doc"]


def test_a_file_of_another_format_under_the_suffix_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lamp.rtf"
    path.write_text("The lamp is red.", encoding="utf-8")
    for read, said in ((rich_text.read, "not RTF"), (mail.read, "not a mail")):
        with pytest.raises(Unreadable, match=said):
            read(path)
