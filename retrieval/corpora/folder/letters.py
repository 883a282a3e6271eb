"""Reads the letters of a page of a PDF, each with its place, and the lines drawn on it.

Lines stand between rows, in fractions, and through words that are struck out. Fractions are put on
one line. Without that, one of the numbers would be lost: "6 ¾ men" would be read as "6 4 men".
"""

from __future__ import annotations

import ctypes
import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import pypdfium2 as pdfium
import pypdfium2.raw as raw

_MOST_DRAWINGS = 3000  # drawings of a page that are looked at; a map has more
_SHORTEST = 15.0  # points
_THIN = 2.5  # points; the height of a line, with what PDFium adds
_SHORTEST_THIN = 3.0  # points; a line through a word
_STEP = 5  # degrees of a direction; a scanned page may be askew
_HYPHENS = (2, 0xAD)  # what PDFium gives for one at the end of a line, and a soft one
_LINE_ENDS = (10, 13)  # PDFium adds them, and spaces
_BLANK = 32
UNKNOWN = "\N{REPLACEMENT CHARACTER}"
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl"}
_BULLET = 0x7F  # as Windows numbers it
_OLD_STYLE_DIGITS = {0xF730 + digit: str(digit) for digit in range(10)}  # as Adobe numbers them
_BOLD = re.compile(rb"bold|black|heavy|demi|cmbx", re.IGNORECASE)
_LONGEST_NAME = 128  # bytes of the name of a font
# Stands for a character that only its font knows; some are pictures, and others digits.
PRIVATE = "\uf8ff"
_PRIVATE_USE = range(0xE000, 0xF900)
_Box: TypeAlias = tuple[float, float, float, float]  # left, bottom, right, top
_UNKNOWN_PLACES = {raw.FPDF_PAGEOBJ_FORM, raw.FPDF_PAGEOBJ_SHADING}
_FILLING = {raw.FPDF_TEXTRENDERMODE_FILL, raw.FPDF_TEXTRENDERMODE_FILL_CLIP}
_INVISIBLE = {raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP}
_WHITE = 250  # of 255
_TINY = 1.0  # points
_MIDDLE = 0.3  # how high above its foot the middle of a letter is, in parts of its size
_CORNERS = 6  # segments of a rectangle
_MOST_COVERED = 0.5  # part of a page that a box over a text covers

# These are parts of the size of the letters.
_THROUGH = 0.12, 0.5  # how high above its foot a line goes through a letter
_BEYOND_LETTERS = 0.5  # how far it may go beyond them; the lines of a chart go further
# Of a fraction, in the same parts.
_LONGEST = 4  # line between the numbers
_BEYOND = 0.3  # how far the numbers may go beyond it
_ABOVE = -0.1, 0.7  # how high above it the foot of the upper number is
_BELOW = 0.5, 1.4  # how far below it the foot of the lower one is
_BESIDE = 0.1, 0.6  # how far below it the foot of the text is that the fraction stands in
_APART = 1.0  # how far from that text it is


class Rule(NamedTuple):
    """A horizontal line, or an edge of a box; lengths in points, ``height`` grows upwards."""

    left: float
    right: float
    height: float


def rules(page: pdfium.PdfPage) -> tuple[list[Rule], list[Rule]]:
    """Return the long horizontal lines and edges of a page, and its thin lines of any length.

    There are none if it has very many drawings.
    """
    found, thin = [], []
    drawings = page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=1)
    for number, drawing in enumerate(drawings):
        if number == _MOST_DRAWINGS:
            return [], []
        left, bottom, right, top = drawing.get_bounds()
        if right - left >= _SHORTEST:
            found += [Rule(left, right, bottom), Rule(left, right, top)]
        if right - left >= _SHORTEST_THIN and top - bottom <= _THIN:
            thin.append(Rule(left, right, (bottom + top) / 2))
    return found, thin


class Letter(NamedTuple):
    """A letter on its line, which goes to the right; lengths in points.

    ``base`` is the height of the line's foot, which grows upwards. ``size``: of its font.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    bold: bool = False


def letters(page: pdfium.PdfPage) -> tuple[list[tuple[int, list[Letter]]], int]:
    """Return the letters in the order of drawing: those of each direction, the main one first.

    Directions are in degrees: 0 for a line that goes to the right, 90 for one that goes up. The
    second value is how many texts are left out because they are invisible: they are printed in no
    colour, in white on white, or below a box. What seems to hide most of a page with pictures for
    one reason hides none of it: it hangs on something that is not known here.

    The places are turned so that the lines of every direction go to the right and follow each
    other downwards. What is outside of the page, or printed askew like a watermark, is left out.

    Raises:
        pdfium.PdfiumError: the page cannot be read.
    """
    sight = _Sight(page)
    textpage = page.get_textpage()
    try:
        drawn = [(*one, sight.hides(*one)) for one in _drawn(textpage, page.get_bbox())]
    finally:
        textpage.close()
    reasons = Counter(reason for *_, reason in drawn)
    most = len(drawn) / 2 if sight.nested or sight.pictures else len(drawn) - 1
    hidden: set[int] = set()
    by_direction: dict[int, list[Letter]] = {}
    for angle, letter, owner, reason in drawn:
        if reason and reasons[reason] <= most:
            hidden.add(owner)
        else:
            by_direction.setdefault(angle, []).append(letter)
    groups = sorted(by_direction.items(), key=lambda item: -len(item[1]))
    return groups, len(hidden)


class _Sight:
    """Which letters of a page can be seen, by the objects that are drawn before and after them."""

    def __init__(self, page: pdfium.PdfPage) -> None:
        left, bottom, right, top = page.get_bbox()
        most = _MOST_COVERED * (right - left) * (top - bottom)
        self._order: dict[int, int] = {}  # by the address of an object
        self._grounds: list[tuple[int, _Box]] = []  # what white letters may stand on
        self._covers: list[tuple[int, _Box]] = []
        self.pictures: list[_Box] = []
        self.nested = False  # the places of what is in a form are not known
        self._look = cache(_look)
        for number, thing in enumerate(page.get_objects(max_depth=1)):
            self._order[_address(thing.raw)] = number
            if thing.type == raw.FPDF_PAGEOBJ_IMAGE:
                self.pictures.append(thing.get_bounds())
            elif thing.type in _UNKNOWN_PLACES:
                self.nested = True
            elif (
                thing.type == raw.FPDF_PAGEOBJ_PATH
                and number < _MOST_DRAWINGS
                and _is_filled(thing.raw)
            ):
                box = thing.get_bounds()
                self._grounds.append((number, box))
                is_box = raw.FPDFPath_CountSegments(thing.raw) <= _CORNERS
                area = (box[2] - box[0]) * (box[3] - box[1])
                if is_box and area < most and not raw.FPDFPageObj_HasTransparency(thing.raw):
                    self._covers.append((number, box))

    def hides(self, angle: int, letter: Letter, owner: int) -> str:
        """Return why a letter of the object at an address is invisible; "" if it is visible."""
        if angle or not owner:
            return ""
        invisible, white = self._look(owner)
        x, y = (letter.left + letter.right) / 2, letter.base + _MIDDLE * letter.size
        on_picture = any(_holds(box, x, y) for box in self.pictures)
        if letter.size <= _TINY or (invisible and not on_picture):
            return "colour" if invisible else "size"
        at = self._order.get(owner)
        if at is None:
            return ""
        if any(number > at and _holds(box, x, y) for number, box in self._covers):
            return "covered"
        on_ground = any(number < at and _holds(box, x, y) for number, box in self._grounds)
        return "white" if white and not (on_picture or on_ground or self.nested) else ""


def _look(owner: int) -> tuple[bool, bool]:
    """Return whether a text is printed in no colour, and whether in white."""
    text = ctypes.cast(owner, raw.FPDF_PAGEOBJECT)
    colour = [ctypes.c_uint() for _ in range(4)]
    raw.FPDFPageObj_GetFillColor(text, *map(ctypes.byref, colour))
    *parts, opacity = (part.value for part in colour)
    mode = raw.FPDFTextObj_GetTextRenderMode(text)
    fills = mode in _FILLING
    return mode in _INVISIBLE or (fills and not opacity), fills and min(parts) >= _WHITE


def _address(handle: Any) -> int:
    return ctypes.cast(handle, ctypes.c_void_p).value or 0


def _is_filled(path: Any) -> bool:
    mode, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(path, ctypes.byref(mode), ctypes.byref(stroke))
    return bool(mode.value != raw.FPDF_FILLMODE_NONE)


def _holds(box: _Box, x: float, y: float) -> bool:
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _drawn(
    textpage: pdfium.PdfTextPage, bounds: tuple[float, float, float, float]
) -> Iterator[tuple[int, Letter, int]]:
    """Yield the letters with their directions in degrees, and the addresses of their objects."""
    page = textpage.raw
    x, y = ctypes.c_double(), ctypes.c_double()
    matrix, box = raw.FS_MATRIX(), raw.FS_RECTF()
    xs, ys, matrices, boxes = map(ctypes.byref, (x, y, matrix, box))
    last: tuple[float, ...] = ()
    angle, scale, mirrored = 0, 1.0, False
    bold: dict[int, bool] = {}  # by object, all letters of which have one font
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
            ends = (_seen_from(angle, *corner)[0] for corner in ((left, bottom), (right, top)))
            left, right = sorted(ends)
            base = _seen_from(angle, x.value, base)[1]
        if mirrored:
            base = -base
        size = abs(raw.FPDFText_GetFontSize(page, index) * scale) or 1.0
        owner = _address(raw.FPDFText_GetTextObject(page, index))
        if owner not in bold:
            bold[owner] = _is_bold(page, index)
        yield angle, Letter(_character(code), left, right, base, size, bold[owner]), owner


def _is_bold(page: Any, index: int) -> bool:
    """Return whether the font of a letter is bold by its name, because weights are often wrong."""
    name, flags = ctypes.create_string_buffer(_LONGEST_NAME), ctypes.c_int()
    raw.FPDFText_GetFontInfo(page, index, name, _LONGEST_NAME, ctypes.byref(flags))
    return bool(_BOLD.search(name.value))


def _character(code: int) -> str:
    if code in _HYPHENS:
        return "-"
    if code in _PRIVATE_USE:
        return _OLD_STYLE_DIGITS.get(code, PRIVATE)
    if code == _BULLET:
        return "\N{BULLET}"
    # A digit that is left out would change a number; this one shows that something is there.
    return _LIGATURES.get(code) or (chr(code) if 0 < code < 0x110000 else UNKNOWN)


def _seen_from(angle: int, x: float, y: float) -> tuple[float, float]:
    """Return a place on the page turned so that a line at this angle goes to the right."""
    return {90: (y, -x), 180: (-x, -y), 270: (-y, x)}.get(angle, (x, y))


def annotations_of(page: pdfium.PdfPage) -> Iterator[Any]:
    """Yield what a reader has added to a page, and the fields of its form."""
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        try:
            if annotation:
                yield annotation
        finally:
            raw.FPDFPage_CloseAnnot(annotation)


def marks(page: pdfium.PdfPage) -> Iterator[Rule]:
    """Yield the lines with which a reader has struck out parts of a page."""
    for annotation in annotations_of(page):
        if raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_STRIKEOUT:
            for number in range(raw.FPDFAnnot_CountAttachmentPoints(annotation)):
                quad = raw.FS_QUADPOINTSF()
                if raw.FPDFAnnot_GetAttachmentPoints(annotation, number, quad):
                    xs, ys = (quad.x1, quad.x2, quad.x3, quad.x4), (quad.y1, quad.y4)
                    yield Rule(min(xs), max(xs), sum(ys) / 2)


class _ByHeight:
    """Letters by the height of their feet; ``largest``: the size of the largest."""

    def __init__(self, letters: Sequence[Letter]) -> None:
        self._ordered = sorted(range(len(letters)), key=lambda at: letters[at].base)
        self._bases = [letters[at].base for at in self._ordered]
        self.largest = max((letter.size for letter in letters), default=0.0)

    def near(self, line: Rule, low: float, high: float) -> list[int]:
        """Return which are so far above a line, in parts of the size of the largest."""
        first = bisect_left(self._bases, line.height + low * self.largest)
        return self._ordered[first : bisect_right(self._bases, line.height + high * self.largest)]


def without_struck(letters: Sequence[Letter], lines: Iterable[Rule]) -> list[Letter]:
    """Return the letters of a page that no line goes through from end to end."""
    by_height = _ByHeight(letters)
    gone: set[int] = set()
    for line in lines:
        near = by_height.near(line, -_THROUGH[1], 0)
        crossed = [at for at in near if _crosses(line, letters[at])]
        some = [letters[at] for at in crossed]
        space = _BEYOND_LETTERS * some[0].size if some else 0
        left = min((one.left for one in some), default=math.inf)
        right = max((one.right for one in some), default=-math.inf)
        if left - line.left < space and line.right - right < space:
            gone.update(crossed)
    return [letter for at, letter in enumerate(letters) if at not in gone]


def _crosses(line: Rule, letter: Letter) -> bool:
    middle = (letter.left + letter.right) / 2
    height = (line.height - letter.base) / letter.size
    return line.left < middle < line.right and _THROUGH[0] < height < _THROUGH[1]


def on_one_line(letters: Sequence[Letter], lines: Iterable[Rule]) -> list[Letter]:
    """Return the letters of a page with its fractions as "3/4", in the line that they stand in.

    Text beside a fraction stands at the height of its line. Beside a sum below the last number of
    a column there is none.
    """
    by_height = _ByHeight(letters)
    fractions: dict[int, list[Letter]] = {}  # by the place of their first letter
    gone: set[int] = set()
    for line in lines:
        if line.right - line.left > _LONGEST * by_height.largest:
            continue
        near = by_height.near(line, -_BELOW[1], _ABOVE[1])
        near = [at for at in near if not letters[at].text.isspace()]
        upper = _numbers(letters, near, line, *_ABOVE)
        lower = _numbers(letters, near, line, -_BELOW[1], -_BELOW[0])
        if not upper or not lower or not gone.isdisjoint(upper + lower):
            continue
        around = [letters[at] for at in near]
        before, after = (_beside(around, line, to_the_left=side) for side in (True, False))
        text = before or after
        if text and letters[lower[0]].base < text.base < letters[upper[0]].base:
            over, under = ("".join(letters[at].text for at in some) for some in (upper, lower))
            left, right = (" " if one and one.text.isalnum() else "" for one in (before, after))
            fractions[min(upper + lower)] = _spread(f"{left}{over}/{under}{right}", line, text)
            gone.update(upper + lower)
    return [
        letter
        for at, one in enumerate(letters)
        for letter in fractions.get(at, [] if at in gone else [one])
    ]


def _numbers(
    letters: Sequence[Letter], near: Iterable[int], line: Rule, lowest: float, highest: float
) -> list[int]:
    """Return the digits above or below a line, none if anything else is there."""
    width = line.right - line.left
    found = [
        at
        for at in near
        if width < _LONGEST * (one := letters[at]).size
        and lowest <= (one.base - line.height) / one.size <= highest
        and line.left - _BEYOND * one.size < one.left
        and one.right < line.right + _BEYOND * one.size
    ]
    digits = all(letters[at].text.isdecimal() for at in found)
    return sorted(found, key=lambda at: letters[at].left) if digits else []


def _beside(letters: Iterable[Letter], line: Rule, to_the_left: bool) -> Letter | None:
    """Return the letter of the text next to a fraction on one side, if there is one."""
    near = []
    for one in letters:
        away = line.left - one.right if to_the_left else one.left - line.right
        low = (line.height - one.base) / one.size
        if _BESIDE[0] <= low <= _BESIDE[1] and -_BEYOND < away / one.size < _APART:
            near.append((away, one))
    return min(near)[1] if near else None


def _spread(text: str, line: Rule, beside: Letter) -> list[Letter]:
    """Return the letters of a text, side by side in the place of a line."""
    step = (line.right - line.left) / len(text)
    lefts = (line.left + at * step for at in range(len(text)))
    return [
        Letter(letter, left, left + step, beside.base, beside.size)
        for letter, left in zip(text, lefts, strict=True)
    ]
