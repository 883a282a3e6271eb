"""Reads the letters of a page of a PDF, each with its place."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as raw

_STEP = 5  # degrees of a direction; a scanned page may be askew
_HYPHENS = (2, 0xAD)  # what PDFium gives for one at the end of a line, and a soft one
_LINE_ENDS = (10, 13)  # PDFium adds them, and spaces
_BLANK = 32
UNKNOWN = "\N{REPLACEMENT CHARACTER}"
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl"}
_OLD_STYLE_DIGITS = {0xF730 + digit: str(digit) for digit in range(10)}  # as Adobe numbers them
# Stands for a character that only its font knows; some are pictures, and others digits.
PRIVATE = "\uf8ff"
_PRIVATE_USE = range(0xE000, 0xF900)
_UPRIGHT_SCRIPTS = 0x2E80  # the characters from here on may be set from top to bottom


class Letter(NamedTuple):
    """A letter on its line, which goes to the right; lengths in points.

    ``base`` is the height of the line's foot, which grows upwards. ``size``: of its font.
    """

    text: str
    left: float
    right: float
    base: float
    size: float


def letters(page: pdfium.PdfPage) -> list[tuple[int, list[Letter]]]:
    """Return the letters in the order of drawing: those of each direction, the main one first.

    Directions are in degrees: 0 for a line that goes to the right, 90 for one that goes up.

    The places are turned so that the lines of every direction go to the right and follow each
    other downwards. What is outside of the page, or printed askew like a watermark, is left out.

    Raises:
        pdfium.PdfiumError: the page cannot be read.
    """
    by_direction: dict[int, list[Letter]] = {}
    textpage = page.get_textpage()
    try:
        for angle, letter in _drawn(textpage, page.get_bbox()):
            by_direction.setdefault(angle, []).append(letter)
    finally:
        textpage.close()
    groups = sorted(by_direction.items(), key=lambda item: -len(item[1]))
    return [
        (angle - 90, _turned(group)) if _goes_down(group) else (angle, group)
        for angle, group in groups
    ]


def _drawn(
    textpage: pdfium.PdfTextPage, bounds: tuple[float, float, float, float]
) -> Iterator[tuple[int, Letter]]:
    """Yield the letters with their directions in degrees.

    A page may have ten thousand, so that what is asked of PDFium for each is as little as possible.
    """
    page = textpage.raw
    x, y = ctypes.c_double(), ctypes.c_double()
    matrix, box = raw.FS_MATRIX(), raw.FS_RECTF()
    xs, ys, matrices, boxes = map(ctypes.byref, (x, y, matrix, box))
    last: tuple[float, ...] = ()
    angle, scale, mirrored = 0, 1.0, False
    for index in range(textpage.count_chars()):
        code = raw.FPDFText_GetUnicode(page, index)
        if code in _LINE_ENDS or (code == _BLANK and raw.FPDFText_IsGenerated(page, index)):
            continue
        raw.FPDFText_GetLooseCharBox(page, index, boxes)
        left, bottom, right, top = box.left, box.bottom, box.right, box.top
        if right < bounds[0] or left > bounds[2] or top < bounds[1] or bottom > bounds[3]:
            continue
        raw.FPDFText_GetMatrix(page, index, matrices)
        turn = matrix.a, matrix.b, matrix.c, matrix.d
        if turn != last:
            last, scale = turn, math.hypot(matrix.c, matrix.d)
            angle = round(math.degrees(math.atan2(matrix.b, matrix.a)) / _STEP) * _STEP % 360
            mirrored = matrix.a * matrix.d < matrix.b * matrix.c
        if angle % 90:
            continue
        raw.FPDFText_GetCharOrigin(page, index, xs, ys)
        base = y.value
        if angle:
            left, right = sorted(
                (_seen_from(angle, left, bottom)[0], _seen_from(angle, right, top)[0])
            )
            base = _seen_from(angle, x.value, base)[1]
        if mirrored:
            base = -base
        size = abs(raw.FPDFText_GetFontSize(page, index) * scale) or 1.0
        yield angle, Letter(_character(code), left, right, base, size)


def _character(code: int) -> str:
    if code in _HYPHENS:
        return "-"
    if code in _PRIVATE_USE:
        return _OLD_STYLE_DIGITS.get(code, PRIVATE)
    # A digit that is left out would change a number; this one shows that something is there.
    return _LIGATURES.get(code) or (chr(code) if 0 < code < 0x110000 else UNKNOWN)


def _seen_from(angle: int, x: float, y: float) -> tuple[float, float]:
    """Return a place on the page turned so that a line at this angle goes to the right."""
    match angle:
        case 90:
            return y, -x
        case 180:
            return -x, -y
        case 270:
            return -y, x
    return x, y


def _goes_down(group: Sequence[Letter]) -> bool:
    """Return whether most letters stand below the letter before, as in Japanese."""
    pairs = [(a, b) for a, b in pairwise(group) if ord(b.text[0]) >= _UPRIGHT_SCRIPTS]
    below = sum(
        abs(b.left - a.left) < 0.3 * b.size and 0.5 * b.size < a.base - b.base < 2 * b.size
        for a, b in pairs
    )
    return below > len(group) / 2


def _turned(group: Sequence[Letter]) -> list[Letter]:
    """Return letters that stand below each other as lines, the column at the right first."""
    return [
        Letter(text, -base - size, -base, (left + right) / 2, size)
        for text, left, right, base, size in group
    ]
