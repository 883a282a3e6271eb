"""Numbers in English texts, in digits and in words: "1.5 million", "10⁶", "three thousand".

Number words are read by text2num. What is not certainly a number is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from text_to_num import text2num

_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SCALE = "|".join(_SCALES)
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_FROM_RAISED = str.maketrans(_RAISED, "0123456789-")
_SMALL = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
)
_ANY_SMALL = _SMALL.replace(" ", "|")
_WORD = f"{_ANY_SMALL}|one|hundred|{'|'.join(_SCALES)}"
# Not of a range: "98-100 ft", "1914 -1918".
_MINUS = r"(?<![^\s(\[\"\u201c])(?<!\d\s)(?P<minus>[-\u2212])(?=\d)"
_NUMBER = re.compile(
    rf"(?:{_MINUS}|(?<![\w.,/\u2019'-]))(?:(?:(?P<factor>\d+(?:\.\d+)?)[ \u00a0]?[×x][ \u00a0]?)?"  # noqa: RUF001
    rf"10(?P<power>⁻?[{_RAISED[:-1]}]{{1,2}})(?!\w)"
    rf"|(?P<pairs>an?|(?:a )?single|one|{_ANY_SMALL}|\d{{1,2}}) pairs? of\b"
    rf"|(?P<digits>{_DIGITS})(?:[ \u00a0-](?P<scale>{_SCALE})\b)?"
    rf"(?P<note>[{_RAISED[:-1]}]{{1,2}})?(?!\w|[.,/-]\d)"
    r"|(?P<dozens>a|two|three|four|five|six) dozen\b"
    r"|(?P<one>(?<=than )an?|(?<=over )an?|(?<=least )an?|(?<=about )an?)(?= )"
    r"|(?P<part>half an?)(?: (?P<whole>million|billion|dozen))?\b"
    rf"|(?:an? (?={_SCALE}|hundred))?(?P<words>(?:{_WORD})(?:(?:[ -]| and )(?:{_WORD}))*)\b"
    r"(?!-\w*th\b)(?P<half> and a half(?: (?P<of>million|billion|thousand))?)?)",
    re.IGNORECASE,
)
_VAGUE = re.compile(r"(?:several|many|a few|hundreds of) $", re.IGNORECASE)
_FRACTION = re.compile(
    r"[ -](?:half|halves|thirds?|quarters?|fifths?|sixths?|tenths?)\b"
    rf"|(?: out of| in) (?:{_ANY_SMALL}|\d{{1,3}})\b"
)
_CURRENCY = re.compile(r"[$€£¥] ?$")
_LEAST_NOTED = 3  # digits of a number before a footnote's sign; "12²" is 144
_POSSESSIVE = re.compile(r"(?:[ -]+[A-Z]\w+)*['’]")  # noqa: RUF001
_NAMED = re.compile(r"(?:[ -]+[A-Z]\w+)")  # "the Thirty Years' War"
_TOO_LARGE = Decimal("1e250")  # so that it is still finite in any unit
_EXACT_BELOW = 100  # an integer below it is hardly ever rounded


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number at ``text[start:end]``; ``step`` is the unit that it may be rounded to."""

    start: int
    end: int
    value: float
    step: float


def numerals(text: str) -> Iterator[Numeral]:
    """Yield the numbers of a text in their order.

    The word "one" alone is left out, since it is mostly a pronoun, and so are ordinals, fractions,
    "several hundred" and number words in a name. A raised digit after a price or a longer number is
    the sign of a footnote. "Three pairs of" is 6.
    """
    for found in _NUMBER.finditer(text):
        if _VAGUE.search(text, 0, found.start()) or _FRACTION.match(text, found.end()):
            continue
        if _is_power(text, found) or _is_in_name(text, found):
            continue
        value = _value(found)
        if value is not None and value < _TOO_LARGE:
            value = -value if found["minus"] else value
            end = found.start("note") if found["note"] else found.end()
            yield Numeral(found.start(), end, float(value), _step(value))


def _is_power(text: str, found: re.Match[str]) -> bool:
    """Return whether a raised digit after a number may be its power, not a footnote's sign."""
    return bool(found["note"]) and not (
        sum(map(str.isdecimal, found["digits"])) >= _LEAST_NOTED
        or _CURRENCY.search(text, max(0, found.start() - 2), found.start())
    )


def _is_in_name(text: str, found: re.Match[str]) -> bool:
    """Return whether a number in words belongs to a name."""
    words, before = found["words"], text[: found.start()].rstrip()
    if not words or not words.istitle() or _NAMED.match(text, found.end()) is None:
        return False
    # The first word of a sentence has a capital anyway: "Five Americans", but "Seven Years' War".
    is_first = not before or before[-1] in ".!?"
    return not is_first or _POSSESSIVE.match(text, found.end()) is not None


def _value(found: re.Match[str]) -> Decimal | None:
    if found["power"]:
        power = int(found["power"].translate(_FROM_RAISED))
        return Decimal(found["factor"] or 1).scaleb(power)
    if found["digits"]:
        return Decimal(found["digits"].replace(",", "")) * _SCALES.get(
            (found["scale"] or "").lower(), 1
        )
    if found["pairs"]:
        word = found["pairs"].lower()
        alone = word.endswith(("a", "an", "one", "single"))
        return Decimal(2 * (1 if alone else int(word) if word.isdecimal() else _in_words(word)))
    if found["dozens"]:
        return Decimal(12 * (1 if found["dozens"].lower() == "a" else _in_words(found["dozens"])))
    if found["one"]:
        return Decimal(1)
    if found["part"]:
        whole = (found["whole"] or "").lower()
        return Decimal("0.5") * (12 if whole == "dozen" else _SCALES.get(whole, 1))
    words = found["words"].lower()
    if words == "one" and not found["half"]:
        return None
    try:
        value = Decimal(_in_words(words))
    except ValueError:  # two numbers in a row
        return None
    half = Decimal("0.5") if found["half"] else Decimal(0)
    return (value + half) * _SCALES.get((found["of"] or "").lower(), 1)


def _in_words(words: str) -> int:
    return int(text2num(words, "en"))


def _step(value: Decimal) -> float:
    if value == value.to_integral_value() and abs(value) < _EXACT_BELOW:
        return 1.0
    *_, exponent = value.normalize().as_tuple()
    assert isinstance(exponent, int), "it is finite"
    return float(10.0**exponent)
