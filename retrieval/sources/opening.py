"""Opens sources by their addresses: the one place that imports every kind.

``address`` cannot do this: the kinds need it themselves, and settings read it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.sources.address import SourceAddress

if TYPE_CHECKING:
    from retrieval.sources.interface import Source

# Of ESOTERIC_HOME: the file that articles are kept in.
KEPT = "articles.db"


class Sources:
    """The sources that a process has opened, each once."""

    def __init__(self, home: Path, contact: str = "") -> None:
        """``home``: where articles are kept. ``contact``: whom a wiki may write to."""
        self._home, self._contact = home, contact
        self._opened: dict[SourceAddress, Source] = {}

    def open(self, address: SourceAddress) -> Source:
        """Return a source; a wiki is asked nothing yet, and what a kind needs is imported now.

        Raises:
            BadSource: its file cannot be read, a library is missing, or a wiki of Wikimedia has no
                contact to write to.
        """
        if address not in self._opened:
            self._opened[address] = self._made(address)
        return self._opened[address]

    def _made(self, address: SourceAddress) -> Source:
        if address.kind == "zim-search":
            from retrieval.sources.zim_search import ZimSearch

            return ZimSearch(address)
        from retrieval.sources.kept import KeptArticles
        from retrieval.sources.mediawiki import MediaWiki

        return MediaWiki(address, KeptArticles(self._home / KEPT), self._contact)
