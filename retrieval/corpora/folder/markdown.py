"""Reads Markdown as its readers see it, in the sections of its headings."""

from __future__ import annotations

import re
from pathlib import Path

from markdown_it import MarkdownIt

from retrieval.corpora.folder.document import FileText, Headings
from retrieval.corpora.folder.plain_text import text_of
from retrieval.corpora.folder.tree import shown

_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_NOTE = re.compile(
    r"^\[\^[^\]\s]{1,40}\]:|\[\^[^\]\s]{1,40}\]", re.M
)  # before a note, and its mark
_PICTURE = re.compile(r"<img [^>]*?alt=\"([^\"]*)\"[^>]*>")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n[\w-]+:.*?^(?:---|\.\.\.)[ \t]*$", re.M | re.S)


def read(path: Path) -> FileText:
    """Return the document, without marks, code and tags; its title is the first heading.

    Raises:
        Unreadable, OSError: the file cannot be read.
    """
    text = _NOTE.sub(lambda mark: "" if mark[0].endswith(":") else "<sup>[]</sup>", text_of(path))
    page = _PICTURE.sub(r"\1", _PARSER.render(_FRONT_MATTER.sub("", text)))
    found = shown(f"<div>{page}</div>")
    title = next((piece.text for piece in found.pieces if piece.level), "")
    return FileText(title, list(found.blocks(Headings(title))), unread=found.unread)
