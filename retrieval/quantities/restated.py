"""Claims that state a measurement, read with the one of a sentence in its place.

"Ober is 4,000 metres high" becomes "Ober is 4,212 m high" for a sentence with 4,212 m. If a
verifier says that the sentence supports this, both are measurements of the same, however the
sentence puts it, and arithmetic compares them. ``stated`` needs no verifier, but nearly the same
words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from retrieval.quantities.alignment import head_of, is_risky, is_risky_title, quoted, verb_of
from retrieval.quantities.facts import ParsedSentence
from retrieval.quantities.filled_halves import Filling, fillings
from retrieval.quantities.interval import point
from retrieval.quantities.quantity import COUNT, DATE, Quantity
from retrieval.quantities.reading import quantities
from retrieval.quantities.relation import Ruling, arithmetic, relation
from retrieval.quantities.units import PERCENT
from retrieval.quantities.vocabulary import STATES
from retrieval.types import REFUTES, SUPPORTS, Label

if TYPE_CHECKING:
    from spacy.tokens import Doc

_NO_MEASURES = ("", DATE, PERCENT)
_LEAST = 0.6  # probability that a sentence supports the restated claim
_CLEARLY = 0.15  # by which its best reading is more probable than others
_NEAR = 0.01  # share by which measurements of the same may differ from source to source


def measurement(claim: Doc) -> Quantity | None:
    """Return the only measurement of a claim; None if it has several, or a word that may turn it.

    Numbers of things are left out, except of people: "three cases" may be new ones or all. Shares
    are left out too: a verifier often overlooks what they are shares of.
    """
    items = list(quantities(claim))
    if is_risky(claim, items, frozenset()):
        return None
    found = [
        item
        for item in items
        if item.dimension == f"{COUNT}people"
        or (item.dimension not in _NO_MEASURES and not item.dimension.startswith(COUNT))
    ]
    return found[0] if len(found) == 1 else None


def candidates(claim: Doc, claimed: Quantity, sentence: ParsedSentence) -> Iterator[Filling]:
    """Yield the quantities of a sentence that may be in the place of the claimed one."""
    doc = sentence.doc
    found = [one for one in fillings(doc) if one.quantity.dimension == claimed.dimension]
    own = frozenset(form for token in claim for form in (token.lower_, token.lemma_.lower()))
    risky = is_risky(doc, [one.quantity for one in found], own) or is_risky_title(sentence.title)
    if not risky:
        yield from (one for one in found if not quoted(doc, one.quantity))


def restated(claim: Doc, claimed: Quantity, filling: Filling) -> str:
    """Return the claim with the words of another quantity."""
    return f"{claim.text[: claimed.start]}{filling.words}{claim.text[claimed.end :]}"


def ruling(
    claim: Doc, claimed: Quantity, sentence: ParsedSentence, read: Sequence[tuple[Filling, float]]
) -> Ruling | None:
    """Return what the supported quantities of a sentence say about the claim; None if unsure.

    ``read``: the candidates with the probability that the sentence supports the claim restated with
    them. The best one decides; those that are nearly as good must agree.
    """
    best, most = max(read, key=lambda one: one[1])
    near = [one for one, probability in read if probability >= max(_LEAST, most - _CLEARLY)]
    labels = {_label(claim, claimed, one.quantity) for one in near}
    label = labels.pop() if len(labels) == 1 else None
    if label is None:
        return None
    found = best.quantity
    return Ruling(label, arithmetic(claim.text, claimed, sentence.doc.text, found, label))


def _label(claim: Doc, claimed: Quantity, found: Quantity) -> Label | None:
    """Return what a measurement says about another; None if they are too close to say.

    "2,300 km" is a rounded 2,304 km, and what people say of "over 2,300 km".
    """
    label = relation(claimed, found)
    if label == REFUTES and _may_be_of_a_part(claim, claimed, found):
        return None
    if claimed.kind not in ("exact", "about"):
        return label
    value = max(abs(claimed.core.low), abs(claimed.core.high))
    near = claimed.core.widened(_NEAR * value)
    if label == REFUTES:
        return None if found.core.within(near) else REFUTES
    rounded = found.core.within(claimed.reach) and claimed.reach.within(near)
    at_least = found.kind == "bound" and math.isfinite(found.core.low)
    limits = at_least and point(found.core.low).within(near)
    return SUPPORTS if rounded or limits else label


def _may_be_of_a_part(claim: Doc, claimed: Quantity, found: Quantity) -> bool:
    """Return whether a smaller number may be a part of the claimed one: of the dead by the evening.

    What a thing has or measures is whole.
    """
    if found.core.high >= claimed.core.high and found.core.high >= claimed.core.low:
        return False
    verb = verb_of(head_of(claim, claimed))
    return claimed.dimension == "time" or verb is None or verb.lemma_.lower() not in STATES
