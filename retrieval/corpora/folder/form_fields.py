"""Reads what was filled into the form of a PDF, and notes that are typed onto a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from retrieval.corpora.folder.segments import Segment

_HIDDEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_TEXT_FIELDS = {
    raw.FPDF_FORMFIELD_TEXTFIELD,
    raw.FPDF_FORMFIELD_COMBOBOX,
    raw.FPDF_FORMFIELD_LISTBOX,
}
_CHECKED_FIELDS = {raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON}
_BASE = 0.3  # where the line of a field stands, as a part of its height
_LARGEST = 11.0  # points of the letters in a field


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
    if field in _CHECKED_FIELDS and raw.FPDFAnnot_IsChecked(form, annotation):
        return name, "\N{BALLOT BOX WITH X}"
    return name, ""


def _string(get: Callable[..., int]) -> str:
    size = get(None, 0)
    units = (raw.FPDF_WCHAR * (size // 2 + 1))()
    get(units, size)
    return " ".join(bytes(units)[:size].decode("utf-16-le", "replace").strip("\0").split())


def _on_the_line(name: str, field: Segment, found: Sequence[Segment]) -> Segment:
    """Return a field moved onto the line at its left, or else with its name."""
    height = field.size
    labels = [
        one for one in found if abs(one.base - field.base) < height and one.right <= field.left + 1
    ]
    if labels:
        label = max(labels, key=lambda one: one.right)
        return replace(field, base=label.base, size=label.size)
    named = f"{name}: {field.text}" if any(map(str.isalpha, name)) else field.text
    return replace(field, text=named)
