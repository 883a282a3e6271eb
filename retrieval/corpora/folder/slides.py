"""Reads .pptx slide by slide: titles, texts, tables, charts and the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pptx
from pptx.oxml.ns import qn

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.charts import chart_sentences
from retrieval.corpora.folder.document import FileText, Unread, first_title, hidden_text
from retrieval.corpora.folder.formula import beside, formula
from retrieval.corpora.folder.office import office_file, saved_on
from retrieval.corpora.folder.tables import Cell, table_text
from retrieval.corpora.passages import Block, ends_sentence
from retrieval.corpora.superscripts import lowered, marked, unmarked

_BREAK = qn("a:br")
_CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath"
_NO_CHART = "a chart without categories is not read."
_WRITE_IT = "Write what it says into the slide's notes, or into a .csv file."
_ENDLESS = 1 << 40  # of a slide without a size
_TINY = 100  # hundredths of a point
_WHITES = {"FFFFFF", "bg1", "lt1"}
_GROUND = (  # what may be dark below white letters: a picture, a fill, another background
    ".//p:pic | .//p:spPr/a:gradFill | .//p:spPr/a:blipFill | .//p:spPr/a:pattFill"
    " | .//p:spPr/a:solidFill[not(a:srgbClr/@val='FFFFFF' or a:schemeClr/@val='bg1')]"
    " | .//p:style/a:fillRef[@idx!='0']"
    " | .//p:bgPr[not(a:noFill or a:solidFill/a:srgbClr/@val='FFFFFF'"
    " or a:solidFill/a:schemeClr/@val='bg1')] | .//p:bgRef[not(a:schemeClr/@val='bg1')]"
)


def read(path: Path) -> FileText:
    """Return the document; the number of a slide is its page, and its title its section."""
    with office_file(path) as file:
        deck = pptx.Presentation(file)
    numbered = enumerate(deck.slides, start=1)
    slides = [each for each in numbered if each[1].element.get("show") != "0"]
    title = first_title(deck.core_properties.title, *(_title(slide) for _, slide in slides))
    unread: list[Unread] = []
    size = int(deck.slide_width or _ENDLESS), int(deck.slide_height or _ENDLESS)
    blocks = [block for one in slides for block in _blocks(*one, title, size, unread)]
    return FileText(title, blocks, None, unread, saved=saved_on(deck.core_properties))


def _title(slide: Any) -> str:
    return clean(" ".join(_lines(slide.shapes.title))) if slide.shapes.title is not None else ""


def _blocks(
    number: int, slide: Any, title: str, size: tuple[int, int], unread: list[Unread]
) -> Iterator[Block]:
    heading = _title(slide)
    section = (heading,) if heading and heading != title else ()
    layout = slide.slide_layout
    grounds = (slide, layout, layout.slide_master)
    white_is_seen = any(one._element.xpath(_GROUND) for one in grounds)
    hidden: list[str] = []
    for shape in _shapes(slide.shapes):
        if slide.shapes.title is not None and shape.shape_id == slide.shapes.title.shape_id:
            continue
        texts: Iterable[str] = ()
        if _is_beside(shape, size):
            hidden += filter(None, _lines(shape)) if shape.has_text_frame else ()
        elif getattr(shape, "has_table", False):
            texts, _ = table_text(list(map(_cells, shape.table.rows)), [heading])
        elif getattr(shape, "has_chart", False):
            texts = chart_sentences(shape.chart, heading)
            if not texts:
                unread.append(Unread(f"slide {number}", _NO_CHART, _WRITE_IT))
        elif shape.has_text_frame:
            hidden += _drop_invisible(shape, white_is_seen)
            yield from _paragraphs(shape, section, number)
        yield from (Block(text, section, number) for text in texts)
    unread += hidden_text(f"slide {number}", len(hidden))
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        for paragraph in slide.notes_slide.notes_text_frame.paragraphs:
            yield Block(_line(paragraph), section, number)


def _paragraphs(shape: Any, section: tuple[str, ...], number: int) -> Iterator[Block]:
    """Yield the paragraphs of a shape, each below those of lower levels that introduce it.

    What ends with a colon introduces those of its own level too.
    """
    written = [(each.level, _line(each)) for each in shape.text_frame.paragraphs]
    lines = [(level, text) for level, text in written if text]
    above: list[tuple[int, str]] = []
    for (level, text), (next_level, _) in pairwise([*lines, (0, "")]):
        leads = text.endswith(":")
        above = [
            (at, lead)
            for at, lead in above
            if at < level or (at == level and lead.endswith(":") and not leads)
        ]
        yield Block(text, (*section, *(lead for _, lead in above)), number)
        if leads or (next_level > level and not ends_sentence(text)):
            above.append((level, text))


def _is_beside(shape: Any, size: tuple[int, int]) -> bool:
    """Return whether a shape stands outside of its slide; one in a group has other coordinates."""
    places = shape.left, shape.top, shape.width, shape.height
    if None in places or shape._element.getparent().tag == qn("p:grpSp"):
        return False
    left, top, width, height = places
    return bool(left >= size[0] or top >= size[1] or left + width <= 0 or top + height <= 0)


def _drop_invisible(shape: Any, white_is_seen: bool) -> Iterator[str]:
    """Remove invisible letters from a shape, and yield them: tiny, transparent, white on white."""
    for paragraph in shape.text_frame.paragraphs:
        dropped = ""
        for run in paragraph.runs:
            look = run._r.find(qn("a:rPr"))
            if look is None:
                continue
            colours = look.xpath("./a:solidFill/*/@val")
            clear = look.xpath("./a:solidFill//a:alpha/@val") == ["0"]
            white = not white_is_seen and colours[:1] and colours[0] in _WHITES
            if clear or white or int(look.get("sz", _TINY + 1)) <= _TINY:
                dropped += run.text
                paragraph._p.remove(run._r)
        yield from filter(None, [clean(dropped)])


def _shapes(shapes: Any) -> Iterator[Any]:
    """Yield the shapes that are not hidden, also those of groups."""
    for shape in shapes:
        if shape._element.xpath("./*/p:cNvPr/@hidden") not in (["1"], ["true"]):
            yield from _shapes(shape.shapes) if hasattr(shape, "shapes") else [shape]


def _cells(row: Any) -> list[Cell]:
    """Return the cells of a row; those that a merged one covers are parts of it."""
    return [
        Cell(clean(" ".join(_lines(cell))), False, cell.span_width, cell.span_height)
        for cell in row.cells
        if not cell.is_spanned
    ]


def _lines(shape: Any) -> Iterator[str]:
    return map(_line, shape.text_frame.paragraphs)


def _line(paragraph: Any) -> str:
    pieces: list[str] = []
    for run in paragraph._element.iterchildren("{*}r", "{*}br", "{*}fld", "{*}AlternateContent"):
        if run.tag == _CHOICE:  # formulas, for versions that know them
            pieces += (beside("".join(pieces[-1:]), formula(each)) for each in run.iter(_MATH))
            continue
        text = run.findtext("{*}t", "") if run.tag != _BREAK else " "
        look = run.find("{*}rPr")
        look = {} if look is None else look.attrib
        if text and look.get("strike", "noStrike") == "noStrike":
            height = look.get("baseline", "0").rstrip("%")
            below = height.startswith("-") and height.strip("-0")
            raised = height[0] in "123456789"
            pieces.append(marked(text) if raised else lowered(text) if below else text)
    return clean(unmarked("".join(pieces)))
