"""A finished claim as a PDF, and its answer as a picture that pages show beside a link to it.

The letters are those of DejaVu, which comes with matplotlib: Latin, Greek, Cyrillic, Armenian
and Georgian ones. Hebrew and Arabic ones stand from left to right, others are boxes. Marked words
are bold and underlined, so that they stay so on paper.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeAlias

import pypdfium2
from fpdf import FPDF
from fpdf.enums import MethodReturnValue
from fpdf.fonts import TTFFont

from app.filters import LOOKS, safe_url, verdict_badge
from app.result.answer import Answer, Shown, answer_of
from app.result.evidence import balance
from retrieval.compared import counted_stance
from retrieval.result import ClaimResult
from retrieval.words import AGAINST, STANCES, balance_words, counted, credit_words
from worker.jobs import Job

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
_FEWEST = 3  # sentences from which on they are drawn as a meter
_MOST_WORDS = 240  # characters of the answer and of the claim on a picture
_WIDTH, _HEIGHT = 1200, 630  # px of a picture, as sites show it beside a link
_DRAWING = Lock()  # one picture at a time: pdfium allows no more, and requests take one core


class _Sheet(FPDF):
    """A document in the letters and colours of the pages; ``foot``: a line below each page."""

    def __init__(self, foot: str = "", **of: Any) -> None:
        super().__init__(**of)
        self._foot = foot
        fonts = _fonts()
        for family, file in (("sans", "DejaVuSans"), ("serif", "DejaVuSerif")):
            self.add_font(family, "", fonts / f"{file}.ttf")
            self.add_font(family, "B", fonts / f"{file}-Bold.ttf")
        self.set_fallback_fonts(["sans"])  # which has more letters
        self.set_lang("en")
        self.set_margin(_MARGIN)

    def footer(self) -> None:
        if self._foot:
            self.set_y(-15)
            self.say(f"{self._foot} · {self.page_no()}", 8, _SOFT)

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


def printed(job: Job, result: ClaimResult, page: str, said: str, by: str) -> bytes:
    """Return a claim with its answer and the sentences that it rests on, as a PDF.

    ``page``: the address of its page. ``said``: who said it, where and when, "" where that is not
    known. ``by``: who has confirmed the verdict, "" if it is not confirmed.
    """
    answer, badge = answer_of(result), verdict_badge(result.verdict)
    colour = _COLOURS[badge.look]
    assert job.finished_at is not None
    sheet = _Sheet(page, format="A4")
    sheet.set_title(f"{badge.word}: {result.claim}")
    sheet.set_author(by or "ESOTERIC")
    sheet.set_creation_date(job.finished_at)
    sheet.set_auto_page_break(True, _MARGIN)
    sheet.add_page()
    checked = f"checked on {job.finished_at.date().isoformat()}"
    sheet.paragraph([(f"{said} · {checked}" if said else checked.capitalize(), "")], 9, _SOFT)
    sheet.ln(2)
    sheet.say(result.claim, 19, family="serif")
    sheet.ln(13)

    top, first = sheet.get_y(), sheet.page_no()
    sheet.set_left_margin(_MARGIN + 6)
    sheet.set_x(_MARGIN + 6)
    sheet.paragraph([(answer.text, "B")], 13, colour)
    level = (badge.word, result.certainty, by and f"confirmed by {by}")
    if result.verdict.level != "unsettled":
        sheet.paragraph([(" · ".join(filter(None, level)), "")], 9.5, _SOFT)
    for one in result.statements:
        sheet.paragraph([(f"{one.text} ", ""), (one.verdict.words, "B")], 10.5, _INK)
    for shown, opposes in _quoted(answer):
        sheet.ln(2)
        pieces: list[tuple[str, Style]] = [(f"{AGAINST}: ", "B")] if opposes else []
        pieces += [("“", ""), *((text, "BU" if on else "") for text, on in shown.pieces), ("”", "")]
        sheet.paragraph(pieces, 11, _INK)
        sheet.paragraph([(_source(result, shown), "")], 9, _SOFT)
    for notice in result.notices_on_verdict:
        sheet.paragraph([(notice, "")], 9, _INK)
    _meter(sheet, result, answer)
    if sheet.page_no() == first:
        sheet.set_fill_color(*colour)
        sheet.rect(_MARGIN, top, 1.2, sheet.get_y() - top, style="F")
    sheet.set_left_margin(_MARGIN)
    sheet.set_x(_MARGIN)

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
    sheet.ln(5)
    for part in result.corpora:
        day = f"text of {part.text_date}" if part.text_date else "the date of its text is not known"
        holds = f"{counted(part.documents, 'document')}, {day}"
        if part.kind != "index":
            holds = "whole articles, searched where they are"
        sheet.paragraph([(f"Searched: {part.title}, {holds}.", "")], 8.5, _SOFT)
    program = f"A program gave this verdict, ESOTERIC {result.version}"
    sheet.say(f"{program}; it knows only the documents that it searched. ", 8.5, _SOFT)
    sheet.say(page, 8.5, _SOFT, link=page)
    return bytes(sheet.output())


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
