"""What is read of Word files: what Word shows, and nothing else."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

import docx
import pytest

from retrieval.corpora.folder import word

NAMESPACES = " ".join(
    f'xmlns:{name}="http://schemas.openxmlformats.org/{place}"'
    for name, place in {
        "w": "wordprocessingml/2006/main",
        "m": "officeDocument/2006/math",
        "mc": "markup-compatibility/2006",
        "r": "officeDocument/2006/relationships",
    }.items()
)
NOTES = """<Relationship Id="rId99" Target="footnotes.xml" Type=
"http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"/></Relationships>"""
NOTE_TYPE = """<Override PartName="/word/footnotes.xml" ContentType=
"application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"/></Types>"""


def run(text: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*inner: str) -> str:
    return f"<w:p>{''.join(inner)}</w:p>"


def row(*cells: str, look: str = "") -> str:
    return f"<w:tr><w:trPr>{look}</w:trPr>{''.join(cells)}</w:tr>"


def cell(text: str, look: str = "") -> str:
    return f"<w:tc><w:tcPr>{look}</w:tcPr>{paragraph(run(text))}</w:tc>"


def texts(folder: Path, body: str, notes: str = "") -> list[str]:
    """Return the paragraphs that are read of a file with this body and these notes."""
    empty = BytesIO()
    docx.Document().save(empty)
    path = folder / "a.docx"
    with zipfile.ZipFile(empty) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name).decode("latin-1")
            if name == "word/document.xml":
                content = f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>"
            elif notes and name == "word/_rels/document.xml.rels":
                content = content.replace("</Relationships>", NOTES)
            elif notes and name == "[Content_Types].xml":
                content = content.replace("</Types>", NOTE_TYPE)
            encoding = "utf-8" if name == "word/document.xml" else "latin-1"
            new.writestr(name, content.encode(encoding))
        if notes:
            new.writestr("word/footnotes.xml", f"<w:footnotes {NAMESPACES}>{notes}</w:footnotes>")
    return [block.text for block in word.read(path).blocks]


RAISED = '<w:vertAlign w:val="superscript"/>'


SQUARE = (
    "<m:r><m:t>E=m</m:t></m:r><m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e>"
    "<m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
)
QUARTER = (
    "<m:f><m:num><m:r><m:t>a+1</m:t></m:r></m:num><m:den><m:r><m:t>4</m:t></m:r></m:den></m:f>"
)
MATH_RUN = "<m:r><m:t>{}</m:t></m:r>".format


def math(name: str, *parts: tuple[str, str]) -> str:
    """Return a formula of one element, whose parts have names and texts."""
    inner = "".join(f"<m:{part}>{MATH_RUN(text)}</m:{part}>" for part, text in parts)
    return f"<m:oMath><m:{name}>{inner}</m:{name}></m:oMath>"


MATRIX = "<m:oMath><m:m>{}</m:m></m:oMath>".format(
    "".join(
        f"<m:mr><m:e>{MATH_RUN(a)}</m:e><m:e>{MATH_RUN(b)}</m:e></m:mr>"
        for a, b in (("1", "2"), ("3", "4"))
    )
)
CHOICES = math("f", ("num", "5"), ("den", "2")).replace(
    "<m:f>", '<m:f><m:fPr><m:type m:val="noBar"/></m:fPr>'
)
FIELD = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'.format
SUM = "".join(
    [
        FIELD("begin") + "<w:r><w:instrText>= 5 + </w:instrText></w:r>",
        FIELD("begin") + "<w:r><w:instrText>REF a</w:instrText></w:r>",
        FIELD("separate") + run("12") + FIELD("end"),
        FIELD("separate") + run("17") + FIELD("end"),
    ]
)
INTEGRAL = "<m:nary>{}</m:nary>".format(
    "".join(
        f"<m:{name}><m:r><m:t>{text}</m:t></m:r></m:{name}>"
        for name, text in (("sub", "0"), ("sup", "1"), ("e", "x"))
    )
)


@pytest.mark.parametrize(
    ("inner", "shown"),
    [
        (run("2") + "<w:r><w:noBreakHyphen/></w:r>" + run("30 lamps"), "2-30 lamps"),
        (run("lan") + "<w:r><w:softHyphen/></w:r>" + run("tern"), "lantern"),
        (run("p ") + '<w:r><w:sym w:font="Symbol" w:char="F0A3"/></w:r>' + run(" 5"), "p ≤ 5"),
        (run("p \uf0b1 5"), "p ± 5"),
        ('<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>' + run(" lit"), "□ lit"),
        (run("7 × 10") + run("8", RAISED) + run(" m"), "7 × 10⁸ m"),  # noqa: RUF001
        (run("It cost $41") + run("2", RAISED) + run("."), "It cost $41."),
        (run("It has ") + run("9", "<w:strike/>") + run("8 lamps"), "It has 8 lamps"),
        (run("It has ") + run("9", "<w:dstrike/>") + run("8 lamps"), "It has 8 lamps"),
        (run("It is lit", '<w:strike w:val="0"/>'), "It is lit"),
        (run("It is lit") + run(" or not", "<w:vanish/>"), "It is lit"),
        (f"<w:moveFrom>{run('old ')}</w:moveFrom><w:moveTo>{run('new')}</w:moveTo>", "new"),
        (f"<m:oMath>{SQUARE}</m:oMath>", "E=mc²"),
        (f"<m:oMath>{QUARTER}</m:oMath>", "(a+1)/4"),
        (f"<m:oMath>{INTEGRAL}</m:oMath>", "∫_0^1 x"),
        (run("It has ") + SUM + run(" lamps"), "It has 17 lamps"),
        (run("It is 3") + math("f", ("num", "1"), ("den", "2")), "It is 3 1/2"),
        (math("rad", ("deg", "3"), ("e", "8")), "∛8"),
        (math("rad", ("e", "8")), "√8"),
        (math("d", ("e", "12"), ("e", "15")), "(12|15)"),
        (math("sPre", ("sub", "6"), ("sup", "14"), ("e", "C")), "¹⁴₆C"),
        (math("eqArr", ("e", "x=1"), ("e", "2y=3")), "x=1; 2y=3"),
        (MATRIX, "[1, 2; 3, 4]"),
        (CHOICES, "(5 over 2)"),
        (f"<m:oMath><w:del>{MATH_RUN('12')}</w:del>{MATH_RUN('15')}</m:oMath>", "15"),
        (run("It is 101") + run("2", '<w:vertAlign w:val="subscript"/>'), "It is 101₂"),
        (run("3 × 10") + run("6", '<w:position w:val="8"/>') + run(" m"), "3 × 10⁶ m"),  # noqa: RUF001
        (run("12", '<w:position w:val="8"/>') + run(" lamps"), "12 lamps"),
        ('<w:r><w:object><w:o ProgID="Equation.3"/></w:object></w:r>', "[formula]"),
    ],
)
def test_a_paragraph_is_read_as_word_shows_it(tmp_path: Path, inner: str, shown: str) -> None:
    assert texts(tmp_path, paragraph(inner)) == [shown]


def test_text_that_its_style_hides_is_not_read(tmp_path: Path) -> None:
    document = docx.Document()
    style = document.styles.add_style("Draft", docx.enum.style.WD_STYLE_TYPE.CHARACTER)
    style.font.hidden = True
    document.add_paragraph("It is lit").add_run(" or not", style="Draft")
    document.save(str(tmp_path / "a.docx"))
    assert [block.text for block in word.read(tmp_path / "a.docx").blocks] == ["It is lit"]


def test_a_long_paragraph_that_looks_like_a_heading_is_read(tmp_path: Path) -> None:
    long = "The town of Rowan had 12 lamps in 1901, " * 6 + "and they burned oil."
    document = docx.Document()
    document.add_heading("Lamps")
    document.add_heading(long)
    document.add_paragraph("It is old.")
    document.save(str(tmp_path / "a.docx"))
    read = word.read(tmp_path / "a.docx")
    assert [block.text for block in read.blocks] == [long, "It is old."]


def test_a_text_box_is_read_after_the_paragraph_that_it_hangs_on(tmp_path: Path) -> None:
    box = f"<w:txbxContent>{paragraph(run('It is a box.'))}</w:txbxContent>"
    drawn = (
        f"<w:r><mc:AlternateContent><mc:Choice><w:drawing>{box}</w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    body = paragraph(run("The lamp "), drawn, run("is red.")) + paragraph(run("It is old."))
    assert texts(tmp_path, body) == ["The lamp is red.", "It is a box.", "It is old."]


def test_a_note_is_read_after_its_paragraph_and_its_mark_is_not(tmp_path: Path) -> None:
    mark = '<w:r><w:footnoteReference w:id="3"/></w:r>'
    body = paragraph(run("It has 14"), mark, run("lamps.")) + paragraph(run("It is old."))
    note = f'<w:footnote w:id="3">{paragraph(run("Of brass."))}</w:footnote>'
    assert texts(tmp_path, body, note) == ["It has 14 lamps.", "Of brass.", "It is old."]


def test_merged_cells_are_repeated_and_rows_in_fields_are_read(tmp_path: Path) -> None:
    head = row(cell("Town"), cell("Lamps", '<w:gridSpan w:val="2"/>'), look="<w:tblHeader/>")
    years = row(cell(""), cell("1921"), cell("1922"), look="<w:tblHeader/>")
    rowan = row(cell("Rowan", '<w:vMerge w:val="restart"/>'), cell("4"), cell("5"))
    still = row(cell("", "<w:vMerge/>"), cell("6", '<w:gridSpan w:val="2"/>'))
    field = f"<w:sdt><w:sdtContent>{still}</w:sdtContent></w:sdt>"
    gone = row(cell("Orne"), cell("8"), cell("9"), look="<w:del/>")
    assert texts(tmp_path, f"<w:tbl>{head}{years}{rowan}{field}{gone}</w:tbl>") == [
        "Town: Rowan, Lamps 1921: 4, Lamps 1922: 5.",
        "Town: Rowan, Lamps 1921: 6, Lamps 1922: 6.",
    ]


def test_a_table_in_a_cell_is_read_after_the_outer_one(tmp_path: Path) -> None:
    inner = f"<w:tbl>{row(cell('Lamp'), cell('Made'))}{row(cell('red'), cell('1921'))}</w:tbl>"
    outer = row(cell("Rowan"), f"<w:tc>{paragraph(run('old'))}{inner}</w:tc>")
    assert texts(tmp_path, f"<w:tbl>{outer}</w:tbl>") == ["Rowan, old.", "Lamp: red, Made: 1921."]


def test_a_frame_of_one_cell_is_read_as_its_paragraphs(tmp_path: Path) -> None:
    framed = f"<w:tc>{paragraph(run('It is red.'))}{paragraph(run('It is old.'))}</w:tc>"
    assert texts(tmp_path, f"<w:tbl>{row(framed)}</w:tbl>") == ["It is red.", "It is old."]
