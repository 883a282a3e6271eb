"""A claim that a thing is of a kind, and sentences that name the kind and say nothing of that.

"Brass is an alloy of zinc." does not make zinc an alloy, nor does "The tomato is a plant whose
fruit is edible." deny that it is a fruit. A verifier is drawn to the word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_ITS_WORDS = {"det", "amod", "compound", "punct"}
_HAVE = {"have", "bear", "produce", "yield", "grow"}
_OF = {"of", "from", "with"}


@dataclass(frozen=True, slots=True)
class OfKind:
    """The claim that a thing is of a kind; each as the base form of its last word."""

    thing: str
    kind: str

    def is_beside(self, sentences: Sequence[Doc]) -> bool:
        """Return whether sentences name the kind only as what a thing has or is a part of."""
        named = [t for sentence in sentences for t in sentence if _base(t) == self.kind]
        return bool(named) and all(_is_had(one) or self._is_part_of(one) for one in named)

    def _is_part_of(self, kind: Token) -> bool:
        """Return whether another thing is said to be of the kind, made of this one."""
        if kind.dep_ != "attr":
            return False
        within = [t for prep in kind.children if prep.lower_ in _OF for t in prep.subtree]
        others = [t for t in kind.doc if _base(t) == self.thing and t not in within]
        return not others and any(_base(t) == self.thing for t in within)


def of_kind(claim: Doc) -> OfKind | None:
    """Return what a claim such as "Tin is an alloy." says, ``None`` of any other claim."""
    root = next((t for t in claim if t.dep_ == "ROOT"), None)
    if root is None or root.lower_ not in ("is", "are"):
        return None
    thing = next((t for t in root.children if t.dep_ == "nsubj"), None)
    kind = next((t for t in root.children if t.dep_ == "attr"), None)
    if thing is None or kind is None or kind.pos_ != "NOUN" or thing.pos_ == "PRON":
        return None
    if any(t.dep_ == "neg" for t in root.children):
        return None
    if not {t.dep_ for t in (*thing.children, *kind.children)} <= _ITS_WORDS:
        return None
    return OfKind(_base(thing), _base(kind))


def _is_had(kind: Token) -> bool:
    """Return whether a thing has what is of the kind: "whose fruit", "bears fruits"."""
    if any(t.tag_ in ("WP$", "PRP$") for t in kind.children):
        return kind.dep_ != "attr"  # "Orn is its capital."
    return kind.dep_ == "dobj" and kind.head.lemma_ in _HAVE


def _base(token: Token) -> str:
    return token.lemma_.casefold()
