"""Writes a number as the format of its cell shows it: 12%, $320, 45.6 million, 00123."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|\[[^\]]*\]|_.|\*."  # a colour or a condition, a space, a filling
    r"|(?P<digits>General|[#0?][#0?,.]*)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_SHOWN = set("$€£¥%+-() '!&~<>=^{}")  # characters that need no quotes


class _Section(NamedTuple):
    """A format of numbers: what stands around the digits, and their own part of it.

    ``digits``: "" if the format shows no number, ``None`` if it is one of fractions, powers or
    dates, which are not known here. ``percent``: whether it shows hundredths.
    """

    before: str = ""
    digits: str | None = ""
    after: str = ""
    percent: bool = False


def shown_number(value: float, form: str) -> str:
    """Return a number with the sign, the unit and the zeros that its format gives it.

    Digits that the format rounds away are kept, except in percentages. A number that the format
    hides is "".
    """
    sections = _sections(form) if form else (_Section(digits="General"),)
    at = 1 if value < 0 and len(sections) > 1 else 2 if value == 0 and len(sections) > 2 else 0
    before, digits, after, percent = sections[at]
    number = Decimal(format(value, ".15g"))  # a spreadsheet computes with 15 digits
    if digits is None:
        return _plain(number)
    if not digits:
        return (before + after).strip()
    if percent:
        decimals = len(digits.partition(".")[2])
        number = (number * 100).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
        number = number.normalize() if digits.endswith("#") else number
    scale = len(digits) - len(digits.rstrip(","))
    number /= 1000**scale
    minus = "-" if number < 0 else ""
    whole, point, rest = _plain(abs(number), "," in digits[: len(digits) - scale]).partition(".")
    if digits[0] == "0" and "," not in digits:
        whole = whole.zfill(digits.partition(".")[0].count("0"))
    if minus:  # in brackets, or with a sign of the format
        before, after = before.replace("(", "").replace("-", ""), after.replace(")", "")
    return f"{minus}{before}{whole}{point}{rest}{after}".strip()


def _plain(number: Decimal, grouped: bool = False) -> str:
    """Return the digits of a number; one that is very small or large has an exponent."""
    if number and not -10 < number.adjusted() < 20:
        return f"{number.normalize():e}"
    return f"{number:,f}" if grouped else f"{number:f}"


@lru_cache(maxsize=1000)
def _sections(form: str) -> tuple[_Section, ...]:
    """Return the formats of positive numbers, of negative ones and of zero; one may be all."""
    sections = [_Section()]
    for found in _TOKEN.finditer(form):
        last = sections[-1]
        other = found["other"] or ""
        literal = (found["quoted"] or found["escaped"] or found["currency"] or "") + other
        if other == "%":
            last = last._replace(percent=True)
        if other == ";":
            sections.append(_Section())
            continue
        if found["digits"]:
            # A second group of digits is that of a fraction or a power.
            known = not last.digits and last.digits is not None
            last = last._replace(digits=found["digits"] if known else None, after="")
        elif other and other not in _SHOWN:
            last = last._replace(digits=None)
        elif last.digits:
            last = last._replace(after=last.after + literal)
        else:
            last = last._replace(before=last.before + literal)
        sections[-1] = last
    return tuple(sections)
