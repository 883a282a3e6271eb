"""Decodes text files in the encodings that editors and spreadsheets save them in."""

from __future__ import annotations

import codecs

# A mark of UTF-32 begins with one of UTF-16.
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


def decoded(content: bytes) -> str:
    """Return the text of a file without its byte order mark.

    A mark names the encoding. Without one it is UTF-8, or Windows-1252 if it cannot be UTF-8. Bytes
    that have no character become U+FFFD.
    """
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")
