"""Reads .epub: its chapters in order, in the sections of their headings."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from lxml import etree

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import FileText, Headings, Unreadable
from retrieval.corpora.folder.tree import shown
from retrieval.corpora.folder.zipped import parsed, unpacked

_CONTAINER = "META-INF/container.xml"
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_RIGHTS = "META-INF/rights.xml"


def read(path: Path) -> FileText:
    """Return the document.

    Raises:
        Unreadable: it is not an .epub, is encrypted or damaged, or is too large.
        OSError: the file cannot be read.
    """
    with unpacked(path) as archive:
        if _RIGHTS in archive.namelist():
            raise Unreadable("the file is encrypted.", "Use a copy without protection.")
        package = parsed(archive.read(_CONTAINER)).find(".//{*}rootfile").get("full-path", "")
        root = parsed(archive.read(package))
        title = clean(root.findtext(".//{http://purl.org/dc/elements/1.1/}title") or "")
        headings = Headings(title)
        day = clean(root.findtext(".//{http://purl.org/dc/elements/1.1/}date") or "")[:10]
        members = set(archive.namelist())
        sheets = [
            archive.read(name).decode("utf-8", "replace")
            for name in sorted(members)
            if name.lower().endswith(".css")
        ]
        chapters = [
            shown(archive.read(name), sheets)
            for name in _chapters(root, posixpath.dirname(package))
            if name in members
        ]
    blocks = [block for chapter in chapters for block in chapter.blocks(headings)]
    unread = [one for chapter in chapters for one in chapter.unread]
    return FileText(title, blocks, None, unread, saved=day if _DAY.fullmatch(day) else "")


def _chapters(package: etree._Element, folder: str) -> Iterator[str]:
    """Yield the names of the chapters in the order of reading, without the table of contents."""
    items = {item.get("id"): item for item in package.iterfind(".//{*}manifest/{*}item")}
    for reference in package.iterfind(".//{*}spine/{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is not None and "nav" not in (item.get("properties") or "").split():
            yield posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
