"""Cleans the texts of all corpora, before anything else reads them."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import urlsplit

from retrieval.normal_form import nfc

_SPACE = re.compile(r"\s+")
_WEB_ADDRESS = re.compile(r"https?://[^\s<>\"\ud800-\udfff]+")


def clean(text: str) -> str:
    """Return the text in NFC, white space folded, without control and invisible characters.

    Index and queries have the same Unicode form. Lone surrogates, which UTF-8 cannot encode, are
    removed too.
    """
    if text.isprintable():  # almost every text; its only white space is the space
        return " ".join(nfc(text).split())
    # White space is replaced first, because some of it counts as control characters.
    kept = (
        c
        for c in text
        if c.isspace() or unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Co", "Cn"}
    )
    return _SPACE.sub(" ", nfc("".join(kept))).strip()


def web_address(value: object) -> str | None:
    """Return an http or https address as it is, ``None`` for anything else.

    An address with a lone surrogate is refused: JSON readers refuse a result that contains one.
    """
    if not isinstance(value, str) or not _WEB_ADDRESS.fullmatch(value):
        return None
    try:
        return value if urlsplit(value).hostname else None
    except ValueError:  # such as http://[
        return None
