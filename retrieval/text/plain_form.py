"""One form for a claim that people write in several: "it isn't old" is read as "It is not old."."""

from __future__ import annotations

import re

SHORT_FORMS = {
    "isn't": "is not",
    "aren't": "are not",
    "wasn't": "was not",
    "weren't": "were not",
    "doesn't": "does not",
    "don't": "do not",
    "didn't": "did not",
    "hasn't": "has not",
    "haven't": "have not",
    "hadn't": "had not",
    "can't": "cannot",
    "couldn't": "could not",
    "won't": "will not",
    "wouldn't": "would not",
    "shouldn't": "should not",
}
# Not at the beginning: "Isn't it old?" and "Don't run." are no statements.
_SHORT = re.compile(rf"(?<=\w )({'|'.join(SHORT_FORMS)})\b", re.IGNORECASE)
_CURLY = "n\N{RIGHT SINGLE QUOTATION MARK}t"
_ENDS = (".", "!", "?", '"', "”", ")")


def in_full(text: str) -> str:
    """Return the text with "is not" for "isn't"."""
    return _SHORT.sub(lambda found: SHORT_FORMS[found[0].lower()], text.replace(_CURLY, "n't"))


def as_sentence(text: str) -> str:
    """Return the text with a capital and a full stop. All offsets in it stay."""
    stop = "" if text.endswith(_ENDS) else "."
    first, space, rest = text.partition(" ")
    small = first.islower()  # not "iPads"
    return (first[:1].upper() + first[1:] if small else first) + space + rest + stop
