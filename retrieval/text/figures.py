"""Numbers of a claim and its evidence in one writing, for the networks that read them.

The networks know a number as a word: they take "2 600 000" or "2.6m" in a text for another number
than "2.6 million" in a claim, and "a third" for "3 percent". So both are written alike before they
are read. What a number means there is left to the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

# Those of four digits may be years up to 2099. Not parts of dates, codes and decimals.
_UNGROUPED = re.compile(r"(?<![\w.,/-])(?:[1-9]\d{4,11}|(?:2[1-9]|[3-9]\d)\d\d)(?![\w/-])")
# As tables in most of Europe have it: "1410,5", "2,75"; not the groups of "1,410".
_DECIMAL_COMMA = re.compile(r"(?<![\w.,/-])(\d+),(\d\d?)(?![\w/-]|[.,]\d)")

_COUNTED = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty"
)
_SMALL = {name: Decimal(number) for number, name in enumerate(_COUNTED.split(), 1)}
_SMALL |= {"thirty": Decimal(30), "forty": Decimal(40), "fifty": Decimal(50), "a": Decimal(1)}
_SMALL |= {"half a": Decimal("0.5"), "a quarter of a": Decimal("0.25")}
_SMALL |= {f"three{join}quarters of a": Decimal("0.75") for join in " -"}
_WORDS = {"thousand": 3, "lakh": 5, "million": 6, "crore": 7, "billion": 9, "trillion": 12}
_POWERS = _WORDS | {"k": 3, "m": 6, "mn": 6, "mln": 6, "bn": 9, "tn": 12}  # of ten
_LEAST = 10_000  # a smaller number in digits is written in the same way nearly everywhere


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_THIN = "\u00a0\u2009\u202f"  # spaces at which no line ends
_LARGE = re.compile(
    rf"""(?<![\w.,'’/-])(?:
    (?P<digits>\d{{1,3}}(?:[,'’]\d{{3}})+(?:\.\d+)? | \d{{1,3}}(?:\.\d{{3}}){{2,}}
    | \d{{1,3}}(?:[ ]\d{{3}}){{2,}} | \d{{1,3}}(?:[{_THIN}]\d{{3}})+ | \d+(?:\.\d+)?)
    (?:[ {_THIN}-]?(?P<word>{_any_of(_WORDS)}) | (?P<short>k|m|mn|mln|bn|tn))?
    | (?P<small>{_any_of(_SMALL)})(?P<half>[ ]and[ ]a[ ]half)?[ ](?P<of>{_any_of(_WORDS)})
    )\b(?![.,'’]\d|[ ](?:{_any_of(_WORDS)})\b)""",  # noqa: RUF001 - the apostrophe is meant
    re.IGNORECASE | re.VERBOSE,
)

_PERCENT = re.compile(r"%|\bper ?cent\b", re.IGNORECASE)
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_FRACTION = re.compile(
    rf"""\b(?:(?:(?P<parts>{_any_of(_SMALL)})[ -])?
    (?<!\bin[ ])(?<!first[ ])(?<!second[ ])(?<!other[ ])(?P<part>{_any_of(_PARTS)})s?
    (?=[ ](?:of|in)\b|[.,;]|$)
    | (?P<some>{_any_of(_SMALL)}|\d\d?)[ ](?:out[ ]of|in)[ ](?:every[ ])?
      (?P<all>{_any_of(_SMALL)}|\d\d?|100)(?:[ ]of)?)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_TIMES = {
    "doubled": "rose by 100 percent",
    "tripled": "rose by 200 percent",
    "quadrupled": "rose by 300 percent",
    "halved": "fell by 50 percent",
}
_TIMES_WORD = re.compile(rf"\b(?:{_any_of(_TIMES)})\b")


def written_alike(claim: str, evidence: str) -> tuple[str, str]:
    """Return a claim and its evidence with their numbers in one writing.

    Large numbers as in the claim ("2.6 million" or "2,600,000") where both have some, and fractions
    in percent where only the other text has percent.
    """
    claim, evidence = grouped(claim), grouped(evidence)
    if (large := [*_large(claim)]) and any(_large(evidence)):
        scaled = any(_is_scaled(found) for found, _ in large)
        claim, evidence = _rewritten(claim, scaled), _rewritten(evidence, scaled)
    if _PERCENT.search(claim):
        return claim, evidence if _PERCENT.search(evidence) else _in_percent(evidence)
    return _in_percent(claim) if _PERCENT.search(evidence) else claim, evidence


def grouped(text: str) -> str:
    """Return a text with 14,000 for "14000", and 7.5 for "7,5", as all models read it."""
    return _UNGROUPED.sub(lambda found: f"{int(found[0]):,}", _DECIMAL_COMMA.sub(r"\1.\2", text))


def _large(text: str) -> Iterator[tuple[re.Match[str], Decimal]]:
    for found in _LARGE.finditer(text):
        value = _value(found)
        if value >= _LEAST:
            yield found, value


def _is_scaled(found: re.Match[str]) -> bool:
    return bool(found["word"] or found["short"] or found["of"])


def _value(found: re.Match[str]) -> Decimal:
    if found["small"]:
        half = Decimal("0.5") if found["half"] else 0
        return (_SMALL[found["small"].lower()] + half).scaleb(_WORDS[found["of"].lower()])
    digits = re.sub(r"[^\d.]", "", found["digits"])
    digits = digits.replace(".", "") if digits.count(".") > 1 else digits
    scale = found["word"] or found["short"]
    return Decimal(digits).scaleb(_POWERS[scale.lower()] if scale else 0)


def _rewritten(text: str, scaled: bool) -> str:
    parts, at = list[str](), 0
    for found, value in _large(text):
        parts += [text[at : found.start()], _number(value, scaled)]
        at = found.end()
    return "".join([*parts, text[at:]])


def _number(value: Decimal, scaled: bool) -> str:
    for name in ("trillion", "billion", "million") if scaled else ():
        if value >= 10 ** _WORDS[name]:
            return f"{value.scaleb(-_WORDS[name]).normalize():f} {name}"
    return f"{value.normalize():,f}"


def _in_percent(text: str) -> str:
    return _TIMES_WORD.sub(lambda found: _TIMES[found[0]], _FRACTION.sub(_percent, text))


def _percent(found: re.Match[str]) -> str:
    if found["part"]:
        parts = _SMALL[(found["parts"] or "a").lower()]
        whole, after = Decimal(_PARTS[found["part"].lower()]), ""
    else:
        parts, whole = (_count(found[name]) for name in ("some", "all"))
        after = " of"
    if not 0 < parts < whole:
        return found[0]
    share = 100 * parts / whole
    return f"{share if share == round(share, 1) else round(share):g} percent{after}"


def _count(number: str) -> Decimal:
    return Decimal(number) if number.isdecimal() else _SMALL[number.lower()]
