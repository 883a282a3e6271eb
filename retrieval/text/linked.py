"""Whether sentences of several documents have to do with each other.

A verifier reads any two sentences as if one went on with the other: "21 of the 27 member states"
and "it borders Austria" then make a member.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_ASIDE = re.compile(r"\s*\([^)]*+\)$")


def linked(claim: str, texts: Sequence[tuple[str, str]]) -> bool:
    """Return whether the last of the (title, sentence) texts is linked to one before it.

    It is if both are from one document, if one names the other's document, or if the claim names
    both documents, as one that compares them does.
    """
    *before, (title, sentence) = texts
    in_claim = _names(title, claim)
    return any(
        title == other
        or _names(title, said)
        or _names(other, sentence)
        or (in_claim and _names(other, claim))
        for other, said in before
    )


def _names(title: str, text: str) -> bool:
    return bool(_pattern(title).search(text))


@lru_cache(10_000)
def _pattern(title: str) -> re.Pattern[str]:
    bare = re.sub(r"\A[Tt]he ", "", _ASIDE.sub("", title))
    return re.compile(rf"(?<!\w){re.escape(bare)}(?!\w)", re.IGNORECASE)
