"""Decides how text that is set above the line is read: 10⁶, km², x^k, 19th, or the mark of a note.

Without that, "10<sup>6</sup>" would be read as 106, and "$320<sup>1</sup>" as $3201. Readers put
``marked`` texts into their lines and pass each whole line to ``unmarked``: only what stands before
and after shows what a raised "2" is. In doubt it stays raised, which changes no number. ``lowered``
text is written on the line (H2O); only beside digits it stays below it: 101₂ is not 1012.
"""

from __future__ import annotations

import re

from retrieval.text.sentence_splitter import is_abbreviation

# Stand around a text that is set above its line; no text has such characters, while those for
# private use are the pictures of some fonts.
BEGIN, END = "\ufdd0", "\ufdd1"
# The same for a text that is set below its line.
_LOW, _LOW_END = "\ufdd2", "\ufdd3"
_LOWERED = re.compile(f"([\\d{END}]?){_LOW}([^{_LOW}{_LOW_END}]*){_LOW_END}(?=(\\d?))")
_INNERMOST = re.compile(f"{BEGIN}([^{BEGIN}{END}]*){END}")
_BORDER = re.compile(f"[{BEGIN}{END}]")
_DEEPEST = 3  # raised text in raised text
_BEFORE, _AFTER = 64, 16  # characters around it that are looked at

_PLAIN = "0123456789+-\N{MINUS SIGN}\N{EN DASH}=()ni"
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱ"
_UP = str.maketrans(_PLAIN, _RAISED)
_DOWN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾", "0123456789+\N{MINUS SIGN}()")
_BELOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_TYPED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾]+")
_SIMPLE = re.compile(r"[A-Za-z0-9.,]+")

# Marks of notes: [1], [note 2], 1, 2-4, (3), a, b, *, 1*.
_IN_BRACKETS = re.compile(r"(?:\[[^\[\]]{0,40}\][\s,;–-]*)+")  # noqa: RUF001
_SIGNS = r"[*∗†‡§¶‖#]{1,3}"  # noqa: RUF001
_ONE = rf"(?:[1-9]\d{{0,2}}{_SIGNS}|[1-9]\d{{0,2}}[a-z]?|[a-z]|{_SIGNS})"
_BESIDE_OTHERS = re.compile(
    rf"(?<={END}){BEGIN}\s*(?:\[[^\[\]]{{0,40}}\]\s*)+{END}"
    rf"|{BEGIN}\s*(?:\[[^\[\]]{{0,40}}\]\s*)+{END}(?={BEGIN})"
)
_NOTE = re.compile(rf"\(?{_ONE}(?:\s?[,;–-]\s?{_ONE})*,?\)?")  # noqa: RUF001

_SLASH = "\N{FRACTION SLASH}"
_DENOMINATOR = re.compile(rf"{_SLASH}\s?[\d₀-₉]|/[₀-₉]")
_DENOMINATOR_TOO = re.compile(r"/\d")
_CHARGE = re.compile(r"[+−–-][\d.]*|\d[+−-]")  # noqa: RUF001 - also an exponent below zero
_ELEMENT = re.compile(r"[₀-₉]*[A-Z][a-z]?(?![a-z])")  # after the number of an isotope: ¹⁴C
_OPERATORS = "=×·⋅÷^+−<>≈≤≥"  # noqa: RUF001
_AFTER_OPERATOR = re.compile(rf"[{_OPERATORS}/]\s?(?:\d+|[^\W\d_]{{1,3}})$")
_BEFORE_OPERATOR = re.compile(rf"\s?[{_OPERATORS}]")
_TEN = re.compile(r"(?:(?<![\d.,$€£¥])(?:2|10\s?)|[×x·⋅*]\s?10\s?)$")  # noqa: RUF001
_PRICE = re.compile(r"[$€£]\s?\d{1,4}$")  # before raised cents
_DEGREES = re.compile(r"\s?[CFNSEW]\b")
_LETTERS = re.compile(r"[^\W\d_]+$")
# Not the s of "Ann's"; also x1 and x_1.
_VARIABLE = re.compile(r"(?<![^\W\d_])(?<!['’.])(?:[^\W\d_](?:_\d{1,2})?|[a-z]\d)$")  # noqa: RUF001
_NUMBER_AND_WORD = re.compile(r"\d\s?[^\W\d_]{1,4}$")  # "15 kpc", and "15 men", in doubt
_LENGTH = re.compile(
    r"(?:[kcdmnµμ]m|ft|mi|yd|kg|Hz|(?:kilo|centi|milli)?met(?:er|re)s?|feet|foot|inch(?:es)?"
    r"|miles?|yards?|sec)$"
)
_AREA_AND_NOTE = re.compile(r"[23][1-9]\d?")  # km² with the mark of note 3
_UNIT_OF_AREA = re.compile(r"(?:(?<![^\W\d_])m|[kcdm]m|ft|mi|yd)$")
_TERM = re.compile(r"\((?!\d*\))(?:(?![^\W\d_]{2})[^()])*\)$")  # (x + 1), but not (see below)
_ORDINAL = re.compile(r"st|nd|rd|th|er")
_SIGNS_OF_TRADE = {"TM": "™", "SM": "℠"}
_OPERANDS = frozenset("nxkmitpTN")  # letters that are exponents rather than notes

# A letter with a stroke through it strikes out its whole word: "12\u0336 15".
_STRUCK = re.compile(r"[^\s\u0335\u0336]*[\u0335\u0336][^\s.,;:!?]*\s?")

_TYPED_BRACKETS = re.compile(r"(?<=[.,;:!?)\]\"”’])(?:\[\d{1,3}\])+")  # noqa: RUF001
_TYPED_AT_END = re.compile(
    r"\b([a-z]{3,20})([\"”’)]?[.!?][\"”’)]?)([1-9]\d?(?:[,–-][1-9]\d?)*)(?=\s+[A-Z“\"]|\s*$)"  # noqa: RUF001
)


def marked(text: str) -> str:
    """Return a text that is set above its line, as ``unmarked`` knows it within the line."""
    return f"{BEGIN}{text}{END}"


def lowered(text: str) -> str:
    """Return a text that is set below its line, as ``unmarked`` knows it within the line."""
    return f"{_LOW}{text}{_LOW_END}"


def unmarked(line: str) -> str:
    """Return a line with its raised texts in plain characters, and without the marks of notes.

    Args:
        line: a whole line or paragraph with the ``marked`` texts in it. ``marked`` texts that touch
            are one, and each may contain others. Characters such as "²" count as marked.

    An exponent, a charge or the number of an isotope stays raised (10⁶, km², Fe²⁺, ¹⁴C, e^x), the
    numerator of a fraction comes down (6 1/2), an ordinal or an abbreviation is completed (19th,
    McLee), a note's mark after a word, a number or a sentence goes ("$320", "percent."), and
    anything else has a space before it. Marks of notes that are typed on the line go where they
    follow the mark of a sentence: "old.[1]", "percent.3 The". Words with a stroke go, too.
    """
    if "\u0336" in line or "\u0335" in line:
        line = _STRUCK.sub("", line)
    if _LOW in line:
        line = _LOWERED.sub(_on_the_line, line)
    line = _TYPED.sub(lambda found: marked(found[0].translate(_DOWN)), line)
    if BEGIN in line:
        line = _BESIDE_OTHERS.sub("", line).replace(END + BEGIN, "")
        for _ in range(_DEEPEST):
            line = _INNERMOST.sub(_unmarked, line)
        line = _BORDER.sub("", line)
    line = _TYPED_BRACKETS.sub("", line)
    return _TYPED_AT_END.sub(
        lambda found: found[0] if is_abbreviation(found[1]) else found[1] + found[2], line
    )


def _on_the_line(found: re.Match[str]) -> str:
    """Return a text that was below the line; a number beside another stays there."""
    before, text, after = found.groups()
    if text.isdecimal():
        return before + (text.translate(_BELOW) if before or after else text)
    left = " " if before and text[:1].isdecimal() else ""
    return f"{before}{left}{text}{' ' if after and text[-1:].isdecimal() else ''}"


def exponent(text: str) -> str:
    """Return an exponent in plain characters: ² or ^k or ^(a/b)."""
    if text in {"n", "i"} or (set(text) <= set(_PLAIN) and not text.isalpha()):
        return text.translate(_UP)
    return f"^{text}" if _SIMPLE.fullmatch(text) else f"^({text})"


def _unmarked(found: re.Match[str]) -> str:
    whole, start, end = found.string, found.start(), found.end()
    before = _BORDER.split(whole[max(0, start - _BEFORE) : start])[-1]
    after = _BORDER.split(whole[end : end + _AFTER])[0]
    text = " ".join(found[1].split())
    read = _read(text, before, after) if text else ""
    if not read and after[:1].isalnum() and before[-1:].strip():
        return " "  # the mark stood between two words
    left = " " if found[1][:1].isspace() else ""
    return f"{left}{read}{' ' if found[1][-1:].isspace() else ''}"


def _read(text: str, before: str, after: str) -> str:
    """Return what stands for a raised text, "" for the mark of a note."""
    if _IN_BRACKETS.fullmatch(text):
        return ""
    if text in {"o", "0"} and before[-1:].isdigit() and _DEGREES.match(after):
        return "°"
    over = _DENOMINATOR_TOO.match(after) and (not before or before[-1] in "0123456789 (")
    if text.isdigit() and (over or _DENOMINATOR.match(after)):  # of a fraction
        return f" {text}" if before[-1:].isdigit() else text
    if text.isalpha() and text.isascii():
        return _letters(text, before, after)
    if not any(map(str.isalnum, text)):
        is_note = _NOTE.fullmatch(text) and not _VARIABLE.search(before)
        return "" if is_note else text.translate(_UP) if text in _PLAIN else text
    if _AREA_AND_NOTE.fullmatch(text) and _UNIT_OF_AREA.search(before):
        return exponent(text[0])
    if _is_exponent(text, before, after):
        return exponent(text)
    if _NOTE.fullmatch(text):
        return ""
    return f" {text}" if before[-1:].isalnum() else text


def _letters(text: str, before: str, after: str) -> str:
    """Return what stands for raised letters: part of a word, an exponent, a note or a word."""
    if text in _SIGNS_OF_TRADE:
        return _SIGNS_OF_TRADE[text]
    if before[-1:].isdigit():
        if _ORDINAL.fullmatch(text):
            return text
        if text in _OPERANDS:
            return exponent(text)
    word = _LETTERS.search(before)
    letters = len(word[0]) if word else 0
    if letters == 1 and _VARIABLE.search(before) and text != "th":
        abbreviated = before[-1:].isupper() and text.islower()
        if not abbreviated or (text in _OPERANDS and not after[:1].isalpha()):
            return exponent(text)
    if letters == 1 or (letters and letters <= 3 and len(text) > 1):
        return text  # "McLee", "Mme"
    if len(text) == 1 and before:
        return ""
    return f" {text}" if before[-1:].isalnum() else text


def _is_exponent(text: str, before: str, after: str) -> bool:
    """Return whether a raised number has a base; a number without one is a note's."""
    if _CHARGE.fullmatch(text) or _TEN.search(before):
        return True
    if not before or before[-1] in " (":
        return bool(_ELEMENT.match(after))
    if _AFTER_OPERATOR.search(before) or _BEFORE_OPERATOR.match(after):
        return before[-1].isalnum() or before[-1] == ")"
    if len(text) == 2 and _PRICE.search(before):
        return True
    if _VARIABLE.search(before) or _LENGTH.search(before) or _TERM.search(before):
        return True
    return text in {"2", "3"} and bool(_NUMBER_AND_WORD.search(before))
