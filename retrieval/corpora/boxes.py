"""Boxes to tick, however a file shows them: ☒ is ticked, and what follows ☐ is not said."""

from __future__ import annotations

import re

from retrieval.corpora.corpus import EMPTY_BOX, TICKED_BOX

_TICKED, _EMPTY = "☑☒■◼🗹✅🗷🗵", "☐□❏❑◻⬜"
_SIGN = re.compile(rf"\s*([{_TICKED}{_EMPTY}])\s*")
# "[x] Sent", only in a line that begins so or has "[ ]": "[1]" and "[X]" may be a reference or a
# name. "(x)" and "( )" only if both are there, or one of them begins the line.
_BRACKETS = re.compile(r"\s*\[([xX✓✔ ]?)\](?=\s|$)\s*")
_ROUND = re.compile(r"\s*\(([xX✓✔•]|\s{0,3})\)(?=\s|$)\s*")
_TICKED_ROUND = re.compile(r"\([xX✓✔•]\)(?=\s|$)")
_EMPTY_ROUND = re.compile(r"\(\s{1,3}\)")
_EITHER = re.compile(f"([{EMPTY_BOX}{TICKED_BOX}])")
# "Risk: low", before the first box of a line whose boxes stand after their words.
_ASKED = re.compile(r"((?:.*[:?](?:\s+|$))?)(.*)")
_REMARK = re.compile(r"(?:\(.*\))?")
_JOINED = 100  # characters of a question or a label before boxes


def box(ticked: bool) -> str:
    """Return the sign of a box."""
    return TICKED_BOX if ticked else EMPTY_BOX


def with_boxes(text: str) -> str:
    """Return a line in which each box is one of the two signs, with a space on either side."""
    if _BRACKETS.match(text) or "[ ]" in text:
        text = _BRACKETS.sub(lambda found: f" {box(bool(found[1].strip()))} ", text)
    if _ROUND.match(text) or (_EMPTY_ROUND.search(text) and _TICKED_ROUND.search(text)):
        text = _ROUND.sub(lambda found: f" {box(bool(found[1].strip()))} ", text)
    return _SIGN.sub(lambda found: f" {box(found[1] in _TICKED)} ", text).strip()


def apart(text: str) -> list[str]:
    """Return a line as it is, or the statement of each of its boxes.

    "Rent? ☐ yes ☒ no" is "Rent? ☒ no" and "☐ Rent? yes". A box belongs to the words before it if
    the line ends with one, or with a remark in brackets: "Sent ☒ Paid ☐ (in May)".
    """
    first, *parts = _EITHER.split(with_boxes(text))
    if not parts:
        return [text]
    lead, signs, labels = first.strip(), parts[::2], [part.strip() for part in parts[1::2]]
    ((asked, label),) = _ASKED.findall(lead)[:1]
    if label and _REMARK.fullmatch(labels[-1]):
        *labels, remark = label, *labels
        lead, labels[-1] = asked.strip(), f"{labels[-1]} {remark}"
    said = [lead] if len(lead) > _JOINED else []
    lead = "" if said else lead
    pairs = list(zip(signs, labels, strict=True))
    ticked = [f"{sign} {label}".strip() for sign, label in pairs if sign == TICKED_BOX]
    said += [" ".join([lead, *ticked])] if lead and ticked else ticked
    empty = (" ".join([sign, lead, label]) for sign, label in pairs if sign == EMPTY_BOX)
    return said + [" ".join(each.split()) for each in empty]
