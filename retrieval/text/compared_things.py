"""A claim that compares two things, and the sentences that compare them too.

A verifier that reads a sentence about each of two things guesses which is more. So a sentence must
be about both, or say that one of them is the most or the least of all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval.text.subject import Subject, thing_of

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_COMPARATIVES = {"JJR", "RBR"}
_PLAIN = {"det", "amod", "compound", "nmod", "punct"}
_MOST = re.compile(
    r"(?<![\w-])(?<!one of the )(?:most|least|\w{2,}est|highest|lowest)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ComparedThings:
    """The things that a claim compares: two, or three of "nearer to Orn than to Selm"."""

    things: tuple[Subject, ...]

    def may_be_settled_by(self, read: Sequence[tuple[str, str]]) -> bool:
        """Return whether (title, sentence) pairs that are read together may say which is more.

        Several never do: what each says about one thing is compared by arithmetic or not at all.
        """
        if len(read) != 1:
            return False
        named = [thing.is_in(read) for thing in self.things]
        return all(named) or (any(named) and _MOST.search(read[0][1]) is not None)

    @property
    def words(self) -> str:
        """The things, for people."""
        first, *others = (f"“{thing.text}”" for thing in self.things)
        return f"{first} with {' and '.join(others)}"


def compared_things(claim: Doc) -> ComparedThings | None:
    """Return what a claim such as "Orn is larger than Selm" compares; None of any other claim."""
    than = next((token for token in claim if token.lower_ == "than"), None)
    subject = next((t for t in claim if t.dep_ == "nsubj" and t.head.dep_ == "ROOT"), None)
    if than is None or subject is None or not _is_plain(subject):
        return None
    others = [t for t in than.subtree if t.dep_ == "pobj"][:1]
    beside = [t for t in claim[: than.i] if t.tag_ in _COMPARATIVES]
    if len(beside) != 1 or not others or not _is_plain(others[0]):
        return None
    if "to" in (token.lower_ for token in than.children):  # "nearer to Orn than to Selm"
        others = [t for t in claim[beside[0].i : than.i] if t.dep_ == "pobj"][:1] + others
    things = [thing_of(token) for token in (subject, *others)]
    return ComparedThings(tuple(things)) if all(thing.text for thing in things) else None


def _is_plain(thing: Token) -> bool:
    """Return whether a thing is only named: not "the sea near Orn", which has to be found first."""
    if thing.pos_ not in ("PROPN", "NOUN") or thing.lower_ in ("any", "all", "other", "others"):
        return False
    return all(
        t.dep_ in _PLAIN and t.tag_ != "CD" and t.lower_ not in ("any", "other", "most", "no")
        for t in thing.children
        if t.pos_ != "PROPN"
    )
