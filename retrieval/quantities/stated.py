"""Claims that state a quantity, decided by that of a sentence: "Ober is 4,212 metres high".

A wrong ruling is worse than none, so there is one only if everything in the claim is matched, and
nothing in the evidence denies, hedges or qualifies the quantity.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from retrieval.quantities.alignment import (
    attributes,
    content,
    covered,
    happens_once,
    head_of,
    in_subject,
    is_risky,
    is_risky_title,
    is_title,
    qualified,
    quoted,
    same_change,
    same_subject,
    same_verb,
    stems,
    subject_of,
    verb_of,
    words_of,
)
from retrieval.quantities.facts import Fact, ParsedSentence, above_sea_level, facts
from retrieval.quantities.quantity import AGE, COUNT, DATE, Quantity
from retrieval.quantities.reading import dimensions, quantities
from retrieval.quantities.relation import Ruling, arithmetic, relation
from retrieval.quantities.units import Unit
from retrieval.text.stems import stem
from retrieval.types import REFUTES, SUPPORTS

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_AGE = re.compile(
    r"(?:\baged|\bage of|\blived to(?: be| the age of)?|\blived for)(?: (?:only|just|over|more than"
    r"|under|less than|at least|almost|nearly|about))? $"
)
_YEARS = Unit("years", AGE)


def may_be_decided_by(claim: Doc, texts: Sequence[tuple[str, str]]) -> bool:
    """Return whether (title, sentence) texts have the claim's names and dimensions; cheap.

    An age or a duration may follow from dates. The claim must have quantities.
    """
    measured = {name for _, text in texts for name in dimensions(text)}
    if DATE not in measured and not dimensions(claim.text) <= measured:
        return False
    spoken = {word for title, text in texts for word in words_of(f"{title} {text}")}
    names = {stem(t.text) for t in claim if t.pos_ == "PROPN" and t.is_alpha}
    names -= {stem(t.text) for t in claim if t.ent_type_ in ("DATE", "MONEY", "QUANTITY")}
    return names <= spoken


def stated(claim: Doc, passages: Sequence[ParsedSentence]) -> Ruling | None:
    """Return what the quantities of the passages say about those of the claim, None if unsure.

    The passages must contain every word of the claim that means something, and must not deny,
    hedge, plan or correct anything. Every quantity of the claim must have one that it can be
    compared with, and only one may differ.
    """
    claimed = [_of_life(claim, item) for item in quantities(claim)]
    if not claimed or is_risky(claim, claimed, frozenset()):
        return None
    own = frozenset(form for token in claim for form in (token.lower_, token.lemma_.lower()))
    if any(is_risky_title(passage.title) for passage in passages):
        return None
    found = [fact for passage in passages for fact in facts(passage)]
    if any(is_risky(p.doc, [f.quantity for f in found if f.passage is p], own) for p in passages):
        return None
    rulings = []
    for item in claimed:
        one = _of_quantity(claim, claimed, item, found, own)
        if one is None:
            return None
        rulings.append(one)
    refuted = [one for one in rulings if one.label == REFUTES]
    if len(refuted) > 1:
        return None
    return refuted[0] if refuted else Ruling(SUPPORTS, " ".join(one.because for one in rulings))


def _of_life(claim: Doc, item: Quantity) -> Quantity:
    """Return the quantity, as an age if it says how old somebody was at his or her death."""
    if item.dimension in ("", "time") and _dying(claim) and _AGE.search(claim.text, 0, item.at):
        years = 1 if item.unit is None else item.unit.factor
        core = replace(item.core, low=item.core.low / years, high=item.core.high / years)
        return replace(item, dimension=AGE, core=core, reach=core, unit=_YEARS)
    return item


def _dying(claim: Doc) -> Token | None:
    return next((token for token in claim if token.lemma_.lower() in ("die", "live")), None)


def _of_quantity(
    claim: Doc,
    claimed: Sequence[Quantity],
    item: Quantity,
    found: Sequence[Fact],
    own: frozenset[str],
) -> Ruling | None:
    verb = _dying(claim) if item.dimension == AGE else verb_of(head_of(claim, item))
    twice = sum(one.dimension == item.dimension for one in claimed) > 1
    if verb is None or twice or not item.dimension:
        return None
    alike = [fact for fact in found if fact.quantity.dimension == item.dimension]
    if item.dimension in (DATE, AGE):
        alike = [fact for fact in alike if same_verb(verb.lemma_, fact.verb)]
    alike = above_sea_level(alike)
    if len({(fact.quantity.core, fact.quantity.kind) for fact in alike}) != 1:
        return None
    fact = alike[0]
    beside = [one for one in found if one.passage is fact.passage and not one.quantity.dimension]
    if beside and not fact.derived and item.dimension != DATE:
        return None  # "412 in the lower forms and 300 in the upper"
    doc, title = fact.passage.doc, fact.passage.title
    label = relation(item, fact.quantity)
    if label is None or (label == REFUTES and item.dimension == DATE and not happens_once(verb)):
        return None
    said, measured = stems(doc) | words_of(title), attributes(doc, item.dimension)
    words = [t for t in content(claim, claimed) if not (fact.derived and t == verb)]
    if not all(covered(token, said, measured) for token in words if token.lower_ != "age"):
        return None
    if not fact.derived and (qualified(doc, fact.quantity, own) or quoted(doc, fact.quantity)):
        return None
    if not _same_thing(claim, item, verb, fact):
        return None
    return Ruling(label, arithmetic(claim.text, item, doc.text, fact.quantity, label))


def _same_thing(claim: Doc, item: Quantity, verb: Token, fact: Fact) -> bool:
    """Return whether claim and fact say the same of the same, quantities aside."""
    doc, title = fact.passage.doc, fact.passage.title
    counts = in_subject(claim, item)
    is_there = not fact.derived and in_subject(doc, fact.quantity)
    if item.dimension == COUNT + "people" and verb.lemma_ == "live" and counts:
        # "More than 3,000 people live in Selm": "Selm has 3,412 inhabitants".
        return is_there or (fact.subject is not None and is_title(fact.subject, title))
    if not same_verb(verb.lemma_, fact.verb):
        return False
    if not fact.derived and not same_change(
        claim, item, verb.lemma_.lower(), doc, fact.quantity, fact.verb
    ):
        return False
    if counts or is_there:
        return counts and is_there
    return same_subject(subject_of(verb), fact.subject, title)
