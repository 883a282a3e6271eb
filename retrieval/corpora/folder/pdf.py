"""Reads PDF page by page, with what was filled into its form and notes typed onto a page."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby, zip_longest
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from retrieval.corpora.boxes import box
from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import EMPTY_BOX, TICKED_BOX
from retrieval.corpora.folder import ocr
from retrieval.corpora.folder.document import (
    NAMED,
    FileText,
    Headings,
    Unread,
    Unreadable,
    hidden_text,
)
from retrieval.corpora.folder.layout import layout
from retrieval.corpora.folder.letters import (
    Rule,
    letters,
    marks,
    on_one_line,
    rules,
    without_struck,
)
from retrieval.corpora.folder.running_text import PageText, running_text, without_running_heads
from retrieval.corpora.folder.segments import Segment, rows, segments
from retrieval.corpora.passages import Block
from retrieval.words import BY_OCR

_HIDDEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_TEXT_FIELDS = {
    raw.FPDF_FORMFIELD_TEXTFIELD,
    raw.FPDF_FORMFIELD_COMBOBOX,
    raw.FPDF_FORMFIELD_LISTBOX,
}
_CHECKED_FIELDS = {raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON}
_BOXES = (EMPTY_BOX, TICKED_BOX)
_DAY = re.compile(r"D:(\d{4})(0[1-9]|1[0-2])([0-2]\d|3[01])")
_BASE = 0.3  # where the line of a field stands, as a part of its height
_LARGEST = 11.0  # points of the letters in a field
_LONGEST_TITLE = 200  # characters
_LARGER = 1.15  # how much larger than most of the page a title is set
# Titles that programs make of the file's name, and names without meaning.
_NO_TITLE = re.compile(
    r"untitled.*|microsoft \w+ - .*|.*\.(?:docx?|pptx?|xlsx?|odt|rtf|pdf|tex|dvi|indd|qxd|p65|fm)",
    re.IGNORECASE,
)
_DAMAGED = "Open it in a PDF viewer and save it again."
_NAME_THEM = "If they matter, write them into a .csv file with the names of their columns."
_SHOWN = 80  # characters of a line that a message shows
_SCANNED = "it seems to be a scanned picture, and OCR is not installed."
_OCR_FIRST = "Run OCR first: ocrmypdf IN.pdf OUT.pdf"
OCR_SECONDS = 200  # for the scanned pages of a file
_FORMS = (raw.FORMTYPE_ACRO_FORM, raw.FORMTYPE_XFA_FOREGROUND)


def with_fields(
    document: pdfium.PdfDocument, page: pdfium.PdfPage, found: Sequence[Segment]
) -> list[Segment]:
    """Return the segments of a page and those of its fields, each on the line of its label.

    A field without a label at its left is given with its name: "Sum: 5 million".
    """
    fields = [_on_the_line(name, field, found) for name, field in _filled(document, page)]
    return [*found, *fields]


def _filled(document: pdfium.PdfDocument, page: pdfium.PdfPage) -> Iterator[tuple[str, Segment]]:
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        try:
            if annotation and not raw.FPDFAnnot_GetFlags(annotation) & _HIDDEN:
                name, value = _said(document, annotation)
                box = raw.FS_RECTF()
                if value and raw.FPDFAnnot_GetRect(annotation, box):
                    left, right = sorted((box.left, box.right))
                    bottom, top = sorted((box.bottom, box.top))
                    base = bottom + _BASE * (top - bottom)
                    size = min(_LARGEST, max(1.0, top - bottom))
                    yield name, Segment(value, left, right, base, size)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)


def _said(document: pdfium.PdfDocument, annotation: raw.FPDF_ANNOTATION) -> tuple[str, str]:
    """Return the name of an annotation and its text, "" if it says nothing."""
    kind = raw.FPDFAnnot_GetSubtype(annotation)
    if kind == raw.FPDF_ANNOT_FREETEXT:
        return "", _string(lambda *to: raw.FPDFAnnot_GetStringValue(annotation, b"Contents", *to))
    if kind != raw.FPDF_ANNOT_WIDGET or not document.formenv:
        return "", ""
    form = document.formenv

    def read(get: Callable[..., int]) -> str:
        return _string(lambda *to: get(form, annotation, *to))

    name = read(raw.FPDFAnnot_GetFormFieldAlternateName) or read(raw.FPDFAnnot_GetFormFieldName)
    field = raw.FPDFAnnot_GetFormFieldType(form, annotation)
    if field in _TEXT_FIELDS:
        return name, read(raw.FPDFAnnot_GetFormFieldValue)
    if field in _CHECKED_FIELDS:
        return name, box(bool(raw.FPDFAnnot_IsChecked(form, annotation)))
    return name, ""


def _string(get: Callable[..., int]) -> str:
    size = get(None, 0)
    units = (raw.FPDF_WCHAR * (size // 2 + 1))()
    get(units, size)
    return " ".join(bytes(units)[:size].decode("utf-16-le", "replace").strip("\0").split())


def _on_the_line(name: str, field: Segment, found: Sequence[Segment]) -> Segment:
    """Return a field on the line at its left, of a box at either side, or with its name."""
    line = [one for one in found if abs(one.base - field.base) < field.size]
    before = [one for one in line if one.right <= field.left + 1]
    after = [one for one in line if one.left >= field.right - 1 and field.text in _BOXES]
    if before or after:
        nearest_before = max(before, key=lambda one: one.right, default=None)
        label = min(after, key=lambda one: one.left, default=nearest_before)
        assert label
        return replace(field, base=label.base, size=label.size)
    named = f"{name}: {field.text}" if any(map(str.isalpha, name)) else field.text
    return replace(field, text=named)


def read(path: Path, password: str | None = None) -> FileText:
    """Return the document; pages that cannot be read are listed in it.

    Pages without text are read by OCR where it is installed, and say so in their section.

    Raises:
        Unreadable: it is not a PDF, needs another password, is damaged, or has no text.
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        if b"%PDF-" not in stream.read(1024):
            raise Unreadable("the file is not a PDF.", "Give it the suffix of its format.")
    with _opened(path, password) as document:
        if document.get_formtype() in _FORMS:
            document.init_forms()
        return _document(document)


@contextmanager
def _opened(path: Path, password: str | None) -> Iterator[pdfium.PdfDocument]:
    try:
        document = pdfium.PdfDocument(path, password=password)
    except pdfium.PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            raise Unreadable(
                "the file is encrypted with another password."
                if password
                else "the file is encrypted with a password.",
                "Give its password: --password WORD",
            ) from error
        raise Unreadable(f"the file is damaged ({_reason(error)}).", _DAMAGED) from error
    try:
        yield document
    finally:
        document.close()


@dataclass(frozen=True, slots=True)
class _Page:
    """A page: the segments of every direction, the main one first; or why it is not read.

    ``rules``: the lines drawn on it, if the main direction is that of the page.

    ``scanned``: OCR has read it. ``hidden``: how many of its texts are invisible.
    """

    parts: list[list[Segment]] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    scanned: bool = False
    unread: Unreadable | None = None
    hidden: int = 0


def _document(document: pdfium.PdfDocument) -> FileText:
    until = time.monotonic() + OCR_SECONDS
    pages = [_page(document, number, until) for number in range(len(document))]
    # Of each page the text of every direction.
    directions = zip_longest(*(page.parts or [[]] for page in pages), fillvalue=[])
    texts = zip(*map(without_running_heads, directions), strict=True)
    laid_out = [
        [
            item
            for number, part in enumerate(parts)
            for item in layout(part, () if number else page.rules)
        ]
        for page, parts in zip(pages, texts, strict=True)
    ]
    read = running_text(laid_out)
    title = _title(document, pages[0].parts)
    headings = Headings(title)
    blocks: list[Block] = []
    for number, (page, text) in enumerate(zip(pages, read, strict=True), start=1):
        for paragraph, size, kind in text.paragraphs:
            if size:
                headings.add(-round(size), paragraph)
            else:
                section = (BY_OCR,) if page.scanned else headings.section
                blocks.append(Block(paragraph, section, number, kind=kind))
    if not blocks:
        raise _nothing_read(pages)
    hidden = [
        one
        for number, page in enumerate(pages, start=1)
        for one in hidden_text(f"page {number}", page.hidden)
    ]
    unread = [*_unread(pages), *hidden, *_dropped(read)]
    return FileText(title, blocks, None, unread, saved=_saved_on(document))


def _saved_on(document: pdfium.PdfDocument) -> str:
    """Return the day that the metadata of a file give, ISO 8601; "" if they give none."""
    found = _DAY.match(document.get_metadata_value("ModDate") or "")
    found = found or _DAY.match(document.get_metadata_value("CreationDate") or "")
    return "-".join(found.groups()) if found else ""


def _page(document: pdfium.PdfDocument, number: int, until: float) -> _Page:
    try:
        page = document[number]
    except pdfium.PdfiumError as error:  # the other pages can be read
        return _Page(unread=Unreadable(f"it cannot be read ({_reason(error)}).", _DAMAGED))
    try:
        printed, hidden = letters(page)
        upright = bool(printed) and printed[0][0] == 0
        drawn, thin = rules(page) if upright else ([], [])
        if upright and (lines := [*thin, *marks(page)]):
            printed[0] = 0, on_one_line(without_struck(printed[0][1], lines), thin)
        main, *others = [segments(group) for _, group in printed] or [[]]
        parts = [part for part in (with_fields(document, page, main), *others) if part]
        if not ocr.is_scanned(page, (one for part in parts for one in part)):
            return _Page(parts, drawn, hidden=hidden)
        if not ocr.installed():
            return _Page(parts, unread=Unreadable(_SCANNED, ocr.INSTALL))
        if time.monotonic() > until:
            message = f"OCR of the pages before took more than {OCR_SECONDS} seconds."
            return _Page(parts, unread=Unreadable(message, _OCR_FIRST))
        return _Page([ocr.read(page)], scanned=True)
    except (pdfium.PdfiumError, OSError) as error:
        return _Page(unread=Unreadable(f"it cannot be read ({_reason(error)}).", _DAMAGED))
    except ocr.OcrFailed as error:
        return _Page(unread=Unreadable(f"it is a picture; {error}.", _OCR_FIRST))
    finally:
        page.close()


def _nothing_read(pages: Sequence[_Page]) -> Unreadable:
    """Return why a document has no sentence."""
    unread = [page.unread for page in pages if page.unread]
    if any(page.parts and not page.scanned for page in pages):
        return Unreadable(
            "the file has no sentence, only fragments of text; it may be an empty form.",
            "Fill the form in, or write the text into a .txt file.",
        )
    if all(why.message == _SCANNED for why in unread):
        scanned = "; it seems to be scanned pictures, and OCR is not installed" if unread else ""
        hint = ocr.INSTALL if unread else _OCR_FIRST
        return Unreadable(f"the file has no text{scanned}.", hint)
    return Unreadable(f"no page can be read; of the first, {unread[0].message}", unread[0].hint)


def _unread(pages: Sequence[_Page]) -> list[Unread]:
    """Return which pages are not read; those that follow each other for one reason are one."""
    numbered = enumerate(pages, start=1)
    found = []
    for message, group in groupby(
        numbered, key=lambda item: item[1].unread and item[1].unread.message
    ):
        numbers = [number for number, _ in group]
        first, last = numbers[0], numbers[-1]
        why = pages[first - 1].unread
        if message and why:
            where = f"page {first}" if first == last else f"pages {first} to {last}"
            found.append(Unread(where, message, why.hint))
    return found


def _dropped(pages: Sequence[PageText]) -> list[Unread]:
    """Return what is said of lines and rows that are not read: one message, or none."""
    numbers = [str(number) for number, page in enumerate(pages, start=1) if page.dropped]
    if not numbers:
        return []
    lines = [line for page in pages for line in page.dropped]
    where = ", ".join(numbers[:NAMED]) + (", …" if len(numbers) > NAMED else "")
    message = (
        f"not read: {len(lines)} short lines or rows with numbers that are no sentences;"
        f' the first is "{lines[0][:_SHOWN]}".'
    )
    return [Unread(f"{'pages' if numbers[1:] else 'page'} {where}", message, _NAME_THEM)]


def _title(document: pdfium.PdfDocument, first: Sequence[Sequence[Segment]]) -> str:
    """Return the title of the metadata if it is one, or else the largest line of page one."""
    title = clean(document.get_metadata_value("Title"))
    if title and not _NO_TITLE.fullmatch(title):
        return title[:_LONGEST_TITLE]
    return _largest(first[0]) if first else ""


def _largest(page: Sequence[Segment]) -> str:
    """Return the text in the largest letters of a page, if most of the page is smaller."""
    letters_of: dict[float, int] = {}
    for one in page:
        size = round(one.size, 1)
        letters_of[size] = letters_of.get(size, 0) + len(one.text)
    largest, usual = max(letters_of), max(letters_of, key=lambda size: letters_of[size])
    lines = rows(one for one in page if round(one.size, 1) == largest)
    title = clean(" ".join(one.text for line in lines for one in line))
    if largest < _LARGER * usual or len(title) > _LONGEST_TITLE:
        return ""
    return title if sum(map(str.isalpha, title)) > 2 else ""


def _reason(error: Exception) -> str:
    return clean(str(error).partition("\n")[0])[:200] or type(error).__name__
