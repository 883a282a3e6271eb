"""Whether sentences of several documents have to do with each other.

A verifier reads any two sentences as if one went on with the other: "21 of the 27 member states"
and "it borders Austria" then make a member.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from retrieval.text.titled import without_brackets

# Names that many unrelated things share: "American", "July".
_COMMON = re.compile(
    r"\w+(?:ian|can|ish|ese|man)|French|Dutch|Greek|Swiss|Czech"
    r"|January|February|March|April|May|June|July|August|September|October|November|December"
)
_WORD = re.compile(r"[\w.-]+|\S")


def linked(claim: str, texts: Sequence[tuple[str, str]]) -> bool:
    """Return whether the last of the (title, sentence) texts is linked to one before it.

    It is if both are from one document, if one names the other's document, if both name another
    thing than the claim does, or if the claim names both documents, as one that compares them does.
    """
    *before, (title, sentence) = texts
    in_claim = _is_in(title, claim)
    others = _named(sentence) - _named(claim)
    return any(
        title == other
        or _is_in(title, said)
        or _is_in(other, sentence)
        or (in_claim and _is_in(other, claim))
        or others & _named(said)
        for other, said in before
    )


def _named(text: str) -> set[str]:
    """Return the runs of words with a capital, without a first word that has it anyway."""
    runs: list[list[str]] = [[]]
    for word in _WORD.findall(text):
        if word[0].isupper():
            runs[-1].append(word.rstrip("."))
        else:
            runs.append([])
    if len(runs[0]) == 1:
        runs[0] = []
    names = {" ".join(run) for run in runs if run}
    return {one for one in names if not _COMMON.fullmatch(one)}


def _is_in(title: str, text: str) -> bool:
    return bool(title and _pattern(title).search(text))


@lru_cache(10_000)
def _pattern(title: str) -> re.Pattern[str]:
    bare = re.sub(r"\A[Tt]he ", "", without_brackets(title))
    return re.compile(rf"(?<!\w){re.escape(bare)}(?!\w)", re.IGNORECASE)
