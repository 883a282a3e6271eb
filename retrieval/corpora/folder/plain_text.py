"""Reads text files; a blank line ends a paragraph, which may be a heading."""

from __future__ import annotations

from pathlib import Path

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import Document, Unreadable
from retrieval.corpora.headings import may_be_heading, sections
from retrieval.corpora.passages import paragraphs


def text_of(path: Path) -> str:
    """Return the text of a file.

    Raises:
        Unreadable: it is not UTF-8.
        OSError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"byte {error.start + 1} is not UTF-8.", "Save the file as UTF-8."
        ) from error


def read(path: Path) -> Document:
    """Return the document; its title is its first paragraph, if that looks like a heading.

    Raises:
        Unreadable, OSError: the file cannot be read.
    """
    first, *others = paragraphs(text_of(path).lstrip())
    if others and may_be_heading(clean(first)):
        return Document(first, sections(others))
    return Document("", sections([first, *others]))
