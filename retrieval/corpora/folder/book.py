"""Reads .epub: its chapters in order, in the sections of their headings."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from lxml import etree

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import FileText, Headings, Unreadable, iso_day
from retrieval.corpora.folder.office import parsed, unpacked
from retrieval.corpora.folder.tree import in_sections, shown

_CONTAINER, _RIGHTS = "META-INF/container.xml", "META-INF/rights.xml"


def read(path: Path) -> FileText:
    """Return the document."""
    with unpacked(path) as archive:
        members = sorted(archive.namelist())
        if _RIGHTS in members:
            raise Unreadable("the file is encrypted.", "Use a copy without protection.")
        package = parsed(archive.read(_CONTAINER)).find(".//{*}rootfile").get("full-path", "")
        root = parsed(archive.read(package))
        sheets = [archive.read(name) for name in members if name.lower().endswith(".css")]
        styles = [sheet.decode("utf-8", "replace") for sheet in sheets]
        names = filter({*members}.__contains__, _chapters(root, posixpath.dirname(package)))
        chapters = [shown(archive.read(name), styles) for name in names]
    title = clean(root.findtext(".//{http://purl.org/dc/elements/1.1/}title") or "")
    day = root.findtext(".//{http://purl.org/dc/elements/1.1/}date") or ""
    headings = Headings(title)
    blocks = [b for chapter in chapters for _, b in in_sections(chapter.pieces, headings)]
    unread = [one for chapter in chapters for one in chapter.unread]
    return FileText(title, blocks, None, unread, saved=iso_day(day))


def _chapters(package: etree._Element, folder: str) -> Iterator[str]:
    """Yield the names of the chapters in the order of reading, without the table of contents."""
    items = {item.get("id"): item for item in package.iterfind(".//{*}manifest/{*}item")}
    for reference in package.iterfind(".//{*}spine/{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is not None and "nav" not in (item.get("properties") or "").split():
            yield posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
