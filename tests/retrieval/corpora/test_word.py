"""What is read of Word files: what Word shows, and nothing else."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

import docx

from retrieval.corpora.folder import word
from tests.support.cases import cases

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


def texts(folder: Path, body: str, notes: str) -> list[str]:
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


@cases("word", "body", "notes", "read")
def test_a_file_is_read_as_word_shows_it(
    tmp_path: Path, body: str, notes: str, read: list[str]
) -> None:
    assert texts(tmp_path, body, notes) == read


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
