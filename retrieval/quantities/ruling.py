"""The ruling of arithmetic on a claim, if its quantities and those of the evidence decide it.

A wrong ruling is worse than none, so there is one only if everything in the claim is matched, and
nothing in the evidence denies, hedges or qualifies the quantity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from retrieval.quantities.alignment import stem, words_of
from retrieval.quantities.comparing import Pair, compared, comparison
from retrieval.quantities.facts import Passage
from retrieval.quantities.quantity import DATE
from retrieval.quantities.reading import dimensions
from retrieval.quantities.relation import Ruling
from retrieval.quantities.stated import stated
from retrieval.types import LABELS, Label, Opinion

if TYPE_CHECKING:
    from spacy.tokens import Doc

_FIRM = 0.98
"""Share of the rulings on published pairs that are right (docs/stages.md, "Quantities")."""


def may_decide(claim: str) -> bool:
    """Return whether a claim states or compares quantities at all; cheap."""
    return bool(dimensions(claim)) or comparison(claim) is not None


def may_be_decided_by(claim: Doc, texts: Sequence[tuple[str, str]]) -> bool:
    """Return whether (title, sentence) texts have the claim's names and dimensions; cheap.

    An age or a duration may follow from dates.
    """
    spoken = {word for title, text in texts for word in words_of(f"{title} {text}")}
    names = {stem(t.text) for t in claim if t.pos_ == "PROPN" and t.is_alpha}
    names -= {stem(t.text) for t in claim if t.ent_type_ in ("DATE", "MONEY", "QUANTITY")}
    if not names <= spoken:
        return False
    measured = {name for _, text in texts for name in dimensions(text)}
    if comparison(claim.text) is not None:
        return bool(measured)
    return DATE in measured or dimensions(claim.text) <= measured


def comparing(claim: Doc, passages: Sequence[Passage]) -> tuple[Ruling, Pair] | None:
    """Return the ruling on a claim that compares two pages, and the sentences that decide it."""
    compares = comparison(claim.text)
    return compared(compares, passages) if compares else None


def ruling(claim: Doc, passages: Sequence[Passage]) -> Ruling | None:
    """Return what the quantities of the passages, read together, say about the claim.

    None if they are not of the same thing, or if anything is unsure.
    """
    if comparison(claim.text) is None:
        return stated(claim, passages)
    found = comparing(claim, passages)
    return found[0] if found else None


def overruled(opinion: Opinion, label: Label) -> Opinion:
    """Return an opinion that is firmly this label; a firmer one of the same label is kept."""
    at = LABELS.index(label)
    if opinion[at] >= _FIRM:
        return opinion
    rest = (1 - _FIRM) / 2
    supports, refutes, undecided = (_FIRM if n == at else rest for n in range(len(LABELS)))
    return supports, refutes, undecided
