"""Reads PDF page by page, with what was filled into its form and notes typed onto a page."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, zip_longest
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from retrieval.corpora.boxes import box
from retrieval.corpora.cleaning import clean, reason_of
from retrieval.corpora.corpus import EMPTY_BOX, TICKED_BOX
from retrieval.corpora.folder import ocr
from retrieval.corpora.folder.document import (
    FileText,
    Headings,
    Unread,
    Unreadable,
    first_title,
    hidden_text,
    numbers_of,
)
from retrieval.corpora.folder.layout import layout
from retrieval.corpora.folder.letters import (
    Rule,
    annotations_of,
    letters,
    marks,
    on_one_line,
    rules,
    without_struck,
)
from retrieval.corpora.folder.running_text import PageText, running_text, without_running_heads
from retrieval.corpora.folder.segments import Segment, rows, segments
from retrieval.corpora.passages import Block
from retrieval.words import BY_OCR, counted

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
_DAMAGED = "Open it in a PDF viewer and save it again."
_NAME_THEM = "If they matter, write them into a .csv file with the names of their columns."
_SHOWN = 80  # characters of a line that a message shows
_SCANNED = "it seems to be a scanned picture, and OCR is not installed."
OCR_SECONDS = 200  # for the scanned pages of a file
_FORMS = (raw.FORMTYPE_ACRO_FORM, raw.FORMTYPE_XFA_FOREGROUND)


def _fields(
    document: pdfium.PdfDocument, page: pdfium.PdfPage, found: Sequence[Segment]
) -> Iterator[Segment]:
    """Yield the fields of a page, each on the line of its label, or with its name."""
    for annotation in annotations_of(page):
        if raw.FPDFAnnot_GetFlags(annotation) & _HIDDEN:
            continue
        name, value = _said(document, annotation)
        box = raw.FS_RECTF()
        if value and raw.FPDFAnnot_GetRect(annotation, box):
            left, right = sorted((box.left, box.right))
            bottom, top = sorted((box.bottom, box.top))
            base = bottom + _BASE * (top - bottom)
            size = min(_LARGEST, max(1.0, top - bottom))
            yield _on_the_line(name, Segment(value, left, right, base, size), found)


def _said(document: pdfium.PdfDocument, annotation: raw.FPDF_ANNOTATION) -> tuple[str, str]:
    """Return the name of an annotation and its text, "" if it says nothing."""
    kind = raw.FPDFAnnot_GetSubtype(annotation)
    if kind == raw.FPDF_ANNOT_FREETEXT:
        return "", _string(lambda *to: raw.FPDFAnnot_GetStringValue(annotation, b"Contents", *to))
    form = document.formenv
    if kind != raw.FPDF_ANNOT_WIDGET or not form:
        return "", ""

    def read(get: Callable[..., int]) -> str:
        return _string(lambda *to: get(form, annotation, *to))

    name = read(raw.FPDFAnnot_GetFormFieldAlternateName) or read(raw.FPDFAnnot_GetFormFieldName)
    field = raw.FPDFAnnot_GetFormFieldType(form, annotation)
    if field in _CHECKED_FIELDS:
        return name, box(bool(raw.FPDFAnnot_IsChecked(form, annotation)))
    return name, read(raw.FPDFAnnot_GetFormFieldValue) if field in _TEXT_FIELDS else ""


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
    label = max(before, key=lambda one: one.right, default=None)
    label = min(after, key=lambda one: one.left, default=label)
    if label:
        return replace(field, base=label.base, size=label.size)
    return replace(field, text=f"{name}: {field.text}") if any(map(str.isalpha, name)) else field


def read(path: Path, password: str | None = None) -> FileText:
    """Return the document; pages that cannot be read are listed in it.

    Pages without text are read by OCR where it is installed, and say so in their section.
    """
    with path.open("rb") as stream:
        if b"%PDF-" not in stream.read(1024):
            raise Unreadable("the file is not a PDF.", "Give it the suffix of its format.")
    with closing(_opened(path, password)) as document:
        if document.get_formtype() in _FORMS:
            document.init_forms()
        return _document(document)


def _opened(path: Path, password: str | None) -> pdfium.PdfDocument:
    try:
        try:
            return pdfium.PdfDocument(path)
        except pdfium.PdfiumError as error:  # a file may have no password where others have one
            if not password or error.err_code != raw.FPDF_ERR_PASSWORD:
                raise
            return pdfium.PdfDocument(path, password=password)
    except pdfium.PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            why = f"the file is encrypted with {'another' if password else 'a'} password."
            raise Unreadable(why, "Give its password: --password WORD") from error
        raise Unreadable(f"the file is damaged ({reason_of(error)}).", _DAMAGED) from error


@dataclass(frozen=True, slots=True)
class _Page:
    """A page: the segments of every direction, the main one first; or why it is not read.

    ``rules``: the lines drawn on it, if the main direction is that of the page. ``scanned``: OCR
    has read it. ``hidden``: how many of its texts are invisible.
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
        [layout(part, () if at else page.rules) for at, part in enumerate(parts)]
        for page, parts in zip(pages, texts, strict=True)
    ]
    read = running_text([list(chain.from_iterable(parts)) for parts in laid_out])
    title = _title(document, pages[0].parts)
    headings = Headings(title)
    blocks: list[Block] = []
    hidden: list[Unread] = []
    for number, (page, text) in enumerate(zip(pages, read, strict=True), start=1):
        for paragraph, size, kind in text.paragraphs:
            if size:
                headings.add(-round(size), paragraph)
            else:
                section = (BY_OCR,) if page.scanned else headings.section
                blocks.append(Block(paragraph, section, number, kind=kind))
        hidden += hidden_text(f"page {number}", page.hidden)
    if not blocks:
        raise _nothing_read(pages)
    unread = [*_unread(pages), *hidden, *_dropped(read)]
    said = (document.get_metadata_value(key) or "" for key in ("ModDate", "CreationDate"))
    day = next(("-".join(found.groups()) for found in map(_DAY.match, said) if found), "")
    return FileText(title, blocks, None, unread, saved=day)


def _page(document: pdfium.PdfDocument, number: int, until: float) -> _Page:
    try:
        with closing(document[number]) as page:
            printed, hidden = letters(page)
            upright = bool(printed) and printed[0][0] == 0
            drawn, thin = rules(page) if upright else ([], [])
            if upright and (lines := [*thin, *marks(page)]):
                printed[0] = 0, on_one_line(without_struck(printed[0][1], lines), thin)
            main, *others = [segments(group) for _, group in printed] or [[]]
            main += _fields(document, page, list(main))
            parts = [part for part in (main, *others) if part]
            if not ocr.is_scanned(page, chain.from_iterable(parts)):
                return _Page(parts, drawn, hidden=hidden)
            if not ocr.installed():
                return _Page(parts, unread=Unreadable(_SCANNED, ocr.INSTALL))
            if time.monotonic() > until:
                message = f"OCR of the pages before took more than {OCR_SECONDS} seconds."
                return _Page(parts, unread=Unreadable(message, ocr.FIRST))
            return _Page([ocr.read(page)], scanned=True)
    except (pdfium.PdfiumError, OSError) as error:  # the other pages can be read
        return _Page(unread=Unreadable(f"it cannot be read ({reason_of(error)}).", _DAMAGED))
    except Unreadable as error:
        return _Page(unread=error)


def _nothing_read(pages: Sequence[_Page]) -> Unreadable:
    """Return why a document has no sentence."""
    unread = [page.unread for page in pages if page.unread]
    if any(page.parts and not page.scanned for page in pages):
        return Unreadable(
            "the file has no sentence, only fragments of text; it may be an empty form.",
            "Fill the form in, or write the text into a .txt file.",
        )
    if not unread:
        return Unreadable("the file has no text.", ocr.FIRST)
    return Unreadable(f"no page can be read; of the first, {unread[0].message}", unread[0].hint)


def _unread(pages: Sequence[_Page]) -> Iterator[Unread]:
    """Yield which pages are not read; those that follow each other for one reason are one."""
    numbered = ((number, page.unread) for number, page in enumerate(pages, start=1))
    for message, group in groupby(numbered, key=lambda one: one[1] and one[1].message):
        some = list(group)
        (first, why), (last, _) = some[0], some[-1]
        if message and why:
            where = f"page {first}" if first == last else f"pages {first} to {last}"
            yield Unread(where, message, why.hint)


def _dropped(pages: Sequence[PageText]) -> Iterator[Unread]:
    """Yield what is said of lines and rows that are not read: one message, or none."""
    numbers = [number for number, page in enumerate(pages, start=1) if page.dropped]
    lines = [line for page in pages for line in page.dropped]
    if lines:
        message = (
            f"not read: {counted(len(lines), 'short line')} with numbers and no sentence;"
            f' the first is "{lines[0][:_SHOWN]}".'
        )
        where = f"page{'s' * (len(numbers) > 1)} {numbers_of(numbers)}"
        yield Unread(where, message, _NAME_THEM)


def _title(document: pdfium.PdfDocument, first: Sequence[Sequence[Segment]]) -> str:
    """Return the title of the metadata if it is one, or else the largest line of page one."""
    title = first_title(document.get_metadata_value("Title"))[:_LONGEST_TITLE]
    return title or (_largest(first[0]) if first else "")


def _largest(page: Sequence[Segment]) -> str:
    """Return the text in the largest letters of a page, if most of the page is smaller."""
    letters_of = Counter[float]()
    for one in page:
        letters_of[round(one.size, 1)] += len(one.text)
    largest, usual = max(letters_of), letters_of.most_common(1)[0][0]
    lines = rows(one for one in page if round(one.size, 1) == largest)
    title = clean(" ".join(one.text for line in lines for one in line))
    is_one = largest >= _LARGER * usual and len(title) <= _LONGEST_TITLE
    return title if is_one and sum(map(str.isalpha, title)) > 2 else ""
