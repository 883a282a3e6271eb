"""Claims that compare two things, decided by a quantity of each: "Ober is taller than Lund"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from retrieval.quantities.alignment import (
    attributes,
    is_risky,
    is_risky_title,
    is_title,
    qualified,
    quoted,
    same_verb,
    words_of,
)
from retrieval.quantities.facts import Fact, Passage, above_sea_level, facts
from retrieval.quantities.quantity import COUNT, DATE
from retrieval.quantities.relation import Ruling, in_unit, written
from retrieval.quantities.units import Unit
from retrieval.types import REFUTES, SUPPORTS

Pair: TypeAlias = tuple[Passage, Passage]
"""A sentence of the page that is named first in the claim, and one of the other page."""

_MORE = {
    "taller": "height", "higher": "height", "longer": "length", "wider": "width",
    "broader": "width", "deeper": "depth", "heavier": "weight", "faster": "speed",
    "more populous": "population",
}  # fmt: skip
_LESS = {
    "lower": "height", "narrower": "width", "shallower": "depth", "lighter": "weight",
    "slower": "speed", "less populous": "population",
}  # fmt: skip
_DIMENSIONS = {
    "height": "length", "length": "length", "width": "length", "depth": "length",
    "weight": "mass", "speed": "speed", "area": "area", "population": f"{COUNT}people",
}  # fmt: skip
_DEGREE = r"(?:much |far |slightly |a little |a lot )?"
_ADJECTIVES = "|".join(sorted((*_MORE, *_LESS), key=len, reverse=True))
_IS = re.compile(
    rf"(?P<first>.+?) (?:is|are|was|were) {_DEGREE}(?:(?P<adjective>{_ADJECTIVES}) than"
    r" (?P<second>.+?)|(?P<size>larger|bigger|smaller) than (?P<other>.+?)"
    r" (?:in|by) (?P<by>area|population))(?: is| are| was| were)?"
)
_HAS = re.compile(
    rf"(?P<first>.+?) (?:has|have|had) (?:{_DEGREE}(?P<more>more|fewer) (?:people|inhabitants"
    r"|residents)|a (?P<size>larger|bigger|greater|smaller) (?P<by>population|area)) than"
    r" (?P<second>.+?)(?: has| have| had| does| do| did)?"
)
_EVENT = re.compile(
    r"(?P<first>.+?)(?: was| were)? (?P<verb>born|died|founded|established|built|opened|completed"
    r"|published|released|started|began|ended|fought|launched|invented) (?P<when>before|after"
    r"|earlier than|later than) (?P<second>.+?)(?: was| were| did| died| opened| ended| began)?"
)
_BASE_FORMS = {
    "born": "bear", "died": "die", "founded": "found", "established": "establish",
    "built": "build", "opened": "open", "completed": "complete", "published": "publish",
    "released": "release", "started": "start", "began": "begin", "ended": "end",
    "fought": "fight", "launched": "launch", "invented": "invent",
}  # fmt: skip
_SUPERLATIVES = frozenset({"high", "highest", "most"})
_KIND_OF_NAME = {"the", "a", "an", "mount", "mt", "lake", "river", "city", "town", "islan", "of"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim that ``first`` has more of something than ``second``, or less.

    ``of``: an attribute as "height", or the base form of the verb of an event, whose earlier date
    is the lower one.
    """

    first: str
    second: str
    of: str
    more: bool
    dated: bool = False

    @property
    def dimension(self) -> str:
        """The dimension of what is compared."""
        return DATE if self.dated else _DIMENSIONS[self.of]


def comparison(claim: str) -> Comparison | None:
    """Return what a claim compares, None if it says anything else or more than that."""
    text = claim.strip().rstrip(".!")
    if found := _IS.fullmatch(text):
        if found["by"]:
            larger = found["size"] != "smaller"
            return _of(found["first"], found["other"], found["by"], larger)
        of = _MORE.get(found["adjective"]) or _LESS[found["adjective"]]
        return _of(found["first"], found["second"], of, found["adjective"] in _MORE)
    if found := _HAS.fullmatch(text):
        more = (found["more"] or found["size"]) not in ("fewer", "smaller")
        return _of(found["first"], found["second"], found["by"] or "population", more)
    if found := _EVENT.fullmatch(text):
        later = found["when"] in ("after", "later than")
        return _of(found["first"], found["second"], _BASE_FORMS[found["verb"]], later, dated=True)
    return None


def _of(first: str, second: str, of: str, more: bool, dated: bool = False) -> Comparison | None:
    """Return the comparison of two names; a name has a capital letter and no numbers."""
    names = (first, second)
    if all(any(c.isupper() for c in name.removeprefix("The ")) for name in names) and not any(
        c.isdigit() or c == "," for name in names for c in name
    ):
        return Comparison(first, second, of, more, dated)
    return None


def names_page(name: str, title: str) -> bool:
    """Return whether a name in the claim is that of a page: "Kilimanjaro", "Mount Kilimanjaro"."""
    wanted, titled = (words_of(text) - _KIND_OF_NAME for text in (name, title))
    return bool(wanted) and wanted == titled


def compared(claim: Comparison, passages: Sequence[Passage]) -> tuple[Ruling, Pair] | None:
    """Return what sentences of the two pages say about a comparison, and which two; None if unsure.

    If the sentences of one page give several values, nothing is decided.
    """
    left = _fact(claim, [p for p in passages if names_page(claim.first, p.title)])
    right = _fact(claim, [p for p in passages if names_page(claim.second, p.title)])
    if left is None or right is None:
        return None
    one, other = left.quantity, right.quantity
    margin = 0.0 if claim.dated else _margin(one.core.high, other.core.high)
    if not one.reach.widened(margin).apart(other.reach.widened(margin)):
        return None
    is_more = one.core.low > other.core.low
    label = SUPPORTS if is_more == claim.more else REFUTES
    word = ("after" if is_more else "before") if claim.dated else "more than"
    high, low = (left, right) if is_more or claim.dated else (right, left)
    because = f"{_shown(high, low.quantity.unit)} is {word} {_shown(low, None)}."
    return Ruling(label, f"{because[0].upper()}{because[1:]}"), (left.passage, right.passage)


def _shown(fact: Fact, unit: Unit | None) -> str:
    """Return a quantity with its page, and converted if the unit is another one."""
    shown = f"{written(fact.passage.doc.text, fact.quantity)} ({fact.passage.title})"
    if unit is None or fact.quantity.unit == unit:
        return shown
    return f"{shown}, or {in_unit(fact.quantity, unit)} {unit.name},"


def _margin(first: float, second: float) -> float:
    """Return by how much each of two measurements may be wrong: 1 % of the smaller one."""
    return 0.01 * min(abs(first), abs(second))


def _fact(claim: Comparison, passages: Sequence[Passage]) -> Fact | None:
    """Return the first of the facts of one page that may be compared; None if they differ."""
    usable = [fact for fact in map(partial(_fact_of, claim), passages) if fact is not None]
    if len({fact.quantity.core for fact in usable}) != 1:
        return None
    return usable[0]


def _fact_of(claim: Comparison, passage: Passage) -> Fact | None:
    """Return the only quantity of a sentence that may be the compared one of its page."""
    if is_risky_title(passage.title):
        return None
    found = list(facts(passage))
    if is_risky(passage.doc, [fact.quantity for fact in found], frozenset()):
        return None
    alike = above_sea_level([fact for fact in found if _measures(claim, fact)])
    if len({fact.quantity.core for fact in alike}) != 1:
        return None
    fact, doc = alike[0], passage.doc
    if fact.quantity.kind not in ("exact", "about") or fact.subject is None:
        return None
    if fact.derived:
        return fact
    is_of_page = is_title(fact.subject, passage.title)
    partly = qualified(doc, fact.quantity, _SUPERLATIVES) or quoted(doc, fact.quantity)
    return fact if is_of_page and not partly else None


def _measures(claim: Comparison, fact: Fact) -> bool:
    if fact.quantity.dimension != claim.dimension:
        return False
    if claim.dated:
        return same_verb(claim.of, fact.verb)
    return attributes(fact.passage.doc, claim.dimension) == {claim.of}
