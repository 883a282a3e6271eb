"""What is read of texts, pages and files, as their readers mean it: its sentences come out."""

import re
import time
import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from unicodedata import normalize

import docx
import pytest

from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import Page, Passage
from retrieval.corpora.decoding import decoded, encoding_of_page, is_binary
from retrieval.corpora.folder import web_page, word
from retrieval.corpora.folder.document import FileText
from retrieval.corpora.folder.tables import row_sentences
from retrieval.corpora.passages import (
    APPENDICES,
    LIMIT,
    WHOLE,
    Block,
    paragraphs,
    passages,
)
from retrieval.corpora.sections import sections
from retrieval.corpora.sources import open_corpus
from retrieval.corpora.superscripts import exponent, lowered, marked, unmarked
from retrieval.corpora.wiki.article import MOST_BLOCKS, read_article
from retrieval.index.formats.records import record_of
from tests.support.cases import cases, rules

_LOWERED, _RAISED = re.compile(r"_\{([^{}]*)\}"), re.compile(r"\{([^{}]*)\}")


def decoded_text(_: Path, content: str, declared: str | None) -> str:
    """In ``content``, each character stands for one byte."""
    assert not is_binary(content.encode("latin-1"))
    return decoded(content.encode("latin-1"), declared)


def line_with_scripts(_: Path, line: str) -> str:
    """In ``line``, what is above it is in {}, and what is below it in _{}."""
    line = _LOWERED.sub(lambda found: lowered(found[1]), line)
    while "{" in line:
        line = _RAISED.sub(lambda found: marked(found[1]), line)
    return unmarked(line)


def of_table(_: Path, rows: list[str]) -> list[str]:
    return list(row_sentences([[cell.strip() for cell in row.split("|")] for row in rows]))


def of_article(_: Path, title: str, html: str) -> object:
    read = read_article(title, html.encode())
    assert [block.anchor for block in read.blocks if block.section] == [
        block.section[-1] for block in read.blocks if block.section
    ]
    assert read.leads_to == ()
    return [[[block.text, " > ".join(block.section)] for block in read.blocks], read.links]


# --- web pages: what a browser shows of the main text

ABOUT = (
    "Rowan is an old town of the northern county. It has a station, a harbour and two schools,"
    " and its people work in the lamp works and in fishing for most of the year."
)
STYLES = """<style>
    @media print { .menu { display: none } }
    .gone, #draft { display: none }
    .box { display: none } .open .box { display: block }
    span.up { vertical-align: super }
</style>"""


def web_page_of(folder: Path, body: str) -> FileText:
    (folder / "a.html").write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    return web_page.read(folder / "a.html")


def article_of(folder: Path, inner: str) -> FileText:
    return web_page_of(folder, f"<article><p>{ABOUT}</p>{inner}</article>")


def after_the_first_paragraph(folder: Path, html: str) -> list[str]:
    first, *others = (block.text for block in article_of(folder, STYLES + html).blocks)
    assert first == ABOUT
    return others


# --- Word files: what Word shows

SPACES = {"w": "wordprocessingml/2006/main", "m": "officeDocument/2006/math"}
SPACES |= {"mc": "markup-compatibility/2006", "r": "officeDocument/2006/relationships"}
OPEN_XML = "http://schemas.openxmlformats.org"
NAMESPACES = " ".join(f'xmlns:{name}="{OPEN_XML}/{place}"' for name, place in SPACES.items())
NOTES = """<Relationship Id="rId99" Target="footnotes.xml" Type=
"http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"/></Relationships>"""
NOTE_TYPE = """<Override PartName="/word/footnotes.xml" ContentType=
"application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"/></Types>"""


def of_word(folder: Path, body: str, notes: str) -> list[str]:
    """The paragraphs that are read of a file with this body and these notes, in its own XML."""
    empty, path = BytesIO(), folder / "a.docx"
    docx.Document().save(empty)
    with zipfile.ZipFile(empty) as old, zipfile.ZipFile(path, "w") as new:
        members = {name: old.read(name) for name in old.namelist()}
        document = f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>"
        members["word/document.xml"] = document.encode()
        if notes:
            for name, end, more in (
                ("word/_rels/document.xml.rels", b"</Relationships>", NOTES),
                ("[Content_Types].xml", b"</Types>", NOTE_TYPE),
            ):
                members[name] = members[name].replace(end, more.encode())
            footnotes = f"<w:footnotes {NAMESPACES}>{notes}</w:footnotes>"
            members["word/footnotes.xml"] = footnotes.encode()
        for name, content in members.items():
            new.writestr(name, content)
    return [block.text for block in word.read(path).blocks]


# --- passages of a long document, and its headings


def of_passages(_: Path, blocks: list[Any], url: str | None) -> list[dict[str, Any]]:
    """``blocks``: text, section, page and anchor of each."""
    found = read(*(Block(each[0], tuple(each[1]), *each[2:]) for each in blocks), url=url)
    for number, page in enumerate(found, start=1):
        assert page.passage == Passage("lamps", number, page.passage.section, page.passage.page)
    keys = ("id", "sentences", "section", "page", "url")
    values = [(p.id, [*p.sentences], [*p.passage.section], p.passage.page, p.url) for p in found]
    return [dict(zip(keys, one, strict=True)) for one in values]


def under_headings(_: Path, lines: list[str]) -> list[list[str]]:
    found = sections(lines, APPENDICES)
    headed = [block for block in found if block.section]
    assert all(block.anchor == block.section[-1].replace(" ", "_") for block in headed)
    return [[block.text, " > ".join(block.section)] for block in found]


@rules(
    ("decoding", "content declared", "text", decoded_text),
    ("decoding", "page", "declared", lambda _, page: encoding_of_page(page.encode())),
    ("decoding", "binary", "", lambda _, binary: is_binary(binary.encode("latin-1"))),
    ("superscripts", "line", "read", line_with_scripts),
    ("tables", "rows", "sentences", of_table),
    ("article", "title html", "blocks links", of_article),
    ("web_page", "html", "read", after_the_first_paragraph),
    ("word", "body notes", "read", of_word),
    ("passages", "blocks url", "pages", of_passages),
    ("headings", "lines", "blocks", under_headings),
)
def test_it_is_read_as_meant(tmp_path: Path, rule: Any, given: Any, expected: Any) -> None:
    assert rule(tmp_path, *given) == expected


# --- files of a folder


def pages_of(folder: Path) -> list[Page]:
    """The pages of a folder, of which only hidden text is left out."""
    found = [page for chunk, _ in open_corpus(f"folder:{folder}").chunks() for page in chunk]
    assert all(isinstance(page, Page) or "does not see" in page.message for page in found)
    return [page for page in found if isinstance(page, Page)]


@pytest.mark.server
@cases("reading", "name", "text", "read")
def test_a_file_is_read_in_sentences(tmp_path: Path, name: str, text: str, read: list[str]) -> None:
    """Those of a short text are read together."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    found: list[str] = []
    for page in pages_of(tmp_path):
        above = " > ".join(page.passage.section) + " | " if page.passage else ""
        lines = (page.text,) if page.sentences is None else page.sentences
        found += (f"{above}{line}".removeprefix(" | ") for line in lines)
    assert " ".join(found) == " ".join(read)


@pytest.mark.server
@cases("reading", "name", "text", "day")
def test_a_document_is_of_its_own_day(tmp_path: Path, name: str, text: str, day: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (page,) = pages_of(tmp_path)
    assert page.source.partition(", ")[2].startswith(day)
    assert day in ("modified on", f"as of {page.date}")
    assert (day == "modified on") == (page.date == "")


@pytest.mark.server
@pytest.mark.parametrize("name", ["Oste\u0301r.txt", "a  b.txt"])
def test_a_file_has_an_id_of_its_own_whatever_form_its_name_has(tmp_path: Path, name: str) -> None:
    for one in (name, "a b.txt"):
        (tmp_path / one).write_text("It is red.", encoding="utf-8")
    ids = [page.id for page in pages_of(tmp_path)]
    assert sorted(ids) == sorted([normalize("NFC", name), "a b.txt"])


@pytest.mark.server
@cases("reading", "name", "text", "days")
def test_each_text_of_a_file_is_of_its_own_day(
    tmp_path: Path, name: str, text: str, days: list[list[str]]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    pages = [page for chunk, _ in open_corpus(f"folder:{tmp_path}").chunks() for page in chunk]
    found = [page for page in pages if isinstance(page, Page)]
    said = [" ".join(page.sentences or [page.text]) for page in found]
    assert [[text, page.date] for text, page in zip(said, found, strict=True)] == days
    assert [f"{page.source}," in f"{name}, as of {page.date}," for page in found] == [
        bool(day) for _, day in days
    ]


def test_an_empty_box_is_no_sentence_of_the_index_and_exponents_are_plain_characters() -> None:
    record = record_of(Page("a", "Mill", None, "", ("☐ It has a lift.", "It has a gate.")), ())
    assert record["text"] == "☐ It has a lift. It has a gate."
    assert record["sentences"] == [(1, 17, 31)]
    assert [exponent(text) for text in ("2", "n", "k", "a/b")] == ["²", "ⁿ", "^k", "^(a/b)"]


# --- pages that are broken, long, or shown by scripts; styles of Word


def test_an_article_is_read_as_far_as_it_goes() -> None:
    (deep,) = read_article("Lee", b"<p>Lee is a song." + b"<div>" * 50_000 + b"x").blocks
    assert deep.text == "Lee is a song."
    long = b"The parish notes a calm winter and a late harvest. " * 8
    article = read_article("Ohre", (b"<p>" + long + b"</p>") * 6000)  # over 2 MB
    assert len(article.blocks) == MOST_BLOCKS


YEARS = range(1901, 1951)
LONG = "".join(f"<p>In {year} the town of Rowan had {year - 1600} lamps.</p>" for year in YEARS)


def test_a_text_that_only_scripts_would_show_is_read_and_loose_text_too(tmp_path: Path) -> None:
    hidden = "<style>.text {display: none}</style>"
    for around in (f"<noscript>{LONG}</noscript>", f"{hidden}<div class=text>{LONG}</div>"):
        read = [block.text for block in web_page_of(tmp_path, f"<h1>Rowan</h1>{around}").blocks]
        assert "In 1901 the town of Rowan had 301 lamps." in read
        assert len(read) == len(YEARS)
    boxes = LONG.replace("<p>", "<div>").replace("</p>", "</div>")
    by = "<p>Written by Ann Lee in the year 1951.</p>"
    in_boxes = web_page_of(tmp_path, f"<div id=content>{by}<div>{boxes}</div></div>").blocks
    read = " ".join(block.text for block in in_boxes)
    assert "In 1901 the town of Rowan had 301 lamps. In 1902" in read
    loose = "<h2>Lamps</h2>It is lit by <b>oil</b> lamps of the works in every street."
    blocks = web_page_of(tmp_path, f"<div id=content>{LONG}{loose}{LONG}</div>").blocks
    assert "It is lit by oil lamps of the works in every street." in [one.text for one in blocks]


def test_rows_that_are_too_wide_are_named_and_links_to_edit_are_no_headings(tmp_path: Path) -> None:
    wide = f"<tr>{'<td>1</td>' * 600}</tr>"
    table = f"<table><tr><td>4</td><td>5</td></tr>{wide}<tr><td>6</td><td>7</td></tr></table>"
    read = article_of(tmp_path, table)
    assert [block.text for block in read.blocks[1:]] == ["4, 5.", "6, 7."]
    (unread,) = read.unread
    assert unread.where == "table 1"
    assert unread.message == "it is too large; not read: 1 of its rows (2)."
    first = "<h2>Lamps<span>[<a href='/e'>edit</a>]</span></h2><p>It is red.</p>"
    second = "<h2>Years [edit | edit source]</h2><p>It is old.</p>"
    third = "<h2>Ends<span class='mw-editsection'>[change]</span></h2><p>It is lit.</p>"
    blocks = article_of(tmp_path, first + second + third).blocks
    assert [block.section for block in blocks] == [(), ("Lamps",), ("Years",), ("Ends",)]


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


def test_text_that_its_style_hides_is_not_read(tmp_path: Path) -> None:
    document = docx.Document()
    style = document.styles.add_style("Draft", docx.enum.style.WD_STYLE_TYPE.CHARACTER)
    style.font.hidden = True
    document.add_paragraph("It is lit").add_run(" or not", style="Draft")
    document.save(str(tmp_path / "a.docx"))
    assert [block.text for block in word.read(tmp_path / "a.docx").blocks] == ["It is lit"]


# --- a long document is read in passages, a short one as it always was


def read(*blocks: Block, url: str | None = None) -> list[Page]:
    return list(passages("lamps", "Lamps", url, blocks))


def lamp(number: int) -> str:
    """Return a sentence of 40 characters."""
    return f"Lamp number {number:04} stands in the old town."


def text_of(pages: Sequence[Page]) -> str:
    return " ".join(" ".join(page.sentences) for page in pages)


def test_a_short_text_stays_one_page_whose_lines_may_be_its_sentences() -> None:
    text = "It is red. \n \n\n\nIt is\nold.\r\n\r\nIt burns "
    (page,) = read(*map(Block, paragraphs(text)))
    assert page == Page("lamps", "Lamps", None, "It is red. It is old. It burns")
    # Lines without a mark at their end, or with a number there, are sentences.
    text = "Lamps of 1902\n\nIt is red. It is old.\n\nIt burns."
    lines = ("Lamps of 1902", "It is red.", "It is old.", "It burns.")
    assert read(*map(Block, paragraphs(text))) == [Page("lamps", "Lamps", None, "", lines)]
    rows = ("Town: Varn, 1901: 4, 1902: 2.", "Town: Orrel, 1901: 7, 1902: 5.", "It is so.")
    (page,) = read(*map(Block, rows))
    assert page.sentences == rows
    # A text without passages is what cleaning makes of it.
    for text in ("", " \n\n ", "Tea.\u200b\n\n\u0301b", "\n\nOx.\n \t\n\u2028\n\nY"):
        (page,) = read(*map(Block, paragraphs(text)))
        assert (page.text, page.sentences, page.passage) == (clean(text), None, None)


def test_a_text_is_cut_beyond_twice_the_limit_into_like_passages_of_whole_sentences() -> None:
    longest = " ".join(lamp(n) for n in range(WHOLE // 41 + 1))[:WHOLE]
    (whole,) = read(Block(longest))
    assert (len(whole.text), whole.passage) == (WHOLE, None)
    cut = read(Block(f"{longest} More."))
    assert len(cut) > 1
    assert [page.id for page in cut] == [f"lamps#{n + 1}" for n in range(len(cut))]
    assert [page.passage for page in cut] == [Passage("lamps", n + 1) for n in range(len(cut))]
    sentences = [lamp(n) for n in range(200)]
    pages = read(Block(" ".join(sentences)))
    assert [s for page in pages for s in page.sentences] == sentences
    # 200 sentences of 40 characters and a space: 7 passages of about the same size.
    sizes = [len(text_of([page])) for page in pages]
    assert len(sizes) == 7
    assert LIMIT // 2 < min(sizes) <= max(sizes) <= LIMIT
    # A passage ends with a paragraph where one is near.
    paragraph = " ".join(lamp(n) for n in range(20))  # 819 characters
    assert [text_of([page]) for page in read(*[Block(paragraph)] * 4)] == [paragraph] * 4
    # Only a sentence longer than a passage is cut, between words.
    words = " ".join(["lamps"] * 600)
    pages = read(Block(f"It is old. {words}."))
    assert text_of(pages) == f"It is old. {words}."
    pieces = [sentence for page in pages for sentence in page.sentences]
    assert len(pieces) == 4
    assert all(len(piece) <= LIMIT for piece in pieces)
    assert all(re.fullmatch(r"(lamps ?)+\.?", piece) for piece in pieces[1:])


def test_the_time_is_linear_in_the_length() -> None:
    def seconds(count: int) -> float:
        text = [Block(" ".join(lamp(n) for n in range(50))) for _ in range(count)]
        started = time.process_time()
        assert sum(1 for _ in passages("lamps", "Lamps", None, text)) > count
        return time.process_time() - started

    def least(count: int) -> float:  # a single time is sometimes far too long
        return min(seconds(count) for _ in range(3))

    assert least(400) < 8 * least(100)  # linear: 4 times; quadratic: 16 times
