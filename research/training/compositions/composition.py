"""The results of this package: claims that two pages decide together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from research.evaluation.claims import AnnotatedClaim

Span: TypeAlias = tuple[int, int]
Kind: TypeAlias = Literal["description", "container", "apposition", "role", "shared"]


@dataclass(frozen=True, slots=True)
class Composition:
    """A claim with one evidence set of two sentences on two pages, in the order of reading.

    Offsets are characters of the claim. ``parts``: the words that only the first sentence contains
    and those that only the second one contains. If a fact was exchanged, ``flipped`` are the words
    that make the claim false, and ``in_evidence`` are the words of the evidence instead.
    """

    claim: AnnotatedClaim
    kind: Kind
    bridge: str  # title of the page that links both
    parts: tuple[tuple[Span, ...], tuple[Span, ...]]
    flipped: Span | None = None
    in_evidence: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """Words of a phrase that can be exchanged for others of their kind."""

    start: int
    end: int
    kind: Literal["nation", "place", "year", "trade"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A piece of a claim that comes from one sentence, with its exchangeable facts."""

    text: str
    facts: tuple[Fact, ...] = ()

    def joined(self, other: Phrase, between: str = " ") -> Phrase:
        """Return the two with ``between`` in the middle."""
        shift = len(self.text) + len(between)
        return Phrase(self.text + between + other.text, (*self.facts, *moved(other.facts, shift)))

    def with_exchanged(self, fact: Fact, new: str) -> Phrase:
        """Return the phrase with ``new`` as its only fact, in place of ``fact``."""
        text = self.text[: fact.start] + new + self.text[fact.end :]
        return Phrase(text, (Fact(fact.start, fact.start + len(new), fact.kind),))


def moved(facts: Sequence[Fact], shift: int) -> tuple[Fact, ...]:
    """Return the facts moved by ``shift`` characters."""
    return tuple(Fact(fact.start + shift, fact.end + shift, fact.kind) for fact in facts)
