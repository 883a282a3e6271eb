"""Removes what is left of a pronunciation in an introduction: brackets and labels without content.

The sources remove phonetic spelling, icons and sound files, but not what stood around them:
"London (; LUN-dən) is", "Athens (Greek: ) is".
"""

from __future__ import annotations

import re

# Stands where a pronunciation was removed; a character for private use, which no text needs.
REMOVED = "\ue000"

# All of these see single spaces only, and have bounds, so that no text takes long.
_ICON = re.compile(r"[ⓘ🔊]|\((?:listen|help ?· ?info)\)")
_QUOTED = re.compile(f"[\\[/] ?{REMOVED} ?[\\]/]")
_LABEL = re.compile(f"(?<=[(;,])[^();,{REMOVED}]{{0,60}}?(?::|pronounced|pronunciation) ?{REMOVED}")
_SEVERAL = re.compile(f"{REMOVED}(?:[ ;,/·]{{0,4}}(?:(?:or|and|also) )?{REMOVED})+")
_ALONE = re.compile(f" ?\\( ?{REMOVED} ?\\)")
_FIRST = re.compile(f"\\( ?{REMOVED} ?[;,:/]? ?(?:or )?")
_LATER = re.compile(f"[ ;,/]{{0,4}}{REMOVED} ?(?=[;,)])")
_EMPTY = re.compile(r" ?\([ ;,:·/]{0,20}\)")
_OPENED = re.compile(r"\( ?[;,] ?")
_CLOSED = re.compile(r" ?[;,] ?\)")


def without_leftovers(text: str) -> str:
    """Return a text without brackets and labels of pronunciations that were removed.

    Args:
        text: with ``REMOVED`` where one was removed, if that is known. Empty brackets are removed
            anywhere.
    """
    text = _ICON.sub(REMOVED, " ".join(text.split()))
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
