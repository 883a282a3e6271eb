"""What is read of web pages: what a browser shows of the main text."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.corpora.folder import web_page
from retrieval.corpora.folder.document import FileText

ABOUT = (
    "Rowan is an old town of the northern county. It has a station, a harbour and two schools,"
    " and its people work in the lamp works and in fishing for most of the year."
)

YEARS = range(1901, 1951)


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


@pytest.mark.parametrize(
    ("inner", "shown"),
    [
        ("It has <del>9</del> <ins>8</ins> lamps.", "It has 8 lamps."),
        ("It has <span style='text-decoration: line-through'>9</span> 8.", "It has 8."),
        ("It cost $41<sup>2</sup> in 1921<sup><a href='#n'>3</a></sup>.", "It cost $41 in 1921."),
        ("It holds 7 × 10<sup>8</sup> m<sup>3</sup>.", "It holds 7 × 10⁸ m³."),  # noqa: RUF001
        ("The 5<sup>th</sup> lamp is H<sub>2</sub>O.", "The 5th lamp is H2O."),
        ("It is lit.<span class='visually-hidden'> It is not.</span>", "It is lit."),
        ("It is lit.<sup>[1]</sup> It is<sup>[note 2]</sup> old.", "It is lit. It is old."),
        (
            "Here <math><msup><mi>x</mi><mn>2</mn></msup><mo>=</mo><mn>9</mn></math> stands.",
            "Here x²=9 stands.",
        ),
        (
            "<math><munderover><mo>∑</mo><mi>i</mi><mn>9</mn></munderover></math> it is.",
            "∑_i^9 it is.",
        ),
        (
            "It is <math><msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup></math> large.",
            "It is x1² large.",
        ),
        ("Here <math></math> stands.", "Here [formula] stands."),
    ],
)
def test_a_paragraph_is_read_as_a_browser_shows_it(tmp_path: Path, inner: str, shown: str) -> None:
    assert texts(tmp_path, f"<p>{inner}</p>") == [shown]


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>It burned.</p>",
        "<p style='DISPLAY : none'>It burned.</p>",
        "<div style='visibility:hidden'><p>It burned.</p></div>",
        "<template><p>It burned.</p></template>",
        "<noscript><p>It burned.</p></noscript>",
        "<dialog><p>It burned.</p></dialog>",
    ],
)
def test_what_a_browser_hides_is_not_read(tmp_path: Path, hidden: str) -> None:
    assert texts(tmp_path, f"{hidden}<p>It is red.</p>") == ["It is red."]


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


def test_a_text_in_boxes_beside_a_short_paragraph_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    boxes = LONG.replace("<p>", "<div>").replace("</p>", "</div>")
    by = "<p>Written by Ann Lee in the year 1951.</p>"
    path.write_text(f"<html><body><div id=content>{by}<div>{boxes}</div></div></body></html>")
    read = " ".join(block.text for block in web_page.read(path).blocks)
    assert "In 1901 the town of Rowan had 301 lamps. In 1902" in read


def test_loose_text_between_paragraphs_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    loose = "<h2>Lamps</h2>It is lit by <b>oil</b> lamps of the works in every street."
    path.write_text(f"<html><body><div id=content>{LONG}{loose}{LONG}</div></body></html>")
    read = [block.text for block in web_page.read(path).blocks]
    assert "It is lit by oil lamps of the works in every street." in read


def test_the_headings_within_an_item_of_a_list_are_words_of_their_own(tmp_path: Path) -> None:
    inner = "<ul><li>It has lamps<h2>Part 14</h2>and a long old harbour.</li></ul>"
    assert texts(tmp_path, inner) == ["It has lamps Part 14 and a long old harbour."]


@pytest.mark.parametrize(
    ("inner", "shown"),
    [
        (
            "<figure><img src=a><figcaption>Ann Lee in 1921.</figcaption></figure>",
            ["Ann Lee in 1921."],
        ),
        (
            "<details><summary>More of it</summary>It is old.<p>It is red.</p></details>",
            ["More of it", "It is old.", "It is red."],
        ),
        (
            "<div>It is old.<p>It is red.</p>It is lit.</div>",
            ["It is old.", "It is red.", "It is lit."],
        ),
        (
            "<dl><dt>Height:<dd>9 m<dt>Maker<dd><p>Ann Lee</p></dd><dd>Bob</dd></dl>",
            ["Height: 9 m", "Maker: Ann Lee", "Maker: Bob"],
        ),
    ],
)
def test_captions_details_loose_text_and_names_of_values_are_read(
    tmp_path: Path, inner: str, shown: list[str]
) -> None:
    assert texts(tmp_path, inner) == shown


STYLES = """<style>
    @media print { .menu { display: none } }
    .gone, #draft { display: none }
    .box { display: none } .open .box { display: block }
    span.up { vertical-align: super }
</style>"""


@pytest.mark.parametrize(
    ("inner", "shown"),
    [
        ('It has <b class="gone">12</b> 15 lamps.', "It has 15 lamps."),
        (
            'It has <b style="position: absolute; left: -9999px">12</b> 15 lamps.',
            "It has 15 lamps.",
        ),
        ('It has <b id="draft">12</b> 15 lamps.', "It has 15 lamps."),
        ('It has <b class="box menu">15</b> lamps.', "It has 15 lamps."),
        ('It cost $320<span class="up">1</span> in all.', "It cost $320 in all."),
        ('It holds 10<span style="vertical-align: 5px">6</span> ants.', "It holds 10⁶ ants."),
        (
            'It holds 10<span style="position: relative; top: -.4em">6</span> ants.',
            "It holds 10⁶ ants.",
        ),
        ('It cost $320<a href="#fn:1">1</a> in all of 1950.', "It cost $320 in all of 1950."),
        ('It cost $320<a href="#x1">1</a> in all of 1950.', "It cost $320 in all of 1950."),
        ("It holds 101<sub>2</sub> lamps and CO<sub>2</sub>.", "It holds 101₂ lamps and CO2."),
        ("It came <time>1 May</time>, at <output>17</output>.", "It came 1 May, at 17."),
        ("It is <ruby>old<rp>(</rp><rt>9</rt><rp>)</rp></ruby>.", "It is old."),
    ],
)
def test_style_sheets_and_links_to_notes_say_what_is_hidden_and_raised(
    tmp_path: Path, inner: str, shown: str
) -> None:
    assert shown in texts(tmp_path, f"{STYLES}<p>{inner}</p>")


NUMBER = "<mn>{}</mn>".format


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (f"<mroot>{NUMBER(8)}{NUMBER(3)}</mroot>", "∛8"),
        (f"<msqrt>{NUMBER(2)}<mi>x</mi></msqrt>", "√2x"),
        (f"<mtable><mtr><mtd>{NUMBER(1)}</mtd><mtd>{NUMBER(2)}</mtd></mtr></mtable>", "[1, 2]"),
        (f"<mfenced>{NUMBER(12)}{NUMBER(15)}</mfenced>", "(12, 15)"),
        (f'<mfrac linethickness="0">{NUMBER(5)}{NUMBER(2)}</mfrac>', "(5 over 2)"),
        (f"<mrow>{NUMBER(3)}<mfrac>{NUMBER(1)}{NUMBER(2)}</mfrac></mrow>", "3 1/2"),
        (f"<mover>{NUMBER(3)}{NUMBER(7)}</mover>", "3^7"),
        (
            f"<mmultiscripts><mi>C</mi><mprescripts/>{NUMBER(6)}{NUMBER(14)}</mmultiscripts>",
            "¹⁴₆C",
        ),
    ],
)
def test_numbers_of_a_formula_do_not_become_one(tmp_path: Path, formula: str, shown: str) -> None:
    inner = f"<p>In the book there is <math>{formula}</math> on a page.</p>"
    assert f"In the book there is {shown} on a page." in texts(tmp_path, inner)


def test_a_table_is_read_with_its_caption_its_years_and_its_merged_cells(tmp_path: Path) -> None:
    table = (
        "<table><caption>Lamps by town</caption><thead><tr><td>Town</td><td>Kind</td><td>1921</td>"
        "<td>1922</td></tr></thead><tbody><tr><td rowspan=2>Rowan</td><td>red</td><td>4</td><td>"
        "</td></tr><tr><td>blue</td><td colspan=2>5<sup>a</sup></td></tr></tbody></table>"
    )
    assert texts(tmp_path, table) == [
        "Lamps by town",
        "Town: Rowan, Kind: red, 1921: 4.",
        "Town: Rowan, Kind: blue, 1921: 5, 1922: 5.",
    ]


def test_bold_letters_mark_the_heading_of_a_row(tmp_path: Path) -> None:
    table = "<table><tr><td><b>Maker</b></td><td>Ann Lee</td></tr><tr><td><b>Made</b></td><td>"
    assert texts(tmp_path, f"{table}1921</td></tr></table>") == ["Maker: Ann Lee.", "Made: 1921."]


def test_a_table_with_heads_is_read_by_its_rows_although_headings_stand_in_its_cells(
    tmp_path: Path,
) -> None:
    table = (
        "<table><tr><th>Lamp</th><th>Days</th></tr><tr><td><h5>Red</h5><p>of brass</p></td>"
        "<td><ul><li>212</li></ul></td></tr></table>"
    )
    assert texts(tmp_path, table) == ["Lamp: Red of brass, Days: 212."]


def test_a_long_text_in_a_list_of_names_is_read_as_its_paragraphs(tmp_path: Path) -> None:
    long = "The lamp of Rowan is red. " * 40
    assert texts(tmp_path, f"<dl><dt>Lamp</dt><dd><div>{long}</div></dd></dl>")[-1] == long.strip()


def test_a_table_of_the_layout_is_read_as_its_paragraphs(tmp_path: Path) -> None:
    table = (
        "<table><tr><td><h2>Lamps</h2><p>It is red.</p></td><td><p>It is old.</p></td></tr></table>"
    )
    assert texts(tmp_path, table) == ["It is red.", "It is old."]


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


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [("", "cp1252"), ("<meta charset=iso-8859-1>", "cp1252"), ("<meta charset=utf-8>", "utf-16")],
)
def test_a_page_is_read_in_its_encoding(tmp_path: Path, declared: str, encoding: str) -> None:
    page = f"<html><head>{declared}</head><body><article><p>“{ABOUT}” – Zoë</p></article></body>"  # noqa: RUF001
    (tmp_path / "a.html").write_bytes(page.encode(encoding))
    (block,) = web_page.read(tmp_path / "a.html").blocks
    assert block.text == f"“{ABOUT}” – Zoë"  # noqa: RUF001
