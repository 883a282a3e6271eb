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
from retrieval.text.word_forms import nfkd, without_marks
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label

Kind: TypeAlias = Literal["date", "number", "people", "name"]
Span: TypeAlias = tuple[int, int]

_WORD = re.compile(r"\w+(?:[.,'’]\w+)*")  # noqa: RUF001 - a curly quote is meant


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


# Words by which alone no sentence is about a claim.
_LITTLE = _words(
    "a an the this that these those it its he she they his her their him them i we you who which",
    "and or as than then also there is are was were be been being am has have had do does did can",
    "could will would may might shall should must of in on at to for from by with into about over",
    "under between during until since after before because not no",
)
_DENYING = _words(
    "not no never none nor neither without cannot false falsely wrong wrongly incorrect",
    "incorrectly myth untrue deny denied denies refused failed",
)
_SHORT_NOT = re.compile(
    r"\w+n['’]t|(?:is|are|was|were|do|does|did|has|have|had|ca|wo|could|would|should)nt"  # noqa: RUF001
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
_COUNTED = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
_NUMBERS = {word: str(number) for number, word in enumerate(_COUNTED, start=2)}
_ENDINGS = re.compile(r"(?:'s|’s|ings?|ies|ied|ers?|ors?|es|ed|s|y|e)\Z")  # noqa: RUF001
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_NAME = r"[^\W\d_a-z][\w'’-]*(?:\.\w[\w'’-]*)*"  # noqa: RUF001 - a curly quote is meant
_PARTS = "(?:north|south)-?(?:ea|we)st(?:ern)?|(?:ea|we)st(?:ern)?|(?:nor|sou)th(?:ern)?|central"
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
            rf"(?<![\w.,])(?:\d[\d,]*(?:\.\d+)?|\b(?i:{'|'.join(_NUMBERS)})(?!-))"
            r"(?: (?:thousand|million|billion|trillion|percent))?%?(?!\w)"
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
# A name that says of which people somebody or something is.
_PEOPLE = re.compile(
    r"(?:(?:South|North) )?\w+(?:ish|ese|[aeiy]an|ican|[gm]an|ani|aeli)"
    r"|Czech|Dutch|French|Greek|Iraqi|Swiss|Thai|Welsh"
)
_PLACING = frozenset(("in", "on", "at", "near", "of"))
# Within a noun phrase these lead to the name at its end: "by the painter Ida Holm".
_LEADING = _PLACING | {"by", "from", "to", "through"}
# These are no answer where a land or a town is asked for, and the other way round.
_NATURE = re.compile(
    r"\b(?:Sea|Ocean|Gulf|Bay|Strait|River|Lake|Desert|Mountains|Hills|Alps|Himalayas|Range|Valley)\b"
)
_BOUNDS = frozenset(("than", "over", "under", "least", "most", "above", "below"))
# Words that change nothing about the role of what follows them.
_PASSED = _words("the a an about around nearly almost exactly only also first then sometime")
_ONE_VERB = {"are": "is", "was": "is", "were": "is"}
_PART = re.compile(rf"(?:{_PARTS})\b", re.IGNORECASE)
_IN_BRACKETS = re.compile(r" \(.*\)")
_PRONOUN = re.compile(r"(?:It|He|She|They|Its|His|Her|Their|This|These)\b")
_LISTED = (
    re.compile(rf",? (?:and|or) (?:the )?(?:{_PARTS}\b|{_NAME}|\d)|, {_NAME}"),
    re.compile(rf"(?:\b{_NAME}|\d),? (?:and|or) (?:the )?\Z"),
)


@dataclass(frozen=True, slots=True)
class Value:
    """A date, a number, a people or a name in a text, and its role there.

    ``lead``: the word that leads to it ("in", "by", "is"), "" where the text begins with it.
    ``governor``: the word before that. ``heads``: the stems of the words after it that it belongs
    to ("inhabitants"). ``listed``: it is one of several.
    """

    kind: Kind
    start: int
    end: int
    lead: str
    governor: str
    heads: tuple[str, ...]
    listed: bool


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


def is_named(claim: str, title: str) -> bool:
    """Return whether a claim has the last word of a title, such as a surname."""
    words = [*stems(_IN_BRACKETS.sub("", title))]
    return bool(words) and words[-1] in stems(claim)


def missing(claim: str, item: Evidence) -> frozenset[str]:
    """Return the stems of the claim that neither the sentence nor its title has."""
    return frozenset(stems(claim).keys() - stems(f"{item.title} {item.sentence}").keys())


def is_of_another(claim: str, item: Evidence) -> bool:
    """Return whether a sentence speaks of something else than the claim, as far as words show it.

    Its "it" is what the title names; a tiger shark is no tiger, and Western Varnland not Varnland.
    """
    title = _IN_BRACKETS.sub("", item.title)
    own, asked = stems(title).keys(), stems(claim).keys()
    if own.isdisjoint(asked):
        return bool(_PRONOUN.match(item.sentence))
    common = title.rpartition(" ")[2].islower() and " " in title
    return bool(own - asked) and bool(common or _PART.match(title))


def unlike(claim: str, item: Evidence) -> Unlike | None:
    """Return where the sentence gives another value for the same.

    All else of the claim is in it, or the same is said of its subject: "built in". The values are
    of one kind and have the same role. ``None`` also where several could be meant.
    """
    absent, values = missing(claim, item), _values(claim)
    subject = set(_of(claim, values[0])) if values else set()
    found = [
        Unlike((ours.start, ours.end), (theirs.start, theirs.end))
        for ours in values
        if not absent.isdisjoint(_of(claim, ours)) and not ours.listed and ours.lead not in _BOUNDS
        for theirs in _instead(claim, ours, item)
        if absent <= set(_of(claim, ours))
        or (absent.isdisjoint(subject) and _says(ours.governor) and _governs(ours, theirs))
    ]
    return found[0] if len(found) == 1 else None


def exchanged(claim: str, ours: Span, sentence: str, theirs: Span) -> Unlike | None:
    """Return two spans that a proof sets against each other, if both are values in one role."""
    one, other = _value_at(claim, ours), _value_at(sentence, theirs)
    if one is None or other is None or one.kind != other.kind:
        return None
    return Unlike(ours, theirs) if _has_role(claim, one, sentence, other) else None


def _value_at(text: str, span: Span) -> Value | None:
    """Return the value that is all of a span, ``None`` where there is none."""
    found = _values(text[slice(*span)])
    whole = len(found) == 1 and (found[0].start, found[0].end) == (0, span[1] - span[0])
    return _value(text, found[0].kind, *span) if whole else None


def _governs(ours: Value, theirs: Value) -> bool:
    return _stem(ours.governor) == _stem(theirs.governor)


def _instead(claim: str, ours: Value, item: Evidence) -> list[Value]:
    """Return the values of a sentence that stand where a value of the claim stands."""
    known = stems(f"{claim} {item.title}").keys()
    values = _values(item.sentence)
    like = [one for one in values if one.kind == ours.kind]
    theirs = [
        one
        for one in like
        if _has_role(claim, ours, item.sentence, one)
        and _is_other(claim, item, one)
        and (_stem(one.governor) in known or _may_be_of_it(ours, one, values))
    ]
    if is_of_another(claim, item):
        return [one for one in theirs if one.governor.istitle() and _stem(one.governor) in known]
    if len(theirs) > 1 or (ours.kind == "date" and len(like) > 1):
        return [one for one in theirs if _stem(one.governor) in known]
    return theirs


def values_in(claim: str) -> frozenset[str]:
    """Return the stems of the names, numbers and dates of a claim."""
    return frozenset(stem for one in _values(claim) for stem in _of(claim, one))


def denies(text: str) -> bool:
    """Return whether a text has a word that denies."""
    words = [found[0].casefold() for found in _WORD.finditer(text)]
    return any(word in _DENYING or _SHORT_NOT.fullmatch(word) for word in words)


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
            found.append(_value(text, kind, start, end))
    return sorted(found, key=lambda one: one.start)


def _value(text: str, kind: Kind, start: int, end: int) -> Value:
    before, after = text[:start], text[end:]
    lead, governor = _led(before, within_a_phrase=kind == "name")
    listed = bool(_LISTED[0].match(after) or _LISTED[1].search(before))
    kind = "people" if _PEOPLE.fullmatch(text[start:end]) else kind
    return Value(kind, start, end, lead, governor, _heads(kind, lead, after), listed)


def _led(before: str, *, within_a_phrase: bool) -> tuple[str, str]:
    """Return the word that leads to what follows a text, and the word before that."""
    clause = re.split(r"[^\w\s'’-]", before)[-1]  # noqa: RUF001 - a curly quote is meant
    words = [one for one in reversed(clause.split()) if one.casefold() not in _PASSED]
    words = [one for one in words if not one.endswith("ly")]
    if not words:
        return ("" if clause == before else ","), ""
    at = 0
    if within_a_phrase:
        little = next((n for n, one in enumerate(words[:5]) if not _says(one)), 0)
        at = little if words[little] in _LEADING else 0
    lead, governor = words[at].casefold(), words[at + 1] if len(words) > at + 1 else ""
    return _ONE_VERB.get(lead, _stem(lead)), governor


def _heads(kind: Kind, lead: str, after: str) -> tuple[str, ...]:
    """Return the stems of the words that a value belongs to; of a subject, that of its verb."""
    words = re.split(r"[^\w\s-]", after)[0].split()
    if kind == "number":
        return tuple(map(_stem, words[:3]))
    if not lead:
        return tuple(_ONE_VERB.get(one, _stem(one)) for one in words[:1])
    of = (one for one in words[:1] if one not in _PASSED and _says(one))
    return tuple(_stem(one) for one in of if kind != "date" and one.islower())


def _has_role(claim: str, ours: Value, sentence: str, theirs: Value) -> bool:
    """Return whether a value stands where that of the claim stands."""
    if theirs.listed:
        return False
    if ours.kind == "number" and ours.heads:
        rate = "per" in ours.heads
        return ours.heads == theirs.heads if rate else ours.heads[0] in theirs.heads
    days = {"in", "on"} if ours.kind == "date" else set()
    if ours.lead != theirs.lead and not {ours.lead, theirs.lead} <= days:
        return False
    places = (claim[ours.start : ours.end], sentence[theirs.start : theirs.end])
    if len({bool(_NATURE.search(one)) for one in places}) > 1:
        return False
    if sentence[theirs.end :].startswith(" of ") and ours.kind == "name":
        return False
    if not ours.lead:
        return _says_the_same(claim[ours.end :], sentence[theirs.end :])
    return ours.heads == theirs.heads or (ours.kind == "people" and not ours.heads)


def _says_the_same(ours: str, theirs: str) -> bool:
    """Return whether what is said of a subject is said of another one in the same words.

    Others may stand before them: "was a general and the first president".
    """
    verb, *rest = (_ONE_VERB.get(one, one) for one in _WORD.findall(ours.casefold()))
    other, *more = (_ONE_VERB.get(one, one) for one in _WORD.findall(theirs.casefold()))
    at = next((n for n in range(len(more)) if more[n : n + len(rest)] == rest), None)
    if verb != other or at is None:
        return False
    return all(one in ("a", "an", "the", "and") or _says(one) for one in more[:at])


def _may_be_of_it(ours: Value, theirs: Value, values: Collection[Value]) -> bool:
    """Return whether a value may be said of what the claim is about, as nothing shows the contrary.

    In "the largest lake after Lake Holm in Ostrea", Ostrea is said of Lake Holm.
    """
    if not theirs.governor or theirs.kind == "number":
        return True
    if theirs.governor[0].isupper():
        before = [one for one in values if one.kind == "name" and one.end < theirs.start]
        return not before or before[-1].lead in _PLACING
    return not (_says(ours.governor) and _says(theirs.governor))


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


def _says(word: str) -> bool:
    return word.casefold() not in _LITTLE


def _stem(word: str) -> str:
    """Return the stem of a word, "" for no word."""
    small = without_marks(nfkd(word.casefold()))
    if small in _NUMBERS:
        return _NUMBERS[small]
    if small in _IRREGULAR:
        return _IRREGULAR[small]
    if not small or small[0].isdigit():
        return small
    cut = small
    while len(cut) > 3 and (shorter := _ENDINGS.sub("", cut, count=1)) != cut and len(shorter) > 2:
        cut = shorter
    return _IRREGULAR.get(cut, cut)
