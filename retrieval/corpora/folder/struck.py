"""Finds the letters of a PDF that are struck out: by a line that is drawn, or a reader's mark."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from retrieval.corpora.folder.letters import Letter
from retrieval.corpora.folder.rules import Rule

# These are parts of the size of the letters.
_ACROSS = 0.12, 0.5  # how high above its foot a line goes through a letter
_BEYOND = 0.5  # how far it may go beyond them; the lines of a chart go further


def marks(page: pdfium.PdfPage) -> Iterator[Rule]:
    """Yield the lines with which a reader has struck out parts of a page."""
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        try:
            if raw.FPDFAnnot_GetSubtype(annotation) != raw.FPDF_ANNOT_STRIKEOUT:
                continue
            for number in range(raw.FPDFAnnot_CountAttachmentPoints(annotation)):
                quad = raw.FS_QUADPOINTSF()
                if raw.FPDFAnnot_GetAttachmentPoints(annotation, number, quad):
                    xs, ys = (quad.x1, quad.x2, quad.x3, quad.x4), (quad.y1, quad.y4)
                    yield Rule(min(xs), max(xs), sum(ys) / 2)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)


def without_struck(letters: Sequence[Letter], lines: Sequence[Rule]) -> list[Letter]:
    """Return the letters of a page that no line goes through from end to end."""
    ordered = sorted(range(len(letters)), key=lambda at: letters[at].base)
    bases = [letters[at].base for at in ordered]
    largest = max((letter.size for letter in letters), default=0)
    gone: set[int] = set()
    for line in lines:
        first = bisect_left(bases, line.height - _ACROSS[1] * largest)
        near = ordered[first : bisect_right(bases, line.height)]
        crossed = [at for at in near if _crosses(line, letters[at])]
        if not crossed:
            continue
        some = [letters[at] for at in crossed]
        space = _BEYOND * some[0].size
        left, right = min(one.left for one in some), max(one.right for one in some)
        if left - line.left < space and line.right - right < space:
            gone.update(crossed)
    return [letter for at, letter in enumerate(letters) if at not in gone]


def _crosses(line: Rule, letter: Letter) -> bool:
    middle = (letter.left + letter.right) / 2
    height = (line.height - letter.base) / letter.size
    return line.left < middle < line.right and _ACROSS[0] < height < _ACROSS[1]
