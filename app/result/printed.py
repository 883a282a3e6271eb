"""A finished claim or a list as a PDF, and an answer as a picture for pages that link to it.

The letters are those of DejaVu, which comes with matplotlib: Latin, Greek, Cyrillic, Armenian
and Georgian ones. Hebrew and Arabic ones stand from left to right, others are boxes. Marked words
are bold and underlined, so that they stay so on paper.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeAlias

import pypdfium2
from fpdf import FPDF
from fpdf.enums import MethodReturnValue
from fpdf.fonts import TTFFont

from app.filters import LOOKS, Badge, only_here, safe_url, verdict_badge
from app.result.answer import Answer, Shown, answer_of
from app.result.evidence import balance
from app.result.published import Published, PublishedRow, list_in_words, said_in_words
from retrieval.compared import counted_stance
from retrieval.result import ClaimResult
from retrieval.types import CorpusPart
from retrieval.words import AGAINST, STANCES, balance_words, counted, credit_words
from worker.lists import ClaimList

Colour: TypeAlias = tuple[int, int, int]
Style: TypeAlias = Literal["", "B", "BU"]

_INK: Colour = (29, 27, 24)
_SOFT: Colour = (90, 85, 76)
_PAPER: Colour = (253, 252, 249)
_COLOURS: dict[str, Colour] = {
    "supported": (20, 96, 58),
    "refuted": (156, 31, 27),
    "unsettled": (106, 80, 12),
}
_NO_LETTER = "□"
_MARGIN = 22.0  # mm, as all lengths of the PDF
_ROOM = 40.0  # below the last row for the next one to begin there
_FEWEST = 3  # sentences from which on they are drawn as a meter
_MOST_WORDS = 240  # characters of the answer and of the claim on a picture
_WIDTH, _HEIGHT = 1200, 630  # px of a picture, as sites show it beside a link
_DRAWING = Lock()  # one picture at a time: pdfium allows no more, and requests take one core
_PRINTING = Lock()  # one list at a time: each takes seconds of one core


class _Sheet(FPDF):
    """A document in the letters and colours of the pages; ``foot``: a line below each page."""

    def __init__(self, foot: str = "", **of: Any) -> None:
        super().__init__(**of)
        self.foot = foot
        fonts = _fonts()
        for family, file in (("sans", "DejaVuSans"), ("serif", "DejaVuSerif")):
            self.add_font(family, "", fonts / f"{file}.ttf")
            self.add_font(family, "B", fonts / f"{file}-Bold.ttf")
        self.set_fallback_fonts(["sans"])  # which has more letters
        self.set_lang("en")
        self.set_margin(_MARGIN)

    def begin(self, title: str, author: str, at: datetime) -> None:
        """Begin the first page; the rest is for those who look for the file."""
        self.set_title(title)
        self.set_author(author or "ESOTERIC")
        self.set_creation_date(at)
        self.set_auto_page_break(True, _MARGIN)
        self.add_page()

    def footer(self) -> None:
        if self.foot:
            self.set_y(-15)
            self.say(f"{self.foot} · {self.page_no()}", 8, _SOFT)

    def say(
        self,
        text: str,
        size: float,
        colour: Colour = _INK,
        *,
        style: Style = "",
        family: str = "sans",
        link: str = "",
    ) -> None:
        """Write a text within the line."""
        self.set_font(family, style, size)
        self.set_text_color(*colour)
        self.write(size * 0.35 * 1.45, self.shown(text), link)

    def shown(self, text: str) -> str:
        """Return the text with a box for each letter that the font has not."""
        font = self.fonts["sans"]
        known = font.cmap if isinstance(font, TTFFont) else ()
        return "".join(one if ord(one) in known else _NO_LETTER for one in text)

    def paragraph(self, pieces: Iterable[tuple[str, Style]], size: float, colour: Colour) -> None:
        """Write pieces of text in one paragraph."""
        for text, style in pieces:
            self.say(text, size, colour, style=style)
        self.ln(size * 0.35 * 1.45)


def printed(published: Published) -> bytes:
    """Return a claim with its answer and the sentences that it rests on, as a PDF."""
    result = published.result
    answer, badge = answer_of(result), verdict_badge(result.verdict)
    sheet = _Sheet(published.page, format="A4")
    sheet.begin(f"{badge.word}: {result.claim}", published.author, published.checked_at)
    sheet.paragraph([(_said_and_checked(published), "")], 9, _SOFT)
    sheet.ln(2)
    sheet.say(result.claim, 19, family="serif")
    sheet.ln(13)
    _verdict(sheet, published, answer, badge)
    sheet.ln(6)
    if result.selected:
        sheet.paragraph([("In the documents", "B")], 12, _INK)
    for rank, item in enumerate(result.evidence, 1):
        if item.selected:
            stance = counted_stance(result, rank, answer.opposing)
            sheet.ln(1.5)
            sheet.paragraph([(STANCES[stance], "B")], 9, _COLOURS[LOOKS[stance]])
            sheet.paragraph([(item.sentence, "")], 10.5, _INK)
            credit = credit_words(result.credits.get(item.document, ""))
            sheet.say(item.reference, 9, _SOFT, link=safe_url(item.url) or "")
            sheet.paragraph([(f", {credit}" if credit else "", "")], 9, _SOFT)
    _made_by(sheet, result.corpora, f"A program gave this verdict, ESOTERIC {result.version}")
    return bytes(sheet.output())


def printed_list(rows: Iterable[PublishedRow], claims: ClaimList, page: str) -> bytes:
    """Return a list as a PDF: for each row its claim, its verdict and what that rests on."""
    with _PRINTING:
        return _printed_list(rows, claims, page)


def _printed_list(rows: Iterable[PublishedRow], claims: ClaimList, page: str) -> bytes:
    sheet = _Sheet(page, format="A4")
    sheet.begin(claims.name, "", claims.created_at)
    sheet.say(claims.name, 19, family="serif")
    sheet.ln(10)
    day = claims.created_at.date().isoformat()
    sheet.paragraph([(f"{list_in_words(claims)} · list of {day}", "")], 9, _SOFT)
    sheet.say(page, 9, _SOFT, link=page)
    sheet.ln(5)
    searched: dict[str, CorpusPart] = {}
    for row in rows:
        sheet.ln(5)
        if sheet.will_page_break(_ROOM):
            sheet.add_page()
        said = said_in_words(row.said)
        shown = row.published
        sheet.paragraph(
            [(f"{row.number} ", "B"), (_said_and_checked(shown) if shown else said, "")], 9, _SOFT
        )
        sheet.say(row.claim, 13, family="serif", link=row.link)
        sheet.ln(8)
        if shown is None:
            why = row.problem.message if row.problem else ""
            sheet.paragraph([("No verdict: ", "B"), (why, "")], 10.5, _SOFT)
            continue
        searched.update((one.title, one) for one in shown.result.corpora)
        _verdict(sheet, shown, answer_of(shown.result), verdict_badge(shown.result.verdict))
    _made_by(sheet, searched.values(), "A program gave these verdicts")
    return bytes(sheet.output())


def _verdict(sheet: _Sheet, published: Published, answer: Answer, badge: Badge) -> None:
    """Write the answer with its label and the sentences that are quoted, beside a bar."""
    result, colour = published.result, _COLOURS[badge.look]
    top, first = sheet.get_y(), sheet.page_no()
    sheet.set_left_margin(_MARGIN + 6)
    sheet.set_x(_MARGIN + 6)
    sheet.paragraph([(answer.text, "B")], 13, colour)
    if answer.lacks:
        sheet.paragraph([(answer.lacking, "B")], 11, _INK)
    confirmed = published.author and f"confirmed by {published.author}"
    level = (badge.word, result.certainty, confirmed)
    if result.verdict.level != "unsettled":
        sheet.paragraph([(" · ".join(filter(None, level)), "")], 9.5, _SOFT)
    for one in result.statements:
        sheet.paragraph([(f"{one.text} ", ""), (one.verdict.words, "B")], 10.5, _INK)
    for shown, opposes in _quoted(answer):
        sheet.ln(2)
        marked: list[tuple[str, Style]] = [(text, "BU" if on else "") for text, on in shown.pieces]
        if not shown.said:
            against: list[tuple[str, Style]] = [(f"{AGAINST}: ", "B")] if opposes else []
            sheet.paragraph([*against, ("“", ""), *marked, ("”", "")], 11, _INK)
        sheet.paragraph([(_source(result, shown), "")], 9, _SOFT)
    for notice in result.notices_on_verdict:
        sheet.paragraph([(notice, "")], 9, _INK)
    _meter(sheet, result, answer)
    if sheet.page_no() == first:
        sheet.set_fill_color(*colour)
        sheet.rect(_MARGIN, top, 1.2, sheet.get_y() - top, style="F")
    sheet.set_left_margin(_MARGIN)
    sheet.set_x(_MARGIN)


def _made_by(sheet: _Sheet, corpora: Iterable[CorpusPart], program: str) -> None:
    sheet.ln(5)
    for part in corpora:
        day = f"text of {part.text_date}" if part.text_date else "the date of its text is not known"
        holds = f"{counted(part.documents, 'document')}, {day}"
        if part.kind != "index":
            holds = "whole articles, searched where they are"
        sheet.paragraph([(f"Searched: {part.title}, {holds}.", "")], 8.5, _SOFT)
    known = f"{program}; it knows only the documents that it searched."
    sheet.paragraph([(known, "")], 8.5, _SOFT)
    sheet.say(sheet.foot, 8.5, _SOFT, link=sheet.foot)
    sheet.say(only_here(sheet.foot), 8.5, _SOFT)


def _said_and_checked(published: Published) -> str:
    said, checked = said_in_words(published.said), published.checked_at.date().isoformat()
    return f"{said} · checked on {checked}" if said else f"Checked on {checked}"


def picture(result: ClaimResult) -> bytes:
    """Return the claim, its answer, its verdict and the sentence that it rests on, as a PNG."""
    answer, badge = answer_of(result), verdict_badge(result.verdict)
    label = " · ".join(filter(None, (badge.word, result.certainty)))
    quote, source = "", result.corpus_title
    if answer.quoted:
        said = "".join(text for text, _ in answer.quoted.pieces)
        quote, source = f"“{_short(said)}”", answer.quoted.title
    texts = _short(result.claim), _short(answer.text), label, quote, source
    with _DRAWING:
        return _drawn(*texts, _COLOURS[badge.look])


@lru_cache(32)
def _drawn(claim: str, answer: str, label: str, quote: str, source: str, colour: Colour) -> bytes:
    sheet = _Sheet(unit="pt", format=(_WIDTH, _HEIGHT))
    sheet.set_auto_page_break(False)
    sheet.set_margin(72)
    sheet.add_page()
    sheet.set_fill_color(*_PAPER)
    sheet.rect(0, 0, _WIDTH, _HEIGHT, style="F")
    sheet.set_fill_color(*colour)
    sheet.rect(0, 0, 24, _HEIGHT, style="F")
    for text, family, style, ink, size, room in (
        (claim, "serif", "", _INK, 48.0, 130),
        (answer, "sans", "B", colour, 48.0, 130),
        (label, "sans", "", _SOFT, 28.0, 48),
        (quote, "serif", "", _INK, 30.0, 130),
    ):
        sheet.set_text_color(*ink)
        while True:
            sheet.set_font(family, style, size)
            height = sheet.multi_cell(
                0,
                size * 1.25,
                sheet.shown(text),
                align="L",
                dry_run=True,
                output=MethodReturnValue.HEIGHT,
            )
            assert isinstance(height, float)
            if height <= room or size < 20:
                break
            size -= 2
        sheet.multi_cell(
            0, size * 1.25, sheet.shown(text), align="L", new_x="LMARGIN", new_y="NEXT"
        )
        sheet.ln(16)
    sheet.set_font("sans", "", 24)
    sheet.set_text_color(*_SOFT)
    sheet.set_xy(72, _HEIGHT - 80)
    sheet.cell(0, 30, sheet.shown(_short(f"ESOTERIC · {source}", 70)))
    with pypdfium2.PdfDocument(bytes(sheet.output())) as document:
        drawn = document[0].render(scale=1).to_pil()
    file = io.BytesIO()
    drawn.save(file, "PNG", optimize=True)
    return file.getvalue()


def _quoted(answer: Answer) -> Iterable[tuple[Shown, bool]]:
    if answer.quoted is not None:
        yield answer.quoted, False
    if answer.against is not None:
        yield answer.against.shown, True


def _source(result: ClaimResult, shown: Shown) -> str:
    credit = credit_words(result.credits.get(shown.document, ""))
    return f"{shown.title}, {credit}" if credit else shown.title


def _meter(sheet: _Sheet, result: ClaimResult, answer: Answer) -> None:
    """Draw a box for each sentence; those of the other side are hollow, not only of its colour."""
    found = balance(result, answer.opposing)
    if result.verdict.level == "unsettled" or result.statements or sum(found.values()) < _FEWEST:
        return
    sheet.ln(2)
    for at, (stance, number) in enumerate(found.items()):
        sheet.set_draw_color(*_COLOURS[LOOKS[stance]])
        sheet.set_fill_color(*_COLOURS[LOOKS[stance]])
        for _ in range(number):
            sheet.rect(sheet.get_x(), sheet.get_y() + 0.5, 5, 3, style="D" if at else "DF")
            sheet.set_x(sheet.get_x() + 6)
    sheet.paragraph([(f" {balance_words(found)}", "")], 9, _SOFT)


def _short(text: str, most: int = _MOST_WORDS) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _fonts() -> Path:
    package = find_spec("matplotlib")
    assert package is not None  # a requirement
    assert package.origin is not None
    return Path(package.origin).parent / "mpl-data" / "fonts" / "ttf"
