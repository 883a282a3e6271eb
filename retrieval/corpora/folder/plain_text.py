"""Reads text files; a blank line ends a paragraph, which may be a heading."""

from __future__ import annotations

import re
from pathlib import Path

from retrieval.corpora.cleaning import clean
from retrieval.corpora.decoding import decoded, is_binary
from retrieval.corpora.folder.document import FileText, Unreadable
from retrieval.corpora.passages import may_be_heading, paragraphs, sections, without_edit
from retrieval.corpora.superscripts import unmarked

_NEWLINE = re.compile(r"\r\n?")


def text_of(path: Path) -> str:
    """Return the text of a file.

    Raises:
        Unreadable: it is not a text.
        OSError: it cannot be read.
    """
    content = path.read_bytes()
    if is_binary(content):
        raise Unreadable(
            "the file is not a text in UTF-8 or another common encoding.",
            "Save it as a text file in UTF-8.",
        )
    return _NEWLINE.sub("\n", decoded(content))


def read(path: Path) -> FileText:
    """Return the document; its title is its first paragraph, if that looks like a heading.

    Raises:
        Unreadable, OSError: the file cannot be read.
    """
    first, *others = map(unmarked, paragraphs(text_of(path).lstrip()))
    if others and may_be_heading(clean(first)):
        return FileText(without_edit(clean(first)), sections(others))
    return FileText("", sections([first, *others]))
