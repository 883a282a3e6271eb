"""Undoes the spelling of FEVER's pages: Penn Treebank tokens, and titles made for file names.

Page ids and sentence ids stay as in FEVER; only texts that are shown and matched are changed.
"""

from __future__ import annotations

import re

from retrieval.normal_form import nfc

_BRACKETS = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "-COLON-": ":",
    "-SLASH-": "/",
}
_BRACKET = re.compile("|".join(_BRACKETS))
_OPENING_QUOTE = re.compile(r"``\s*")
_CLOSING_QUOTE = re.compile(r"\s*''")
_CLITIC = re.compile(r"\s+(n't|'(?:s|re|ve|ll|d|m))\b", re.IGNORECASE)
_PLURAL_POSSESSIVE = re.compile(r"(?<=s)\s+'(?=\s)")
_BEFORE = re.compile(r"(?<!\s)\s+([,.;:?!%)\]}])")
_AFTER = re.compile(r"([(\[{$£€#])\s+")
_DASH = re.compile(r"\s--\s")


def plain_title(page_id: str) -> str:
    """Return a page id as a title in normal spelling.

    ``Savages_-LRB-band-RRB-`` is ``Savages (band)``.
    """
    return nfc(_unbracketed(page_id).replace("_", " ")).strip()


def plain_text(tokens: str) -> str:
    """Return a tokenised sentence in normal spelling, in NFC.

    ``He did n't say `` no '' -LRB- twice -RRB- .`` is ``He didn't say "no" (twice).``
    """
    text = _unbracketed(tokens)
    # Searching a character is much faster than a pattern.
    if "`" in text:
        text = _OPENING_QUOTE.sub('"', text)
    if "'" in text:
        text = _CLOSING_QUOTE.sub('"', text)
        text = _CLITIC.sub(r"\1", text)
        text = _PLURAL_POSSESSIVE.sub("'", text)
    if "--" in text:
        text = _DASH.sub(" – ", text)  # noqa: RUF001 - the dash that is meant
    text = _BEFORE.sub(r"\1", text)
    text = _AFTER.sub(r"\1", text)
    return nfc(" ".join(text.split()))


def _unbracketed(text: str) -> str:
    return _BRACKET.sub(lambda match: _BRACKETS[match[0]], text) if "-" in text else text
