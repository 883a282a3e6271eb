"""Puts fractions that a PDF shows as a number above another, with a line between, on one line.

Without that, one of the numbers would be lost: "6 ¾ men" would be read as "6 4 men".
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from retrieval.corpora.folder.letters import Letter
from retrieval.corpora.folder.rules import Rule

# These are parts of the size of the letters.
_LONGEST = 4  # line between the numbers
_BEYOND = 0.3  # how far the numbers may go beyond it
_ABOVE = -0.1, 0.7  # how high above it the foot of the upper number is
_BELOW = 0.5, 1.4  # how far below it the foot of the lower one is
_BESIDE = 0.1, 0.6  # how far below it the foot of the text is that the fraction stands in
_APART = 1.0  # how far from that text it is


def on_one_line(letters: Sequence[Letter], lines: Iterable[Rule]) -> list[Letter]:
    """Return the letters of a page with its fractions as "3/4", in the line that they stand in.

    Text beside a fraction stands at the height of its line. Beside a sum below the last number of
    a column there is none.
    """
    ordered = sorted(range(len(letters)), key=lambda at: letters[at].base)
    bases = [letters[at].base for at in ordered]
    largest = max((letter.size for letter in letters), default=0)
    fractions: dict[int, list[Letter]] = {}  # by the place of their first letter
    gone: set[int] = set()
    for line in lines:
        if line.right - line.left > _LONGEST * largest:
            continue
        first = bisect_left(bases, line.height - _BELOW[1] * largest)
        last = bisect_right(bases, line.height + _ABOVE[1] * largest)
        near = [at for at in ordered[first:last] if not letters[at].text.isspace()]
        upper = _numbers(letters, near, line, *_ABOVE)
        lower = _numbers(letters, near, line, -_BELOW[1], -_BELOW[0])
        if not upper or not lower or not gone.isdisjoint(upper + lower):
            continue
        before = _beside((letters[at] for at in near), line, to_the_left=True)
        after = _beside((letters[at] for at in near), line, to_the_left=False)
        text = before or after
        if text and letters[lower[0]].base < text.base < letters[upper[0]].base:
            over = "".join(letters[at].text for at in upper)
            under = "".join(letters[at].text for at in lower)
            left = " " if before and before.text.isalnum() else ""
            right = " " if after and after.text.isalnum() else ""
            fractions[min(upper + lower)] = _spread(f"{left}{over}/{under}{right}", line, text)
            gone.update(upper + lower)
    return [
        letter
        for at, one in enumerate(letters)
        for letter in fractions.get(at, [] if at in gone else [one])
    ]


def _numbers(
    letters: Sequence[Letter], near: Iterable[int], line: Rule, lowest: float, highest: float
) -> list[int]:
    """Return which letters are the digits above or below a line, from left to right.

    There are none if anything else stands there.
    """
    width = line.right - line.left
    found = [
        at
        for at in near
        if width < _LONGEST * (one := letters[at]).size
        and lowest <= (one.base - line.height) / one.size <= highest
        and line.left - _BEYOND * one.size < one.left
        and one.right < line.right + _BEYOND * one.size
    ]
    digits = all(letters[at].text.isdecimal() for at in found)
    return sorted(found, key=lambda at: letters[at].left) if digits else []


def _beside(letters: Iterable[Letter], line: Rule, to_the_left: bool) -> Letter | None:
    """Return the letter of the text next to a fraction on one side, if there is one."""
    near = []
    for one in letters:
        away = line.left - one.right if to_the_left else one.left - line.right
        low = (line.height - one.base) / one.size
        if _BESIDE[0] <= low <= _BESIDE[1] and -_BEYOND < away / one.size < _APART:
            near.append((away, one))
    return min(near)[1] if near else None


def _spread(text: str, line: Rule, beside: Letter) -> list[Letter]:
    """Return the letters of a text, side by side in the place of a line."""
    step = (line.right - line.left) / len(text)
    return [
        Letter(
            letter,
            line.left + at * step,
            line.left + (at + 1) * step,
            beside.base,
            beside.size,
        )
        for at, letter in enumerate(text)
    ]
