"""What a sentence has in common with a claim, and where it gives another value, by its words.

A rule of what pages and the terminal show, not of the verdict: it chooses which sentence is quoted,
which words of it are marked, and what counts as opposed to the verdict. Where the words do not show
it, nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from retrieval.result import ClaimResult, Evidence
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label

Kind: TypeAlias = Literal["date", "number", "name"]
Span: TypeAlias = tuple[int, int]

_WORD = re.compile(r"\w+(?:[.,'’]\w+)*")  # noqa: RUF001 - a curly quote is meant


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


# Words by which alone no sentence is about a claim.
_LITTLE = _words(
    "a an the this that these those it its he she they his her their him them i we you who which",
    "and or as than then also there is are was were be been being am has have had do does did can",
    "could will would may might shall should must of in on at to for from by with into about over",
    "under between during until since after before not no",
)
_DENYING = _words(
    "not no never none nor neither without cannot false falsely wrong wrongly incorrect",
    "incorrectly myth untrue deny denied denies refused failed",
)
# After these a sentence takes back what it has said, so no part of it stands alone.
_TURNING = _words(
    "although though but however despite except unless while whereas loss lost unlike rather",
    "instead",
)
# Irregular verbs that encyclopaedias use, by their stems.
_IRREGULAR = {
    form: forms.split()[0]
    for forms in (
        "fall fell fallen",
        "sink sank sunk",
        "write wrote written",
        "win won",
        "begin began begun",
        "become became",
        "give gave given",
        "take took taken",
        "make made",
        "build built",
        "lead led",
        "grow grew grown",
        "leave left",
        "find found founder founded founding",
        "die died death",
        "bear born birth birthplace",
        "know known knew",
        "hold held",
        "fly flew flown flight",
    )
    for form in forms.split()
}
_ENDINGS = re.compile(r"(?:'s|’s|ings?|ies|ied|ers?|ors?|es|ed|s|y|e)\Z")  # noqa: RUF001
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_NAME = r"[^\W\d_a-z][\w'’-]*(?:\.\w[\w'’-]*)*"  # noqa: RUF001 - a curly quote is meant
_PARTS = "southern|northern|eastern|western|central|south|north|east|west"
_VALUES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "date",
        re.compile(
            rf"\b(?:\d{{1,2}} )?(?:{_MONTHS})(?: \d{{1,2}}\b)?(?:,? \d{{4}})?\b"
            r"|(?<![\d.,])(?:1\d|20)\d\d(?![\d,]|\.\d| (?:million|billion|m|km|people)\b)"
        ),
    ),
    (
        "number",
        re.compile(
            r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?: (?:thousand|million|billion|trillion|percent))?%?"
            r"(?!\w)"
        ),
    ),
    (
        "name",
        re.compile(
            rf"(?:\b(?:{_PARTS}) )?\b{_NAME}(?: (?:of (?:the )?|de |von |van |da )?{_NAME})*"
            rf"(?:, {_NAME}(?=[,.;]))?"
        ),
    ),
)
_BEFORE = re.compile(r"(\w+)(?: (?:the|a|an|about|around|nearly))*\W*\Z")


@dataclass(frozen=True, slots=True)
class Value:
    """A date, a number or a name in a text, and the word that leads to it ("in", "by")."""

    kind: Kind
    start: int
    end: int
    before: str


@dataclass(frozen=True, slots=True)
class Unlike:
    """Where a sentence gives another value: of the claim, and of the sentence."""

    claim: Span
    sentence: Span


def stems(text: str) -> dict[str, None]:
    """Return the words of a text that say something, cut to their stems, in order."""
    return dict.fromkeys(_stem(found[0]) for found in _WORD.finditer(text) if _says(found[0]))


def shared_names(claim: str, text: str) -> bool:
    """Return whether a text has a name of the claim, or any of its words where it has no name."""
    named = [stem for one in _values(claim) if one.kind == "name" for stem in _of(claim, one)]
    return not stems(text).keys().isdisjoint(named or stems(claim))


def missing(claim: str, item: Evidence) -> frozenset[str]:
    """Return the stems of the claim that neither the sentence nor its title has."""
    return frozenset(stems(claim).keys() - stems(f"{item.title} {item.sentence}").keys())


def unlike(claim: str, item: Evidence) -> Unlike | None:
    """Return where the sentence gives another value for the same: all else of the claim is in it.

    ``None`` also where several values could be meant.
    """
    absent = missing(claim, item)
    ours = [one for one in _values(claim) if absent and absent <= set(_of(claim, one))]
    if len(ours) != 1:
        return None
    theirs = [
        one
        for one in _values(item.sentence)
        if one.kind == ours[0].kind and _is_other(claim, item, one)
    ]
    if len(theirs) > 1:
        theirs = [one for one in theirs if one.before == ours[0].before]
    if len(theirs) != 1:
        return None
    return Unlike((ours[0].start, ours[0].end), (theirs[0].start, theirs[0].end))


def same_kind(claim: str, ours: Span, sentence: str, theirs: Span) -> Unlike | None:
    """Return the values within two spans that can stand for each other, if each has just one."""
    for kind in ("date", "number", "name"):
        one = [v for v in _values(claim) if v.kind == kind and _inside(v, ours)]
        other = [v for v in _values(sentence) if v.kind == kind and _inside(v, theirs)]
        if len(one) == len(other) == 1:
            return Unlike((one[0].start, one[0].end), (other[0].start, other[0].end))
    return None


def values_in(claim: str) -> frozenset[str]:
    """Return the stems of the names, numbers and dates of a claim."""
    return frozenset(stem for one in _values(claim) for stem in _of(claim, one))


def denies(text: str) -> bool:
    """Return whether a text has a word that denies."""
    words = [found[0].casefold() for found in _WORD.finditer(text)]
    return any(word in _DENYING or word.endswith(("n't", "n’t")) for word in words)  # noqa: RUF001


def turns(text: str) -> bool:
    """Return whether a text takes something back: "although", "but"."""
    return any(found[0].casefold() in _TURNING for found in _WORD.finditer(text))


def opposed(result: ClaimResult) -> dict[int, Unlike | None]:
    """Return the numbers of the selected sentences that oppose the verdict, or what it leans to.

    Such a sentence has the other side by itself, and its words show it: it gives another value or
    denies, where the verdict supports the claim; it says all that the claim says, where the verdict
    refutes it. The value is where the words differ, ``None`` where no single words do. Empty for a
    claim of several statements: a sentence is for or against one of them.
    """
    if result.statements:
        return {}
    said = result.verdict.leans or result.verdict.label
    found: dict[int, Unlike | None] = {}
    for rank in result.verdict.disagreement:
        item = result.evidence[rank - 1]
        if said == SUPPORTS:
            words = unlike(result.claim, item)
            denied = denies(item.sentence) != denies(result.claim)
            if words is not None or (denied and not missing(result.claim, item)):
                found[rank] = words
        elif said == REFUTES and not _hedged(result.claim, item) and _says_all(result.claim, item):
            found[rank] = None
    return found


def counted_stance(result: ClaimResult, rank: int, opposing: Collection[int]) -> Label:
    """Return the stance that a page shows: what only seems opposed settles nothing."""
    item = result.evidence[rank - 1]
    said = result.verdict.leans or result.verdict.label
    shown = item.shown_stance
    if result.statements or said == NOT_ENOUGH_INFO or shown in (said, NOT_ENOUGH_INFO):
        return shown
    return shown if rank in opposing else NOT_ENOUGH_INFO


def _hedged(claim: str, item: Evidence) -> bool:
    return denies(item.sentence) != denies(claim) or turns(item.sentence)


def _says_all(claim: str, item: Evidence) -> bool:
    """Return whether a sentence has all of the claim, or at least its numbers and names."""
    absent = missing(claim, item)
    numbers = any(one.kind != "name" for one in _values(claim))
    return not absent or (numbers and absent.isdisjoint(values_in(claim)))


def _values(text: str) -> list[Value]:
    """Return the values of a text in order; a date is no number, and neither of them a name."""
    found: list[Value] = []
    for kind, pattern in _VALUES:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(one.start < end and start < one.end for one in found):
                continue
            if kind == "name" and not stems(match[0]):
                continue
            before = _BEFORE.search(text[:start])
            found.append(Value(kind, start, end, before[1].casefold() if before else ""))
    return sorted(found, key=lambda one: one.start)


def _is_other(claim: str, item: Evidence, value: Value) -> bool:
    """Return whether a value of the sentence is not that of the claim."""
    own, known = _of(item.sentence, value), stems(claim).keys()
    if value.kind == "date":  # 15 April 1912 and 12 May 1912
        return not known >= set(own)
    if value.kind == "number":
        return own[0] not in known
    # A word at the beginning may be written large because it stands there.
    begins = value.kind == "name" and value.start == 0 and " " not in item.sentence[: value.end]
    return known.isdisjoint(own) and (not begins or item.sentence[: value.end] in item.title)


def _of(text: str, value: Value) -> list[str]:
    return list(stems(text[value.start : value.end]))


def _inside(value: Value, span: Span) -> bool:
    return span[0] <= value.start and value.end <= span[1]


def _says(word: str) -> bool:
    return word.casefold() not in _LITTLE


def _stem(word: str) -> str:
    small = word.casefold()
    if small in _IRREGULAR:
        return _IRREGULAR[small]
    if small[0].isdigit():
        return small
    cut = small
    while len(cut) > 3 and (shorter := _ENDINGS.sub("", cut, count=1)) != cut and len(shorter) > 2:
        cut = shorter
    return _IRREGULAR.get(cut, cut)
