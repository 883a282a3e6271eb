"""Reads PDF page by page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pypdf
from pypdf.errors import DependencyError

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import Document, Unreadable
from retrieval.corpora.folder.running_text import running_text
from retrieval.corpora.passages import Block

_LONGEST_TITLE = 200  # characters
_LARGER = 1.15  # how much larger than most of the page a title is set
# Titles that programs make of the file's name, and names without meaning.
_NO_TITLE = re.compile(
    r"untitled.*|microsoft \w+ - .*|.*\.(?:docx?|pptx?|xlsx?|odt|rtf|pdf|tex|dvi|indd|qxd|p65|fm)",
    re.IGNORECASE,
)
_DAMAGED = "Open it in a PDF viewer and save it again."


def read(path: Path) -> Document:
    """Return the document; pages that cannot be read are listed in it.

    Raises:
        Unreadable: it is not a PDF, is encrypted or damaged, or has no text.
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        if b"%PDF-" not in stream.read(1024):
            raise Unreadable("the file is not a PDF.", "Give it the suffix of its format.")
        try:
            reader = pypdf.PdfReader(stream)
            locked = reader.is_encrypted and not reader.decrypt("")
            pages = [] if locked else list(reader.pages)
        except DependencyError:
            locked = True
        except (OSError, MemoryError):
            raise
        except Exception as error:  # pypdf raises many kinds on damaged files
            raise Unreadable(f"the file is damaged ({_reason(error)}).", _DAMAGED) from error
        if locked:
            raise Unreadable(
                "the file is encrypted.",
                "Save it without protection: qpdf --decrypt IN.pdf OUT.pdf",
            )
        return _document(reader, pages)


def _document(reader: pypdf.PdfReader, pages: Sequence[pypdf.PageObject]) -> Document:
    texts: list[str] = []
    unread: list[tuple[int, str]] = []
    for number, page in enumerate(pages, start=1):
        try:
            texts.append(page.extract_text())
        except MemoryError:
            raise
        except Exception as error:  # as above; the other pages can be read
            texts.append("")
            unread.append((number, _reason(error)))
    if len(unread) == len(pages):
        why = f" ({unread[0][1]})" if unread else ""
        raise Unreadable(f"the file is damaged: no page can be read{why}.", _DAMAGED)
    blocks = [
        Block(paragraph, page=number)
        for number, paragraphs in enumerate(running_text(texts), start=1)
        for paragraph in paragraphs
    ]
    if not blocks:
        raise Unreadable(
            "the file has no text; it seems to be scanned pictures.",
            "Run OCR first, for example: ocrmypdf IN.pdf OUT.pdf",
        )
    return Document(_title(reader, pages), blocks, unread=unread)


def _title(reader: pypdf.PdfReader, pages: Sequence[pypdf.PageObject]) -> str:
    """Return the title of the metadata if it is one, or else the largest line of page one."""
    try:
        title = clean(str(reader.metadata.title or "")) if reader.metadata else ""
        if title and not _NO_TITLE.fullmatch(title):
            return title[:_LONGEST_TITLE]
        return _largest(pages[0])
    except Exception:  # damaged; the file's name will do
        return ""


def _largest(page: pypdf.PageObject) -> str:
    """Return the text in the largest letters of a page, if most of the page is smaller."""
    pieces: list[tuple[float, str]] = []

    def keep(
        text: str, place: list[float], matrix: list[float], _: object, font_size: float
    ) -> None:
        scale = abs(place[3] or place[1]) * abs(matrix[3] or matrix[1])
        pieces.append((round(font_size * scale, 1), text))

    page.extract_text(visitor_text=keep)
    shown = [(size, text) for size, text in pieces if text.strip()]
    if not shown:
        return ""
    letters: dict[float, int] = {}
    for size, text in shown:
        letters[size] = letters.get(size, 0) + len(text)
    largest, usual = max(letters), max(letters, key=lambda size: letters[size])
    title = clean(" ".join(text for size, text in shown if size == largest))
    if largest < _LARGER * usual or len(title) > _LONGEST_TITLE:
        return ""
    return title if sum(map(str.isalpha, title)) > 2 else ""


def _reason(error: Exception) -> str:
    return clean(str(error).partition("\n")[0])[:200] or type(error).__name__
