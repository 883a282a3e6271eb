"""What every corpus does to a text before anything else sees it."""

from __future__ import annotations

import re
import unicodedata

_SPACE = re.compile(r"\s+")


def clean(text: str) -> str:
    """Return the text in NFC, white space folded, without control and invisible characters.

    Index and query share this one Unicode form. Lone surrogates, which UTF-8
    cannot hold, go too.
    """
    if text.isprintable():  # almost every text; the only white space is then the space
        return " ".join(unicodedata.normalize("NFC", text).split())
    # White space is kept first, for some of it counts as control characters.
    kept = (
        c
        for c in text
        if c.isspace() or unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Co", "Cn"}
    )
    return _SPACE.sub(" ", unicodedata.normalize("NFC", "".join(kept))).strip()


def web_address(value: object) -> str | None:
    """Return an http or https address as it is, anything else as ``None``: it is not a link.

    No lone surrogates either: JSON readers refuse a result that holds one.
    """
    if isinstance(value, str) and re.match(r"https?://[^\s<>\"\ud800-\udfff]+$", value):
        return value
    return None
