"""Decides which addresses of documents may become links."""

from __future__ import annotations

from urllib.parse import urlsplit


def safe_url(url: str | None) -> str | None:
    """Return the address if a page may link to it, else ``None``.

    A corpus may be hostile: ``javascript:`` and similar addresses must not become links.
    """
    if url is None or any(ord(character) <= 32 for character in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def is_wikipedia(site: str) -> bool:
    """Return whether the host of an address is one of Wikipedia's."""
    return site == "wikipedia.org" or site.endswith(".wikipedia.org")
