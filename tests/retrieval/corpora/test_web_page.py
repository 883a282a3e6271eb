"""What is read of web pages: what a browser shows of the main text."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.corpora.folder import web_page
from retrieval.corpora.folder.document import FileText
from tests.support.cases import cases

ABOUT = (
    "Rowan is an old town of the northern county. It has a station, a harbour and two schools,"
    " and its people work in the lamp works and in fishing for most of the year."
)

YEARS = range(1901, 1951)
STYLES = """<style>
    @media print { .menu { display: none } }
    .gone, #draft { display: none }
    .box { display: none } .open .box { display: block }
    span.up { vertical-align: super }
</style>"""


def document(folder: Path, inner: str) -> FileText:
    path = folder / "a.html"
    path.write_text(
        f"<!doctype html><html><head><title>Rowan</title></head><body><article><p>{ABOUT}</p>"
        f"{inner}</article></body></html>",
        encoding="utf-8",
    )
    return web_page.read(path)


def texts(folder: Path, inner: str) -> list[str]:
    """Return the paragraphs that are read of an article after its first."""
    first, *others = (block.text for block in document(folder, inner).blocks)
    assert first == ABOUT
    return others


@cases("web_page", "html", "read")
def test_an_article_is_read_as_a_browser_shows_it(
    tmp_path: Path, html: str, read: list[str]
) -> None:
    assert texts(tmp_path, STYLES + html) == read


LONG = "".join(f"<p>In {year} the town of Rowan had {year - 1600} lamps.</p>" for year in YEARS)


@pytest.mark.parametrize(
    "around",
    ["<noscript>{}</noscript>", "<style>.text {{display: none}}</style><div class=text>{}</div>"],
)
def test_a_text_that_only_scripts_would_show_is_read(tmp_path: Path, around: str) -> None:
    path = tmp_path / "a.html"
    path.write_text(f"<html><body><h1>Rowan</h1>{around.format(LONG)}</body></html>")
    read = [block.text for block in web_page.read(path).blocks]
    assert "In 1901 the town of Rowan had 301 lamps." in read
    assert len(read) == len(YEARS)


def test_loose_text_and_text_in_boxes_beside_paragraphs_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    boxes = LONG.replace("<p>", "<div>").replace("</p>", "</div>")
    by = "<p>Written by Ann Lee in the year 1951.</p>"
    path.write_text(f"<html><body><div id=content>{by}<div>{boxes}</div></div></body></html>")
    read = " ".join(block.text for block in web_page.read(path).blocks)
    assert "In 1901 the town of Rowan had 301 lamps. In 1902" in read
    loose = "<h2>Lamps</h2>It is lit by <b>oil</b> lamps of the works in every street."
    path.write_text(f"<html><body><div id=content>{LONG}{loose}{LONG}</div></body></html>")
    blocks = [block.text for block in web_page.read(path).blocks]
    assert "It is lit by oil lamps of the works in every street." in blocks


def test_a_long_text_in_a_list_of_names_is_read_as_its_paragraphs(tmp_path: Path) -> None:
    long = "The lamp of Rowan is red. " * 40
    *_, last = texts(tmp_path, f"<dl><dt>Lamp</dt><dd><div>{long}</div></dd></dl>")
    assert last == f"Lamp: {long.strip()}"


def test_rows_that_are_too_wide_are_counted_and_named(tmp_path: Path) -> None:
    wide = f"<tr>{'<td>1</td>' * 600}</tr>"
    table = f"<table><tr><td>4</td><td>5</td></tr>{wide}<tr><td>6</td><td>7</td></tr></table>"
    read = document(tmp_path, table)
    assert [block.text for block in read.blocks[1:]] == ["4, 5.", "6, 7."]
    (unread,) = read.unread
    assert unread.where == "table 1"
    assert unread.message == "it is too large; not read: 1 of its rows (2)."


def test_the_links_to_edit_a_section_are_no_part_of_its_heading(tmp_path: Path) -> None:
    first = "<h2>Lamps<span>[<a href='/e'>edit</a>]</span></h2><p>It is red.</p>"
    second = "<h2>Years [edit | edit source]</h2><p>It is old.</p>"
    third = "<h2>Ends<span class='mw-editsection'>[change]</span></h2><p>It is lit.</p>"
    read = document(tmp_path, first + second + third)
    assert [block.section for block in read.blocks] == [(), ("Lamps",), ("Years",), ("Ends",)]


def test_a_page_is_read_in_its_encoding(tmp_path: Path) -> None:
    for declared, encoding in (
        ("", "cp1252"),
        ("<meta charset=iso-8859-1>", "cp1252"),
        ("<meta charset=utf-8>", "utf-16"),
    ):
        body = f"<body><article><p>“{ABOUT}” – Zoë</p></article></body>"  # noqa: RUF001
        page = f"<html><head>{declared}</head>{body}"
        (tmp_path / "a.html").write_bytes(page.encode(encoding))
        (block,) = web_page.read(tmp_path / "a.html").blocks
        assert block.text == f"“{ABOUT}” – Zoë"  # noqa: RUF001
