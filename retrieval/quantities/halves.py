"""Cuts a claim that compares two things into two halves, each with a gap for a quantity.

"Ada wrote Orn before she moved to Selm" has the halves "Ada wrote Orn …" and "Ada moved to Selm …",
both with a gap for a date. A verifier says which date of a sentence fills each gap
(``retrieval.stages.decide.comparison``), and arithmetic compares the two (``filled_halves``).
So the words of the claim need not be those of the sentences.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from retrieval.quantities.quantity import COUNT, DATE, Quantity
from retrieval.quantities.reading import dimensions, quantities
from retrieval.quantities.units import TEMPERATURE

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


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
    r"|that|him)\b|n't\b",
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
    return token.dep_ in ("nsubj", "nsubjpass") and token.head.dep_.startswith(of)


def _words_in(found: re.Match[str], token: Token | None) -> str:
    """Return a word of the first half with all that depends on it there, "" if it is elsewhere."""
    start, end = found.span("first")
    inside = [one for one in token.subtree if start <= one.idx < end] if token else []
    if not inside:
        return ""
    return found.string[inside[0].idx : inside[-1].idx + len(inside[-1])]
