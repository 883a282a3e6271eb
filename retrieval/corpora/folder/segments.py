"""Joins the letters of a page to segments: words that stand near each other on one line."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from retrieval.corpora.folder.letters import PRIVATE, UNKNOWN, Letter
from retrieval.corpora.superscripts import lowered, marked, unmarked

# All of these are parts of the size of the letters.
APART = 0.75  # a space that may be one between columns; a space of a typewriter is 0.6
_SPACE = 0.17  # a space between words; kerning is less
_THIN = 0.14  # a space after the comma of a list: 1, 2
_OVERLAP = 0.3  # from which on texts are printed over each other, and do not continue
_SAME_LINE = 0.15  # difference of height
_SMALLER = 0.87  # the size of letters above or below the line
_RAISED = 0.15, 0.7  # how much higher they stand
_LOWERED = 0.05, 0.5
_NEAR = 0.35  # how near to a word they stand
_SPACED = 0.05  # the usual space between the letters of a text that is spaced out
_TOUCHES = 0.1  # how near to a word numbers of its size stand that are above its line
_RISEN = re.compile(r"\s*[+−–-]?\d{1,3}\s*")  # noqa: RUF001
_COMMAS = (",", ";")
_THIN_SPACE = "\N{THIN SPACE}"
_IN_NUMBER = re.compile(rf"(?<=\d,){_THIN_SPACE}(?=\d{{3}}(?!\d))")  # 2,700
_LONGEST_RAISED = 24  # characters
# Characters that only their font knows, but not one that begins a line alone, as bullets do.
_IN_WORD = re.compile(rf"(?<=.){PRIVATE}+|{PRIVATE}+(?=[^\W_])|{PRIVATE}{{2,}}")
_HEBREW_OR_ARABIC = "\u0590-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
_RIGHT_TO_LEFT = re.compile(
    rf"([{_HEBREW_OR_ARABIC}](?:[{_HEBREW_OR_ARABIC}\s'\"]*[{_HEBREW_OR_ARABIC}])?)"
)
_LEAST_SPACED = 8  # letters of a text that show whether it is spaced out


@dataclass(frozen=True, slots=True)
class Segment:
    """Words on a line; lengths in points.

    ``base`` is the height of the line's foot, which grows upwards.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    bold: bool = False


def segments(letters: Sequence[Letter]) -> list[Segment]:
    """Return the segments of a page from top to bottom, and from left to right."""
    drawn = _runs(letters)
    usual = _usual_gaps(drawn)
    runs = _placed(_once([_run(run, usual[_line(run)]) for run in drawn]))
    found: list[Segment] = []
    for line in rows(runs):
        for one in line:
            before = found[-1] if found else None
            gap = (one.left - before.right) / max(before.size, one.size) if before else 0
            if before and -_OVERLAP < gap < APART and before.base == line[0].base:
                text = f"{before.text}{' ' if gap > _SPACE else ''}{one.text}"
                right, size = max(before.right, one.right), max(before.size, one.size)
                bold = before.bold and one.bold
                found[-1] = replace(before, text=text, right=right, size=size, bold=bold)
            else:
                found.append(replace(one, base=line[0].base))
    shown = (replace(one, text=logical(" ".join(unmarked(one.text).split()))) for one in found)
    return [one for one in shown if one.text]


def logical(text: str) -> str:
    """Return a text in the order of reading, whose letters stand in the order from left to right.

    Words in Hebrew or Arabic letters are read from right to left, and so are their lines; numbers
    stay as they are.
    """
    pieces = _RIGHT_TO_LEFT.split(text)
    if len(pieces) == 1:
        return text
    words = [piece[::-1] if at % 2 else piece for at, piece in enumerate(pieces)]
    is_line = len("".join(pieces[1::2])) > sum(map(str.isalpha, "".join(pieces[::2])))
    return "".join(reversed(words) if is_line else words)


def rows(found: Iterable[Segment]) -> list[list[Segment]]:
    """Return segments by their lines from top to bottom, each from left to right."""
    lines: list[list[Segment]] = []
    for one in sorted(found, key=lambda segment: -segment.base):
        if lines and lines[-1][0].base - one.base <= _SAME_LINE * max(one.size, lines[-1][0].size):
            lines[-1].append(one)
        else:
            lines.append([one])
    return [sorted(line, key=lambda segment: segment.left) for line in lines]


def _runs(letters: Sequence[Letter]) -> list[list[Letter]]:
    """Return letters that are drawn one after the other on a line."""
    runs: list[list[Letter]] = []
    shown: Letter | None = None  # the last one that is no space
    for letter in letters:
        if shown is not None and _follows(letter, runs[-1][-1], shown):
            runs[-1].append(letter)
        else:
            runs.append([letter])
        if not letter.text.isspace() or len(runs[-1]) == 1:
            shown = letter
    return [run for run in runs if not all(letter.text.isspace() for letter in run)]


def _follows(letter: Letter, last: Letter, shown: Letter) -> bool:
    if (letter.left, letter.right, letter.base) == (last.left, last.right, last.base):
        return letter.text != last.text or letter.text == "f"  # the letters of a ligature
    size = max(letter.size, shown.size)
    return (
        abs(letter.base - last.base) <= 0.05 * size
        and abs(letter.size - last.size) <= 0.1 * size
        and -0.5 * size < letter.left - last.right
        and letter.left - shown.right < APART * size
    )


def _run(letters: Sequence[Letter], usual_gap: float) -> Segment:
    shown = [letter for letter in letters if not letter.text.isspace()]
    space = (_SPACE + usual_gap) * shown[0].size
    pieces: list[str] = []
    before = letters[0]
    for letter in letters:
        gap = letter.left - before.right
        if gap > space:
            pieces.append(" ")
        elif gap > _THIN * letter.size and before.text in _COMMAS:
            pieces.append(_THIN_SPACE)
        pieces.append(letter.text)
        before = letter
    text = _IN_NUMBER.sub("", "".join(pieces)).replace(_THIN_SPACE, " ")
    text = _IN_WORD.sub(lambda found: UNKNOWN * len(found[0]), text)
    # PDFium gives characters outside of the basic plane in two halves.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    right = max(letter.right for letter in shown)
    size = max(letter.size for letter in shown)
    bold = all(letter.bold for letter in shown)
    return Segment(whole, shown[0].left, right, letters[0].base, size, bold)


def _line(run: Sequence[Letter]) -> tuple[float, float]:
    """Return what the runs of one line and size share."""
    return round(run[0].base, 1), round(run[0].size, 1)


def _usual_gaps(runs: Sequence[Sequence[Letter]]) -> dict[tuple[float, float], float]:
    """Return by line the space between the letters of a text that is spaced out, or else 0."""
    gaps: dict[tuple[float, float], list[float]] = {}
    for run in runs:
        # Letters that may be of one word, and are not of a number or a formula.
        pairs = ((a, b) for a, b in pairwise(run) if a.text.isalpha() and b.text.isalpha())
        between = gaps.setdefault(_line(run), [])
        between += ((b.left - a.right) / a.size for a, b in pairs)
    usual = {line: median(some) for line, some in gaps.items() if len(some) >= _LEAST_SPACED - 1}
    return {line: gap if (gap := usual.get(line, 0)) > _SPACED else 0 for line in gaps}


def _once(runs: Sequence[Segment]) -> list[Segment]:
    """Leave out what is printed twice at nearly the same place, to look bold."""
    seen: dict[str, list[Segment]] = {}
    kept = []
    for run in runs:
        same = seen.setdefault(run.text.strip(), [])
        away = (max(abs(run.left - one.left), abs(run.base - one.base)) for one in same)
        if all(distance >= 0.1 * run.size for distance in away):
            same.append(run)
            kept.append(run)
    return kept


def _placed(runs: Sequence[Segment]) -> list[Segment]:
    """Move the texts above and below a line onto it; the former are marked."""
    ordered = sorted(runs, key=lambda run: run.base)
    bases = [run.base for run in ordered]
    largest = max((run.size for run in runs), default=0)
    placed = []
    for run in runs:
        text = run.text.strip()
        if len(text) <= _LONGEST_RAISED:
            first = bisect_left(bases, run.base - _RAISED[1] * largest)
            last = bisect_right(bases, run.base + _LOWERED[1] * largest)
            near = [one for one in ordered[first:last] if _is_beside(run, one)]
            if near:
                base = min((one.base for one in near), key=lambda base: abs(base - run.base))
                text = marked(text) if run.base > base else lowered(text)
                run = replace(run, text=text, base=base)
        placed.append(run)
    return placed


def _is_beside(run: Segment, line: Segment) -> bool:
    """Return whether a run stands above or below the line of another, near to it."""
    higher = (run.base - line.base) / line.size
    if run.size > _SMALLER * line.size:
        touches = -_OVERLAP < (run.left - line.right) / line.size < _TOUCHES
        same = abs(run.size - line.size) < 0.1 * line.size and touches
        return same and _RAISED[0] <= higher <= _RAISED[1] and bool(_RISEN.fullmatch(run.text))
    after = abs(run.left - line.right) < _NEAR * line.size
    before = abs(line.left - run.right) < _NEAR * line.size
    is_raised = _RAISED[0] <= higher <= _RAISED[1] and (after or before)
    return is_raised or (_LOWERED[0] <= -higher <= _LOWERED[1] and after)
