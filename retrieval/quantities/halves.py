"""Cuts a claim that compares two things into two halves, and decides it by what fills their gaps.

"Ada wrote Orn before she moved to Selm" has the halves "Ada wrote Orn …" and "Ada moved to Selm …",
both with a gap for a date. A verifier says which date of a sentence fills each gap
(``retrieval.stages.decide.comparison``), and arithmetic compares the two. So the words of the claim
need not be those of the sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from retrieval.quantities.amounts import TEMPERATURE, Interval, Unit
from retrieval.quantities.reading import COUNT, DATE, Quantity, dimensions, quantities
from retrieval.text.english import SUBJECTS
from retrieval.types import REFUTES, SUPPORTS, Label, Opinion

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


@dataclass(frozen=True, slots=True)
class Ruling:
    """What arithmetic says about a claim.

    ``because``: the sentence for people. ``confidence``: the verifier's, that the sentence gives
    the quantity for what the claim is about; the arithmetic itself is certain.
    """

    label: Label
    because: str
    confidence: float

    @property
    def opinion(self) -> Opinion:
        """The probabilities of ``LABELS``."""
        supports, refutes = (
            self.confidence if label == self.label else 0.0 for label in (SUPPORTS, REFUTES)
        )
        return supports, refutes, 1 - self.confidence


@dataclass(frozen=True, slots=True)
class Half:
    """One side of a comparison: a claim with a gap, "{}", for a quantity of this dimension.

    The dimension ``COUNT`` is that of a number of anything.
    """

    text: str
    dimension: str

    def takes(self, dimension: str) -> bool:
        """Return whether a quantity of this dimension may fill the gap."""
        if self.dimension == COUNT:
            return dimension == "" or dimension.startswith(COUNT)
        return dimension == self.dimension

    def measured_in(self, text: str) -> bool:
        """Return whether a text may have such a quantity; cheap, as it need not be parsed."""
        # What a number counts is only known once the text is parsed.
        counts = self.dimension.startswith(COUNT)
        return ("" if counts else self.dimension) in dimensions(text)


Halves: TypeAlias = tuple[Half, ...]
"""Several ways to say one side; which of them is meant shows when a sentence fills the gap."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim that ``first`` is more than ``second``, or later, or that it is less or earlier.

    ``by``: how much earlier or later, if the claim says so ("two years before").
    """

    first: Halves
    second: Halves
    more: bool
    by: Quantity | None = None


_PEOPLE = f"{COUNT}people"
_HEIGHT = (("is {} high", "length"), ("is {} above sea level", "length"))
_WIDTH = (("is {} wide", "length"),)
_TEMPERATURE = (("has a temperature of {}", TEMPERATURE),)
_MEASURES = {
    "taller": (*_HEIGHT, ("is {} tall", "length")),
    "higher": _HEIGHT,
    "longer": (("is {} long", "length"),),
    "wider": _WIDTH,
    "broader": _WIDTH,
    "deeper": (("is {} deep", "length"),),
    "heavier": (("weighs {}", "mass"),),
    "faster": (("has a speed of {}", "speed"),),
    "hotter": _TEMPERATURE,
    "warmer": _TEMPERATURE,
    "more populous": (("has a population of {}", _PEOPLE),),
}
_OPPOSITES = {
    "lower": "higher", "shorter": "longer", "narrower": "wider", "shallower": "deeper",
    "lighter": "heavier", "slower": "faster", "colder": "hotter", "cooler": "warmer",
    "less populous": "more populous",
}  # fmt: skip
_AREA, _POPULATION = ("has an area of {}", "area"), ("has a population of {}", _PEOPLE)
_SIZES = {
    None: (_AREA, ("has a diameter of {}", "length")), "area": (_AREA,), "country": (_AREA,),
    "island": (_AREA,), "lake": (_AREA,), "state": (_AREA,), "population": (_POPULATION,),
    "city": (_POPULATION,), "town": (_POPULATION,),
}  # fmt: skip
_DEGREE = r"(?:(?:much|far|slightly|a little|a lot|a bit|even|many times|considerably) )?"
_BE, _VERB_AGAIN = "(?:is|are|was|were)", "(?: (?:is|are|was|were|has|have|had|does|do|did))?"
_ADJECTIVES = "|".join(sorted((*_MEASURES, *_OPPOSITES), key=len, reverse=True))
_ADJECTIVE = re.compile(
    rf"(?P<first>.+?) {_BE} {_DEGREE}(?P<word>{_ADJECTIVES}) than (?P<second>.+?){_VERB_AGAIN}"
)
_SIZE = re.compile(
    rf"(?P<first>.+?) (?:{_BE}|has|have|had) (?:an? )?{_DEGREE}"
    r"(?P<word>larger|bigger|greater|smaller)"
    r"(?: (?P<kind>city|town|country|island|lake|state|population|area))? than"
    rf" (?P<second>.+?){_VERB_AGAIN}(?: (?:in|by) (?P<by>area|population))?"
)
_NUMBER = re.compile(
    rf"(?P<first>.+?) (?P<verb>\w+(?: to)?) {_DEGREE}(?P<word>more|fewer)"
    rf" (?P<of>\w+(?: \w+){{0,2}}) than (?P<second>.+?){_VERB_AGAIN}"
)
_OF_A_TIME = re.compile(
    r"(?:in|on|at|during|before|after|under|the year|the previous|ever|a year)\b"
)
_DURATION = re.compile(
    rf"(?P<first>.+?) (?P<verb>\w+) (?:for )?{_DEGREE}(?P<word>longer|shorter) than"
    rf" (?P<second>.+?){_VERB_AGAIN}"
)
_DISTANCE = re.compile(
    rf"(?P<thing>.+?) (?:{_BE}|lies?|stands?) {_DEGREE}(?P<word>closer|nearer|farther|further)"
    r" (?:to|from) (?P<first>.+?) than (?:to|from) (?P<second>.+)"
)
_OF_AN_OWNER = re.compile(r".+?'s? (.+)")
_LIMIT = (
    r"(?:more than|less than|at least|at most|almost|about|around|nearly|barely|just over|over"
    r"|only|some|roughly|exactly) "
)
_TIME = (
    r"(?: (?:(?P<by>(?:LIMIT)?(?:an?|half an?|[\w-]+)(?: and a half)?"
    r" (?:days?|weeks?|months?|years?|decades?|century|centuries))"
    r"|shortly|soon|long|well|right|years|decades|centuries|months|weeks|days|some time))?"
).replace("LIMIT", _LIMIT)
_ORDER = re.compile(
    rf"(?P<first>.+?){_TIME},? (?:only )?(?P<word>before|after|earlier than|later than|prior to)"
    r" (?P<second>.+)"
)
_ORDERS = (
    re.compile(r"(?P<word>Before|After) (?P<second>[^,]+), (?P<first>.+)"),
    re.compile(r"(?P<word>When|By the time) (?P<second>[^,]+), (?P<first>.+? already .+)"),
    re.compile(r"(?P<first>.+? already .+?) (?P<word>when|by the time) (?P<second>.+)"),
    _ORDER,
)
_LATER = {"after", "later than"}
_ALSO = re.compile(r"\b(?:already|only|still) ")
_PRONOUN = re.compile(r"(?:(?P<one>he|she|it|they)|(?P<own>his|her|its|their))\b", re.IGNORECASE)
_OF_MANY = re.compile(
    r"\b(?:no|not|none|nobody|never|neither|nor|any|anybody|anyone|every|all|most|other|named|there"
    r"|that|him)\b|n't\b|[{}]",
    re.IGNORECASE,
)


def comparison(claim: Doc) -> Comparison | None:
    """Return what a claim compares; None if it says anything else, or compares with all or none."""
    text = claim.text.strip().rstrip(".!")
    if _OF_MANY.search(text):
        return None
    dates = _of_dates(claim, text)
    if dates is not None or "," in text:
        return dates
    return _of_distances(text) or _of_measures(text) or _of_durations(text) or _of_numbers(text)


def _of_measures(text: str) -> Comparison | None:
    if found := _ADJECTIVE.fullmatch(text):
        word = _OPPOSITES.get(found["word"], found["word"])
        gaps, more = _MEASURES[word], found["word"] in _MEASURES
    elif found := _SIZE.fullmatch(text):
        gaps, more = _SIZES[found["kind"] or found["by"]], found["word"] != "smaller"
    else:
        return None
    first, second = (
        tuple(Half(f"{found[side]} {gap}", dimension) for gap, dimension in gaps)
        for side in ("first", "second")
    )
    return Comparison(first, second, more)


def _of_numbers(text: str) -> Comparison | None:
    found = _NUMBER.fullmatch(text)
    if found is None or _OF_A_TIME.match(found["second"]):
        return None
    people = found["of"] in ("people", "inhabitants", "residents")
    first, second = (
        (Half(f"{found[who]} {found['verb']} {{}} {found['of']}", _PEOPLE if people else COUNT),)
        for who in ("first", "second")
    )
    return Comparison(first, second, found["word"] == "more")


def _of_durations(text: str) -> Comparison | None:
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    second = found["second"]
    if second.endswith(("'s", "s'")) and (owned := _OF_AN_OWNER.fullmatch(found["first"])):
        second = f"{second} {owned[1]}"  # "Ada's reign lasted longer than Bo's"
    one, other = (
        (Half(f"{who} {found['verb']} for {{}}", "time"),) for who in (found["first"], second)
    )
    return Comparison(one, other, found["word"] == "longer")


def _of_distances(text: str) -> Comparison | None:
    found = _DISTANCE.fullmatch(text)
    if found is None:
        return None
    first, second = (
        (Half(f"{found['thing']} is {{}} from {found[side]}", "length"),)
        for side in ("first", "second")
    )
    return Comparison(first, second, found["word"] in ("farther", "further"))


def _of_dates(claim: Doc, text: str) -> Comparison | None:
    found = next((match for order in _ORDERS if (match := order.fullmatch(text))), None)
    subject = next((token for token in claim if _is_subject(token, "ROOT")), None)
    if found is None or subject is None:
        return None
    by = None
    if found.re is _ORDER and found["by"]:
        start, end = found.span("by")
        by = next((item for item in quantities(claim) if start <= item.start < end), None)
        if by is None or by.dimension != "time":
            return None
    second = _second_of_dates(claim, found, subject)
    if second is None:
        return None
    first = (Half(f"{_ALSO.sub('', found['first'])} {{}}", DATE),)
    return Comparison(first, second, found["word"].lower() in _LATER, by)


def _second_of_dates(claim: Doc, found: re.Match[str], subject: Token) -> Halves | None:
    """Return what follows "before" and its like as claims; None if that has numbers of its own.

    What is only a name stands for a statement like the first one ("earlier than Bo"), or for an
    event, which may take some time.
    """
    start, end = found.span("second")
    if dimensions(found["second"]):
        return None
    tokens = [token for token in claim if start <= token.idx < end]
    who = _words_in(found, subject)
    if any(_is_subject(token) for token in tokens):
        said = found["second"]
        if who and (pronoun := _PRONOUN.match(said)):
            said = f"{who}{'' if pronoun['one'] else chr(39) + 's'}{said[pronoun.end() :]}"
        return (Half(f"{said} {{}}", DATE),)
    said = re.sub(f"{_VERB_AGAIN}$", "", found["second"])
    texts = []
    if not any(token.ent_type_ == "PERSON" for token in tokens):
        ends = found["word"].lower() in _LATER
        texts += [f"{said} took place", f"{said} {'ended' if ends else 'began'}"]
    first = _ALSO.sub("", found["first"])
    thing = next((c for c in subject.head.children if c.dep_ in ("dobj", "obj", "attr")), None)
    for part in (who, _words_in(found, thing)):
        if part and part in first:
            texts.append(first.replace(part, said, 1))
    return tuple(Half(f"{text} {{}}", DATE) for text in texts)


def _is_subject(token: Token, of: str = "") -> bool:
    return token.dep_ in SUBJECTS and token.head.dep_.startswith(of)


def _words_in(found: re.Match[str], token: Token | None) -> str:
    """Return a word of the first half with all that depends on it there, "" if it is elsewhere."""
    start, end = found.span("first")
    inside = [one for one in token.subtree if start <= one.idx < end] if token else []
    if not inside:
        return ""
    return found.string[inside[0].idx : inside[-1].idx + len(inside[-1])]


_SHARE = 0.85  # of the weight of all pairs of values that must agree on the label
_ROUNDED = 0.01  # share by which a measurement may be wrong
_BEYOND = 0.25  # "more than 80" is taken to be at most 100
_SECONDS_A_DAY = 86400.0
_TO = re.compile(r" ?[\u2013-] ?| to | and ")
_HYPHENED = re.compile(r"-([a-z]{3,})$")
_PLURALS = {"foot": "feet", "inch": "inches", "century": "centuries"}
_WITH_YEAR = re.compile(r"\d{3}|BC|B\.C\.|century")


@dataclass(frozen=True, slots=True)
class Filling:
    """A quantity in its words, as a sentence has them."""

    quantity: Quantity
    words: str


@dataclass(frozen=True, slots=True)
class Filled:
    """A half with a filling of its gap from the sentence with the number ``place``.

    ``probability``: that the sentence supports it.
    """

    half: Half
    filling: Filling
    place: int
    probability: float

    @property
    def odds(self) -> float:
        """The odds that the sentence supports it."""
        return self.probability / (1.001 - self.probability)


def fillings(doc: Doc) -> Iterator[Filling]:
    """Yield the quantities of a sentence; a span of time as its first and its last date."""
    for item in quantities(doc):
        dates = _TO.split(item.said, maxsplit=1) if item.ends else []
        if item.ends and len(dates) == 2 and all(map(_WITH_YEAR.search, dates)):
            for end, words in zip(item.ends, dates, strict=True):
                yield Filling(replace(item, core=end, kind="exact", ends=None), words)
        else:
            words = item.said.replace(" and ", " to ") if item.kind == "range" else item.said
            # The unit of "six-decade" or "13-day", as it stands without a noun after it.
            yield Filling(
                item, _HYPHENED.sub(lambda unit: f" {_PLURALS.get(unit[1], f'{unit[1]}s')}", words)
            )


def filled(half: Half, filling: Filling) -> str:
    """Return a half as a claim, with the words of a quantity in its gap."""
    words = _at_date(filling) if half.dimension == DATE else filling.words
    return f"{half.text.format(words)}."


def _at_date(filling: Filling) -> str:
    """Return a date with its preposition: "in May 1901", "from 1901 to 1904"."""
    words = filling.words
    if filling.quantity.ends is not None:
        return f"from {words}"
    day = filling.quantity.core.high - filling.quantity.core.low == 1
    the = "" if words.lower().startswith("the ") else "the "
    return f"{'on' if day else 'in'} {the if re.search('century|s$', words) else ''}{words}"


def compared(
    claim: Comparison, first: Sequence[Filled], second: Sequence[Filled]
) -> tuple[Ruling, Filled, Filled] | None:
    """Return the ruling on a comparison and the two fillings that decide it; None if unsure.

    Each filling of ``first`` is compared with each of ``second``. The product of their odds is the
    weight of what they say, and nearly all of the weight must be on one label.
    """
    weights: dict[Label | None, float] = {}
    best: dict[Label | None, tuple[float, Filled, Filled]] = {}
    for one in first:
        for other in second:
            if one.half.dimension != other.half.dimension:
                continue
            label = _label(claim, one.filling.quantity, other.filling.quantity)
            weight = one.odds * other.odds
            weights[label] = weights.get(label, 0.0) + weight
            if label not in best or weight > best[label][0]:
                best[label] = weight, one, other
    label = max(weights, key=lambda one: weights[one], default=None)
    if label is None or weights[label] < _SHARE * sum(weights.values()):
        return None
    _, one, other = best[label]
    sure = one.probability * other.probability
    return Ruling(label, _reason(claim, one, other), sure), one, other


def _label(claim: Comparison, one: Quantity, other: Quantity) -> Label | None:
    """Return what two quantities say about the comparison; None if they are too close."""
    left, right = _value(one), _value(other)
    if not left.apart(right):
        return None
    if (left.low > right.low) != claim.more:
        return REFUTES
    if claim.by is None:
        return SUPPORTS
    between = _between(left, right)
    if between.apart(claim.by.reach):
        return REFUTES
    # "Two years" is a difference of two calendar years; "more than two" has to be certain.
    is_certain = claim.by.kind in ("exact", "about") or between.within(claim.by.core)
    return SUPPORTS if is_certain else None


def _value(item: Quantity) -> Interval:
    """Return the values that a quantity may have; those of a date are its days."""
    span = item.core
    if item.dimension == DATE:
        return span
    if item.kind in ("bound", "limit"):
        stated = min(abs(span.low), abs(span.high))
        least, most = stated * (1 - _BEYOND), stated * (1 + _BEYOND)
        span = Interval(max(span.low, least), min(span.high, most))
    return span.widened(_ROUNDED * min(abs(span.low), abs(span.high)))


def _between(one: Interval, other: Interval) -> Interval:
    """Return the time between two dates in seconds, unsure by half of the longer one."""
    apart = abs(one.low + one.high - other.low - other.high) / 2
    unsure = max(one.high - one.low, other.high - other.low) / 2
    return Interval((apart - unsure) * _SECONDS_A_DAY, (apart + unsure) * _SECONDS_A_DAY)


def _reason(claim: Comparison, one: Filled, other: Filled) -> str:
    """Return the sentence for people: "1926 is before 1935 (read as: Ada … 1926; Bo … 1935)."."""
    left, right = one.filling.quantity, other.filling.quantity
    read = "; ".join(filled(each.half, each.filling)[:-1] for each in (one, other))
    if left.dimension == DATE:
        order = "before" if left.core.low < right.core.low else "after"
        if claim.by is not None and claim.by.unit is not None:
            span, unit = _between(left.core, right.core), claim.by.unit
            apart = round((span.low + span.high) / 2 / unit.factor, 1)
            order = f"{apart:g} {unit.name} {order}"
        return f"{one.filling.words} is {order} {other.filling.words} (read as: {read})."
    high, low = (one, other) if _value(left).low > _value(right).low else (other, one)
    more, less = high.filling, low.filling
    shown = less.quantity.unit
    converted = ""
    if shown is not None and more.quantity.unit not in (None, shown):
        converted = f", or {_in_unit(more.quantity, shown)} {shown.name},"
    return f"{more.words}{converted} is more than {less.words} (read as: {read})."


def _in_unit(found: Quantity, unit: Unit) -> str:
    """Return a quantity in a unit, of four digits; the two ends of a range."""
    ends = _finite(found.core)
    if found.kind == "about":
        ends = [sum(ends) / 2]
    return " to ".join(dict.fromkeys(_number(unit.from_base(end)) for end in ends))


def _number(value: float) -> str:
    """Return a number with four digits, as people write it: 128.7, 5,895, 1,250,000."""
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 or rounded.is_integer() else f"{rounded:g}"


def _finite(span: Interval) -> list[float]:
    return [end for end in (span.low, span.high) if abs(end) != float("inf")]
