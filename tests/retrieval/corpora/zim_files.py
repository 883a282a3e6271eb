"""Writes small ZIM files with pages as Kiwix's programs write them."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from libzim.writer import Creator, Hint, Item, StringProvider

METADATA = {"Name": "wikipedia_en_all", "Title": "Wikipedia", "Date": "2025-10-27"}
METADATA |= {"Language": "eng", "Source": "en.wikipedia.org", "Scraper": "mwoffliner 1.16.0"}


class Entry(Item):  # type: ignore[misc]  # libzim has no types for its base class
    """An entry of any type."""

    def __init__(self, path: str, title: str, content: str, kind: str = "text/html") -> None:
        super().__init__()
        self.get_path, self.get_title = (lambda: path), (lambda: title)
        self.get_mimetype = lambda: kind
        self.get_contentprovider = lambda: StringProvider(content)
        self.get_hints = lambda: {Hint.FRONT_ARTICLE: kind == "text/html"}


def write_zim(
    path: Path,
    entries: Iterable[Entry],
    redirects: Iterable[tuple[str, str, str]] = (),
    metadata: Mapping[str, str] = METADATA,
    main: str = "",
    cluster: int = 1 << 20,
    text_index: bool = False,
) -> Path:
    """Write a file; ``redirects``: path, title, path of the target. ``cluster``: its bytes."""
    creator = Creator(path).config_indexing(text_index, "eng").config_nbworkers(1)
    creator.config_clustersize(cluster)
    if main:
        creator.set_mainpath(main)
    with creator:
        for entry in entries:
            creator.add_item(entry)
        for one in redirects:
            creator.add_redirection(*one, {Hint.FRONT_ARTICLE: True})
        for name, value in metadata.items():
            creator.add_metadata(name, value)
    return path


def article(title: str, lead: str) -> Entry:
    """Return an article with this lead, and a section after it."""
    return Entry(title.replace(" ", "_"), title, newer_page(title, lead))


def newer_page(title: str, lead: str) -> str:
    """Return a page with headings in boxes, as files since 2025 have."""
    return (
        f"<html><head><title>{title}</title></head><body>"
        f'<h1 class="firstHeading">{title}</h1><div id="mw-content-text">'
        f'<div class="mw-content-ltr mw-parser-output">{lead}'
        '<div class="mw-heading mw-heading2"><h2>History</h2></div><p>It was built.</p>'
        "</div></div><div>This article is issued from Wikipedia.</div></body></html>"
    )
