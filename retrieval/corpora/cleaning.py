"""Cleans the texts of all corpora, before anything else reads them.

From introductions of encyclopedias it removes what is not their text: pronunciation, editors'
marks, coordinates. Some sources remove phonetic spelling, icons and sound files, but not what stood
around them: "London (; LUN-dən) is", "Athens (Greek: ) is". Others remove nothing.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import urlsplit

from retrieval.text.word_forms import nfc

_SPACE = re.compile(r"\s+")
_WEB_ADDRESS = re.compile(r"https?://[^\s<>\"\ud800-\udfff]+")
# Stands where a pronunciation was removed.
REMOVED = "\N{OBJECT REPLACEMENT CHARACTER}"

# All of these see single spaces only, and have bounds, so that no text takes long.
_ICON = re.compile(r"[ⓘ🔊]|\((?:listen|help ?· ?info)\)")
_QUOTED = re.compile(f"[\\[/] ?{REMOVED} ?[\\]/]")
_LABEL = re.compile(f"(?<=[(;,])[^();,{REMOVED}]{{0,60}}?(?::|pronounced|pronunciation) ?{REMOVED}")
_SEVERAL = re.compile(f"{REMOVED}(?:[ ;,/·]{{0,4}}(?:(?:or|and|also) )?{REMOVED})+")
_ALONE = re.compile(f" ?\\( ?{REMOVED} ?\\)")
_FIRST = re.compile(f"\\( ?{REMOVED} ?[;,:/]? ?(?:or )?")
_LATER = re.compile(f"[ ;,/]{{0,4}}{REMOVED} ?(?=[;,)])")
# Not "()" right after a word, which is a function: "printf()".
_EMPTY = re.compile(r"(?: |^)\([ ;,:·/]{0,20}\)|\([ ;,:·/]{1,20}\)")
# Letters that only phonetic spelling has; without spaces it may be spelled with these only.
_PHONETIC = re.compile(
    "[\N{MODIFIER LETTER VERTICAL LINE}\N{MODIFIER LETTER LOW VERTICAL LINE}"
    "\N{MODIFIER LETTER TRIANGULAR COLON}\N{COMBINING TILDE}"
    "əɪʊɛɔʃʒŋɑʌɒɜɹɾʁɲɥɐɨʉɯɤʔɣɸɡʎɕʑʂʐɬɫʋɴʀɶɵɘɞɟ]|^.\\w{0,8}[æðθ]\\w{0,8}.$"
)
_SPELLED = re.compile(r"/[^/()\[\]]{1,60}/|\[[^/()\[\]]{1,60}\]")
# "LUN-dən", where phonetic spelling stands or stood before it. Elsewhere only if it has a schwa:
# "(non-EU)" is text.
_SYLLABLE = "(?:[A-Z]{2,12}|[a-zə]{1,12})"
_SYLLABLES = re.compile(
    rf"(?:(?<=\(; )|(?<={REMOVED} )|(?<=\()(?=[A-Za-z-]{{0,30}}ə))"
    rf"(?=[a-zə-]{{0,40}}[A-Z]{{2}}){_SYLLABLE}(?:-{_SYLLABLE}){{0,8}}(?=[;,)])"
)
_MARK = re.compile(
    r" ?\[(?:[a-z][a-z -]{0,40} needed|(?:[a-z][a-z -]{0,30}\?|dubious|disputed|neutrality is"
    r" disputed)(?: [-–] discuss)?|failed verification|not verified in body|update|vague"  # noqa: RUF001
    r"|specify|quantify|weasel words|excessive citations|dead link|permanent dead link)\]"
)
_DEGREES = r"\d[\d.]{0,9}°(?:\d[\d.]{0,9}[′'])?(?:\d[\d.]{0,9}[″\"])?"  # noqa: RUF001
_COORDINATES = re.compile(
    rf"^Coordinates: ?{_DEGREES}[NS] {_DEGREES}[EW]"
    rf"(?: ?/ ?{_DEGREES}[NS] {_DEGREES}[EW])?(?: ?/ ?-?[\d.]{{1,12}}; -?[\d.]{{1,12}})? ?"
)
_OPENED = re.compile(r"\( ?[;,] ?")
_CLOSED = re.compile(r" ?[;,] ?\)")


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


def reason_of(error: Exception) -> str:
    """Return what the first line of a library's error says, or its kind if it says nothing."""
    return clean(str(error).strip().partition("\n")[0])[:200].rstrip(".") or type(error).__name__


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


def without_pronunciations(text: str) -> str:
    """Return a text without brackets and labels of pronunciations that were removed.

    Args:
        text: with ``REMOVED`` where one was removed, if that is known. Empty brackets are removed
            anywhere.
    """
    text = " ".join(text.split())
    if text.startswith("Coordinates:"):
        text = _COORDINATES.sub("", text.replace("\ufeff", ""))
    if "[" in text:
        text = _MARK.sub("", text)
    text = _ICON.sub(REMOVED, _SPELLED.sub(_spelled, text))
    if "(" in text:
        text = _SYLLABLES.sub(REMOVED, text)
    if REMOVED in text:
        text = _QUOTED.sub(REMOVED, text)
        text = _SEVERAL.sub(REMOVED, text)
        text = _LABEL.sub(REMOVED, text)
        text = _SEVERAL.sub(REMOVED, text)
        text = _ALONE.sub("", text)
        text = _FIRST.sub("(", text)
        text = _LATER.sub("", text).replace(f" {REMOVED}", "").replace(REMOVED, "")
    if "(" in text:
        text = _EMPTY.sub("", _CLOSED.sub(")", _OPENED.sub("(", text)))
    return text


def _spelled(found: re.Match[str]) -> str:
    return REMOVED if _PHONETIC.search(found[0]) else found[0]
