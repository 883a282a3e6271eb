"""The quantities that a sentence says something about, also those that follow from its dates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from retrieval.quantities.alignment import head_of, is_change, stems, subject_of, verb_of, words_of
from retrieval.quantities.interval import Interval
from retrieval.quantities.quantity import AGE, DATE, Quantity
from retrieval.quantities.reading import quantities

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_IN_BRACKETS = re.compile(r"\((?:born )?[^()]{0,40}$")
_SEA_LEVEL = re.compile(r"(?: ?\([^)]*\))? above (?:mean )?sea level")
_DAYS_A_YEAR = 365.2425
_EVENTS = {
    "assassination": "assassinate", "beginning": "begin", "birth": "bear", "collapse": "collapse",
    "completion": "complete", "death": "die", "discovery": "discover", "end": "end",
    "foundation": "found", "founding": "found", "invention": "invent", "publication": "publish",
    "start": "start",
}  # fmt: skip
_GOES_ON = {"last", "run", "take", "fight", "continue", "span", "wage"}


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A parsed sentence with the title of its document."""

    title: str
    doc: Doc


@dataclass(frozen=True, slots=True)
class Fact:
    """A quantity of a passage: what has it (``subject``), by which verb (its base form)."""

    passage: ParsedSentence
    quantity: Quantity
    verb: str
    subject: Token | None
    derived: bool = False


def facts(passage: ParsedSentence) -> Iterator[Fact]:
    """Yield the facts of a passage in its order.

    "Ada Vale (3 May 1901 - 9 June 1970)" gives the dates of birth and death and the age; "lasted
    from 3 to 17 May 1644" gives a duration.
    """
    for item in quantities(passage.doc):
        name = _named_before(passage, item)
        if item.ends is not None and name is not None:
            yield from _life(passage, item, name)
            continue
        verb = verb_of(head_of(passage.doc, item))
        if verb is None:
            continue
        lemma, subject = verb.lemma_.lower(), subject_of(verb)
        if item.kind == "range" and item.dimension != DATE and is_change(lemma):
            continue
        if (event := _event(passage, item)) is not None:
            yield Fact(passage, item, *event, derived=True)
            continue
        yield Fact(passage, item, lemma, subject)
        if item.ends is not None and lemma in _GOES_ON:
            yield Fact(passage, duration(item), "last", subject, derived=True)


def _event(passage: ParsedSentence, item: Quantity) -> tuple[str, Token] | None:
    """Return verb and subject of "the end of the war in 1945" and of "his death in 1945"."""
    before = passage.doc.char_span(0, item.start, alignment_mode="contract")
    if item.dimension != DATE or before is None or not before:
        return None
    last = next((t for t in reversed(before) if t.text != "("), None)
    noun = next((t for t in (last, *last.ancestors) if t.lemma_ in _EVENTS), None) if last else None
    if last is None or noun is None or not (noun == last or noun.i < last.i):
        return None
    of = next((t for t in noun.children if t.lower_ == "of" and t.i < item.start), None)
    subject = next((t for t in noun.children if t.dep_ == "poss"), None) if noun == last else None
    if of is not None and noun != last:
        subject = next((t for t in of.children if t.dep_ == "pobj"), None)
        if subject is not None and last not in subject.subtree:
            return None
    return (_EVENTS[noun.lemma_], subject) if subject is not None else None


def above_sea_level(alike: Sequence[Fact]) -> list[Fact]:
    """Return those that are heights above sea level, or all if none is.

    A mountain is 5,895 m above sea level "and 4,900 m above its plateau".
    """
    return [
        fact for fact in alike if _SEA_LEVEL.match(fact.passage.doc.text, fact.quantity.end)
    ] or list(alike)


def _named_before(passage: ParsedSentence, item: Quantity) -> Token | None:
    """Return the name of the page's subject, if a quantity stands in brackets after it."""
    bracket = _IN_BRACKETS.search(passage.doc.text, 0, item.start)
    if bracket is None:
        return None
    name = [t for t in passage.doc if t.idx < bracket.start() and not t.is_punct]
    titled = words_of(passage.title)
    if not name or not titled or not titled <= stems(name) or len(name) > len(titled) + 3:
        return None
    return name[-1]


def _life(passage: ParsedSentence, item: Quantity, name: Token) -> Iterator[Fact]:
    assert item.ends is not None
    born, died = item.ends
    first, _, last = re.split(r"( ?[\u2013-] ?| to )", item.said, maxsplit=1)
    for verb, span, said in (("bear", born, f"born {first}"), ("die", died, f"died {last}")):
        one = replace(item, core=span, reach=span, kind="exact", said=said, ends=None)
        yield Fact(passage, one, verb, name, derived=True)
    ages = Interval(
        float(int((died.low - born.high + 1) / _DAYS_A_YEAR)),
        float(int((died.high - 1 - born.low + 0.5) / _DAYS_A_YEAR)),
    )
    age = replace(
        item, core=ages, reach=ages, dimension=AGE, ends=None,
        kind="exact" if ages.is_point else "range",
    )  # fmt: skip
    yield Fact(passage, age, "die", name, derived=True)


def duration(item: Quantity) -> Quantity:
    """Return how long a span of time with a first and a last date is."""
    assert item.ends is not None
    first, last = item.ends
    lasts = Interval((last.low - first.high + 1) * 86400, (last.high - first.low) * 86400)
    return replace(item, core=lasts, reach=lasts, dimension="time", kind="range", ends=None)
