"""Claims that state a measurement, read with the one of a sentence in its place.

"Ober is 4,000 metres high" becomes "Ober is 4,212 m high" for a sentence with 4,212 m. If a
verifier says that the sentence supports this, both are measurements of the same, however the
sentence puts it, and arithmetic compares them. So it is with what a thing has, and with the date of
what happens once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from retrieval.quantities.amounts import PERCENT, Interval, point
from retrieval.quantities.halves import Filling, at_date, fillings
from retrieval.quantities.reading import COUNT, DATE, Quantity, dimensions, quantities
from retrieval.quantities.relation import Ruling, arithmetic, relation
from retrieval.text.english import VERBS, verb_of
from retrieval.text.word_forms import lexicon, stem
from retrieval.types import REFUTES, SUPPORTS, Label

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


_RISKS, _STATING, _ONCE = lexicon("risks"), lexicon("stating"), lexicon("happening_once")
_ATTRIBUTES = lexicon("attributes")
_REPORTED = re.compile(r"\b(?:says?|said|tells?|told) (?:\w+ )?that\b")
_BRACKETS = re.compile(r"(?<!\s)\s*\([^)]*+(?:\)|\Z)")


def words_of(title: str) -> set[str]:
    """Return the stems of a title's words, without those in brackets."""
    return {stem(word) for word in re.findall(r"\w+", _BRACKETS.sub("", title))} - {"the", "of"}


def happens_once(verb: Token) -> bool:
    """Return whether what a verb says happens to a thing once, so that it has one date."""
    return verb.lemma_.lower() in _ONCE


def is_risky(doc: Doc, items: Iterable[Quantity], allowed: frozenset[str]) -> bool:
    """Return whether a text denies, hedges, plans, asks or corrects something.

    ``items``: its quantities, whose words ("no more than") do not count. ``allowed``: words that
    the claim contains too.
    """
    if "?" in doc.text or ("used to" in doc.text and "used" not in allowed):
        return True
    if _REPORTED.search(doc.text):
        return True
    places = [(item.start, item.end) for item in items]
    return any(
        form in _RISKS and form not in allowed
        for token in doc
        if token.is_sent_start or (token.pos_ != "PROPN" and token.ent_type_ != "DATE")
        if not _adds_a_word(token)
        for form in (token.lower_, token.lemma_.lower())
        if not any(start <= token.idx < end for start, end in places)
    )


def _adds_a_word(token: Token) -> bool:
    """Return whether "but" adds what is no statement and no number: "heavy but slow"."""
    after = token.doc[token.i + 1 : token.sent.end]
    return token.lower_ == "but" and not any(one.like_num or one.pos_ in VERBS for one in after)


def is_risky_title(title: str) -> bool:
    """Return whether a title says that the text below it asks or corrects something."""
    return "?" in title or bool(set(re.findall(r"\w+", title.lower())) & _RISKS)


def quoted(doc: Doc, item: Quantity) -> bool:
    """Return whether a quantity stands in quotation marks."""
    before = doc.text[: item.at]
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”")


def head_of(doc: Doc, item: Quantity) -> Token:
    """Return the word of a quantity that the rest of it depends on."""
    span = doc.char_span(item.start, item.end, alignment_mode="expand")
    assert span is not None
    return span.root


_LEAST = 0.5  # probability that a sentence supports the restated claim
_CLEARLY = 0.15  # by which its best reading is more probable than others
_NEAR = 0.01  # share by which measurements of the same may differ from source to source
_ROUNDED = 0.1  # share of a number that rounding to two digits may change
_SAME_VERBS = ({"begin", "start", "commence"}, {"end", "finish", "conclude", "cease"})
_FOR = re.compile(r"\b(?:for|lasted|over) $")
_FROM = "from "
_TOGETHER = re.compile(r" and ")


def may_be_decided_by(claim: Doc, text: tuple[str, str]) -> bool:
    """Return whether a (title, sentence) text has the claim's names and dimensions; cheap.

    A duration may follow from dates. The claim must have quantities.
    """
    title, sentence = text
    measured = dimensions(sentence)
    if DATE not in measured and not dimensions(claim.text) <= measured:
        return False
    names = {stem(t.text) for t in claim if t.pos_ == "PROPN" and t.is_alpha}
    names -= {stem(t.text) for t in claim if t.ent_type_ in ("DATE", "MONEY", "QUANTITY")}
    return names <= words_of(f"{title} {sentence}")


def measurement(claim: Doc) -> Quantity | None:
    """Return the only measurement of a claim, or its only date; None if it has several.

    The number of what there is, unless it is people, is left out: "there were three cases" may be
    of new ones or of all. Shares are left out too: a verifier often overlooks what they are shares
    of. So is what another thing than the subject measures: "near a hill of 300 m". There is none if
    the claim has a word that may turn it.
    """
    items = list(quantities(claim))
    if is_risky(claim, items, frozenset()):
        return None
    found = [item for item in items if _is_measured(claim, item)]
    if not found and all(item.dimension == DATE for item in items):
        found = [item for item in items if item.start < item.at]  # after "in", "on", "before"
    return found[0] if len(found) == 1 else None


def _is_measured(claim: Doc, item: Quantity) -> bool:
    if item.dimension in ("", DATE, PERCENT) or _is_of_an_object(head_of(claim, item)):
        return False
    if not item.dimension.startswith(COUNT) or item.dimension == f"{COUNT}people":
        return True
    verb = verb_of(head_of(claim, item))
    return verb is not None and verb.lemma_ != "be"


def _is_of_an_object(number: Token) -> bool:
    """Return whether a number belongs to an object of the verb: "in a country with 300 people".

    The height of "it reaches a height of 300 m" is the subject's own.
    """
    while number.dep_ in ("nummod", "quantmod", "compound"):
        number = number.head
    return any(
        thing.dep_ in ("dobj", "pobj") and thing.lemma_.lower() not in _ATTRIBUTES
        for thing in number.ancestors
        if thing.pos_ in ("NOUN", "PROPN")
    )


def candidates(claim: Doc, claimed: Quantity, title: str, doc: Doc) -> Iterator[Filling]:
    """Yield the quantities of a sentence below a title that may be in the place of the claimed one.

    In that of "for five years", a first and a last date may be, and in that of a year in which
    something lasted, a whole term ("from 2009 to 2017"). A date belongs to its verb: "began in 1801
    and ended in 1805" has one of each.
    """
    verb = verb_of(head_of(claim, claimed))
    lasts = claimed.dimension == DATE and verb is not None and not happens_once(verb)
    whole = claimed.ends is not None
    found = [one for one in fillings(doc, whole) if one.quantity.dimension == claimed.dimension]
    if lasts and (terms := list(fillings(doc, whole=True))):
        found = [one for one in terms if one.quantity.dimension == DATE]
    elif claimed.dimension == DATE and verb is not None:
        found = _of_the_verb(verb, doc, found)
    if claimed.dimension == "time" and _FOR.search(claim.text, 0, claimed.start):
        found += [
            Filling(_duration(item), f"{_FROM}{_TOGETHER.sub(' to ', item.said)}")
            for item in quantities(doc)
            if item.dimension == DATE and item.ends is not None
        ]
    own = frozenset(form for token in claim for form in (token.lower_, token.lemma_.lower()))
    risky = is_risky(doc, [one.quantity for one in found], own) or is_risky_title(title)
    if not risky:
        yield from (one for one in found if not quoted(doc, one.quantity))


def _of_the_verb(verb: Token, doc: Doc, found: list[Filling]) -> list[Filling]:
    """Return the dates that belong to the claim's verb, if the sentence has it."""
    same = next((group for group in _SAME_VERBS if verb.lemma_ in group), {verb.lemma_})
    if not any(token.lemma_ in same for token in doc):
        return found
    verbs = ((one, verb_of(head_of(doc, one.quantity))) for one in found)
    return [one for one, its in verbs if its is None or its.lemma_ in same]


def _duration(item: Quantity) -> Quantity:
    """Return how long a span of time with a first and a last date is."""
    assert item.ends is not None
    first, last = item.ends
    lasts = Interval((last.low - first.high + 1) * 86400, (last.high - first.low) * 86400)
    return replace(item, core=lasts, reach=lasts, dimension="time", kind="range", ends=None)


def restated(claim: Doc, claimed: Quantity, filling: Filling) -> str:
    """Return the claim with the words of another quantity."""
    before, words = claim.text[: claimed.start], filling.words
    if claimed.dimension == DATE:
        words = at_date(filling)
    elif words.startswith(_FROM) and not before.endswith("lasted "):
        before = _FOR.sub("", before)
    return f"{before}{words}{claim.text[claimed.end :]}"


def ruling(
    claim: Doc, claimed: Quantity, sentence: Doc, read: Sequence[tuple[Filling, float]]
) -> Ruling | None:
    """Return what the supported quantities of a sentence say about the claim; None if unsure.

    ``read``: the candidates with the probability that the sentence supports the claim restated with
    them. The best one decides; those that are nearly as good must agree.
    """
    best, most = max(read, key=lambda one: one[1])
    near = [one for one, probability in read if probability >= max(_LEAST, most - _CLEARLY)]
    labels = {_label(claim, claimed, one, len(near) == 1) for one in near}
    label = labels.pop() if len(labels) == 1 else None
    if label is None:
        return None
    found = best.quantity
    return Ruling(label, arithmetic(claim.text, claimed, sentence.text, found, label), most)


def _label(claim: Doc, claimed: Quantity, filling: Filling, alone: bool) -> Label | None:
    """Return what a measurement says about another; None if they are too close to say.

    ``alone``: no other one of the sentence may be meant.
    "2,300 km" is a rounded 2,304 km, and what people say of "over 2,300 km".
    """
    found, verb = filling.quantity, verb_of(head_of(claim, claimed))
    label = relation(claimed, found, possible=verb is not None and _can(verb))
    if claimed.dimension == DATE:
        once = verb is not None and happens_once(verb)
        if found.ends is not None and claimed.ends is None:
            return _in_term(claimed, found)
        whole = claimed.ends is not None and found.ends is not None
        return label if label == SUPPORTS or once or whole else None
    whole = alone and filling.words.startswith(_FROM)
    if label == REFUTES and not whole and _may_be_of_a_part(verb, claimed, found):
        return None
    if claimed.kind not in ("exact", "about"):
        return label
    if filling.words.startswith(_FROM) and _is_difference(claimed, found):
        return SUPPORTS
    value = max(abs(claimed.core.low), abs(claimed.core.high))
    near = claimed.core.widened(_NEAR * value)
    if label == REFUTES:
        return None if found.core.within(near) else REFUTES
    may_be = claimed.core.widened(_ROUNDED * value)
    rounded = found.core.within(claimed.reach) and claimed.reach.within(may_be)
    at_least = found.kind == "bound" and math.isfinite(found.core.low)
    limits = at_least and point(found.core.low).within(near)
    return SUPPORTS if rounded or limits else label


def _in_term(claimed: Quantity, term: Quantity) -> Label | None:
    """Return whether a date is in a term, such as 2011 in "from 2009 to 2017"."""
    assert term.ends is not None
    whole = Interval(term.ends[0].low, term.ends[1].high)
    if claimed.core.within(whole):
        return SUPPORTS
    return REFUTES if claimed.core.apart(whole) else None


def _is_difference(claimed: Quantity, found: Quantity) -> bool:
    """Return whether a duration is the difference of two years: 4 from 1911 to 1915."""
    middle = (found.core.low + found.core.high) / 2
    unit = claimed.unit.factor if claimed.unit else 0.0
    return claimed.core.widened(unit / 2).low < middle < claimed.core.widened(unit / 2).high


def _can(verb: Token) -> bool:
    """Return whether a verb says what can be: "can weigh", "is able to run"."""
    said = {child.lower_ for child in verb.children if child.dep_ == "aux"}
    able = verb.dep_ in ("xcomp", "pcomp") and {one.lower_ for one in verb.ancestors}
    return "can" in said or bool(able and able & {"able", "capable"})


def _may_be_of_a_part(verb: Token | None, claimed: Quantity, found: Quantity) -> bool:
    """Return whether a smaller number may be a part of the claimed one: of the dead by the evening.

    What a thing measures is whole, and so is the number of its people.
    """
    if found.core.high >= claimed.core.high and found.core.high >= claimed.core.low:
        return False
    if verb is None or claimed.dimension == "time" or verb.lemma_.lower() not in _STATING:
        return True
    return claimed.dimension.startswith(COUNT) and claimed.dimension != f"{COUNT}people"
