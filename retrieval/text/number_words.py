"""Number words as digits: "nineteen thirty-one" is 1931, "three hundred and five" is 305.

Kept as they are: numbers up to ten, which texts write as words too ("one of the", "nine in ten"),
words with a capital, which belong to a name or a title, and quoted words. Libraries for this read
years as two numbers and "no one" as "no 1".
"""

from __future__ import annotations

import re


def _words(text: str) -> list[str]:
    return text.split()


_UNITS = _words("one two three four five six seven eight nine")
_TEENS = _words("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
_TENS = _words("twenty thirty forty fifty sixty seventy eighty ninety")
_VALUES = {
    **{word: value for value, word in enumerate([*_UNITS, *_TEENS], 1)},
    **{word: value for value, word in zip(range(20, 100, 10), _TENS, strict=True)},
    "a": 1,
}
_HUNDRED, _THOUSAND = "hundred", "thousand"
_WITH_COMMA = 10_000  # smaller numbers may be years


def _any(words: list[str]) -> str:
    return f"(?:{'|'.join(words)})"


_UNDER_100 = rf"(?:{_any(_TENS)}(?:[- ]{_any(_UNITS)})?|{_any(_TEENS)}|{_any(_UNITS)})"
_AND_MORE = rf"(?: (?:and )?{_UNDER_100})?"
_HUNDREDS = rf"(?:a|{_UNDER_100}) {_HUNDRED}{_AND_MORE}"
_THOUSANDS = rf"(?:{_HUNDREDS}|a|{_UNDER_100}) {_THOUSAND}(?: {_HUNDREDS}|{_AND_MORE})"
_CENTURY = _any([*_TEENS, "twenty"])
_YEAR = (
    rf"(?P<century>{_CENTURY})[- ]"
    rf"(?P<rest>oh[- ]{_any(_UNITS)}|{_any(_TENS)}(?:[- ]{_any(_UNITS)})?|{_any(_TEENS)})"
)
_NUMBER = re.compile(
    r"[\"“][^\"”]*[\"”]"  # quoted words, kept as they are
    rf"|(?<![\w-])(?P<number>{_YEAR}|{_THOUSANDS}|{_HUNDREDS}|{_UNDER_100})"
    r"(?![\w-])(?! \w*ties\b)"  # not of "twelve-year-old" or of "nineteen thirties"
)
_CAPITAL_OF_THE_SENTENCE = re.compile(rf"(?i:{_any(_TEENS + _TENS)})(?=[- ][a-z])")


def with_digits(text: str) -> str:
    """Return the text with its number words as digits."""
    if _CAPITAL_OF_THE_SENTENCE.match(text):
        replaced = _NUMBER.sub(_digits, text[0].lower() + text[1:])
        return text[0] + replaced[1:] if replaced[0].isalpha() else replaced
    return _NUMBER.sub(_digits, text)


def _digits(found: re.Match[str]) -> str:
    words = found["number"]
    if words is None or words in (*_UNITS, "ten", f"a {_HUNDRED}", f"a {_THOUSAND}"):
        return found[0]
    if found["century"]:
        return str(100 * _value(found["century"]) + _value(found["rest"]))
    value = _value(words)
    return f"{value:,}" if value >= _WITH_COMMA else str(value)


def _value(words: str) -> int:
    """Return the number that the words of one number add up to."""
    thousands = group = 0
    for word in re.findall(r"[a-z]+", words):
        if word == _HUNDRED:
            group *= 100
        elif word == _THOUSAND:
            thousands, group = 1000 * group, 0
        else:
            group += _VALUES.get(word, 0)  # "and", "oh"
    return thousands + group
