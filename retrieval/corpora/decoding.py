"""Decodes the bytes of a file as browsers do, where nothing better is known."""

from __future__ import annotations

import codecs
import re

# A mark of UTF-32 begins with one of UTF-16.
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
# Bytes that Windows-1252 gives no character are control characters, as in browsers.
_WINDOWS = str.maketrans(
    {byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(0x80, 0xA0)}
)
_DECLARED = re.compile(
    rb"<\?xml[^>]{0,100}encoding\s*=\s*[\"']([\w.:-]{1,40})"
    rb"|<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})",
    re.IGNORECASE,
)
# Python's names of encodings that pages declare, without "ascii", and what is known to be wrong
# where they are looked at: UTF-8, and UTF-16, in which a page could not be searched for it.
_OF_TEXTS = re.compile(
    r"(?!cp1252)cp\d+|iso8859-(?!1$)\d+|koi8-[rut]|mac-\w+|tis-620|gb\w+|big5\w*|euc_\w+"
    r"|shift_jis\w*|iso2022_\w+"
)
_LOOKED_AT = 4096  # bytes of a page in which its encoding is declared
_CONTROLS = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")
_CHARACTER = re.compile("[^\x00-\x7f]")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_MOST_BEYOND = 0.25  # part of the bytes of a text in Windows-1252, with much to spare


def decoded(content: bytes, declared: str | None = None) -> str:
    """Return the text of a file without the mark of its encoding at its beginning.

    A mark decides. Without one the text is UTF-16 if every other byte is zero; or else UTF-8 if
    most of it can be, because hardly any text in another encoding looks like that; or else what is
    ``declared``, as the file says it; or else Windows-1252, which "iso-8859-1" stands for too.
    Bytes that have no character become U+FFFD.
    """
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace")
    if wide := _utf_16_without_mark(content):
        return content.decode(wide, "replace")
    text = content.decode("utf-8", "replace")
    if _is_utf_8(text):
        return text
    if name := _codec(declared):
        return content.decode(name, "replace")
    return content.decode("latin-1").translate(_WINDOWS)


def in_utf_8(part: bytes) -> bytes:
    """Return whole characters of a text without a mark in UTF-8, as ``decoded`` reads them.

    Text in UTF-8 is unchanged, with the bytes that are damaged, and so is what is no text. So are
    single lines in UTF-8 of a part that is not.
    """
    if _is_utf_8(part.decode("utf-8", "replace")) or is_binary(part):
        return part
    return b"".join(_line_in_utf_8(line) for line in part.splitlines(keepends=True))


def encoding_of_page(content: bytes) -> str | None:
    """Return the encoding that an HTML page declares, as it is written there."""
    found = _DECLARED.search(content[:_LOOKED_AT])
    return (found[1] or found[2]).decode("ascii", "ignore") if found else None


def is_binary(content: bytes) -> bool:
    """Return whether bytes are no text that ``decoded`` can read.

    They are not if they have control characters, or are so seldom ASCII that they are a text in
    another encoding, which would be read as other letters.
    """
    if any(map(content.startswith, _MARKS)) or _utf_16_without_mark(content):
        return False
    if not _is_utf_8(content.decode("utf-8", "replace")):
        beyond = len(_BEYOND_ASCII.findall(content))
        return bool(_CONTROLS.search(content)) or beyond > max(8, _MOST_BEYOND * len(content))
    return b"\0" in content


def utf_16_of(start: bytes) -> str | None:
    """Return which UTF-16 a text is that begins so, with a mark or without; ``None`` if none."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return _utf_16_without_mark(start)


def _utf_16_without_mark(content: bytes) -> str | None:
    """Nearly every other byte of a text in a Latin script is zero then, and none of the rest."""
    begin = content[: _LOOKED_AT - _LOOKED_AT % 2]
    for zeros, others, encoding in (
        (begin[1::2], begin[::2], "utf-16-le"),
        (begin[::2], begin[1::2], "utf-16-be"),
    ):
        if len(begin) > 3 and zeros.count(0) > 0.7 * len(zeros) and 0 not in others:
            return encoding
    return None


def _line_in_utf_8(line: bytes) -> bytes:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1").translate(_WINDOWS).encode()
    return line


def _is_utf_8(text: str) -> bool:
    """Return whether a text decoded as UTF-8 is that, but for a few bytes that are damaged."""
    bad = text.count("\ufffd")
    return not bad or len(_CHARACTER.findall(text)) > 2 * bad


def _codec(declared: str | None) -> str | None:
    """Return Python's name of an encoding, ``None`` for Windows-1252 and unknown ones."""
    try:
        name = codecs.lookup(declared or "").name
    except (LookupError, ValueError):  # unknown, or no name at all: with a null character
        return None
    return name if _OF_TEXTS.fullmatch(name) else None
