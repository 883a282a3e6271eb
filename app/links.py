"""Which addresses of a document may become links."""

from __future__ import annotations

from urllib.parse import urlsplit


def safe_url(url: str | None) -> str | None:
    """Return the address if a page may link to it, else ``None``: it is shown without.

    A corpus is anyone's; ``javascript:`` and the like must not become links.
    """
    if url is None or any(ord(character) <= 32 for character in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def is_wikipedia(url: str | None) -> bool:
    """Tell whether an address is one of Wikipedia's."""
    safe = safe_url(url)
    host = (urlsplit(safe).hostname or "") if safe else ""
    return host == "wikipedia.org" or host.endswith(".wikipedia.org")
