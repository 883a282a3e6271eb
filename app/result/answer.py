"""The answer to a claim in a line: yes or no, and what the evidence says instead or as well.

Every word of it is one of the claim, one of the evidence, or one of a fixed phrase. What no rule
can say so is left to the sentence that stands below it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from app.result.proof import Difference, differences
from retrieval.compared import (
    Unlike,
    denies,
    exchanged,
    is_named,
    is_of_another,
    missing,
    opposed,
    shared_names,
    stems,
    unlike,
    values_in,
)
from retrieval.result import ClaimResult, Document, Evidence
from retrieval.types import REFUTES, SUPPORTS, SentenceKey
from retrieval.words import WITH_QUANTITIES

Origin: TypeAlias = Literal["fixed", "claim", "evidence"]

# What an answer begins with, by label and level; a claim that denies is answered as true or not.
_OPENINGS = {
    (SUPPORTS, "settled"): ("Yes", "True"),
    (SUPPORTS, "probably"): ("Probably yes", "Probably true"),
    (REFUTES, "settled"): ("No", "Not true"),
    (REFUTES, "probably"): ("Probably not", "Probably not true"),
}
_LEANS = {SUPPORTS: "leans to yes", REFUTES: "leans to no"}
_LEANS_OF_DENIAL = {SUPPORTS: "leans to true", REFUTES: "leans to not true"}
_NOT_SETTLED = "Not settled"
_NOT_ALL = {SUPPORTS: "Yes, all of it", REFUTES: "No, not all of it"}
_UNSURE: dict[str, str] = {
    SUPPORTS: "seems to support it, but not clearly enough",
    REFUTES: "seems to refute it, but not clearly enough",
}
_SAYS_NOTHING = "says nothing about"
_SAYS_NOT = "does not say"
_WHEN, _WHERE = "when", "where"
FIXED = (
    *(phrase for pair in _OPENINGS.values() for phrase in pair),
    *_LEANS.values(),
    *_LEANS_OF_DENIAL.values(),
    *_NOT_ALL.values(),
    *_UNSURE.values(),
    *(_NOT_SETTLED, _SAYS_NOTHING, _SAYS_NOT, _WHEN, _WHERE, "the evidence", "not", "and"),
    *("fits", "does not fit", "which is", "occurs in none of the texts that were searched"),
    "occur in none of the texts that were searched",
    "No text that was found supports or refutes it",
)
"""All words of answers that are neither the claim's nor the evidence's."""

_LONGEST = 16  # words of a line that is read at a glance
_ARITHMETIC = re.compile(r"[”)] (?P<why>[^“”]*(?:does not fit|fits) “(?P<words>[^“”]*)”)\.\Z")
_POINTS_BACK = re.compile(r"(?:\w+ )?(?:this|these|those|such)\b", re.IGNORECASE)
_PLACE = re.compile(r"(?:in|at|on|near) (?:the )?[^\W\d_a-z]")
# Words that a text says nothing about only together with what is compared.
_COMPARED = re.compile(
    r"(?:more|most|less|least|fewer|way|any|every|today"
    r"|(?:old|young|tall|larg|bigg|small|long|short|high|low|bett|warm|pretti|nic)er)\b",
    re.IGNORECASE,
)
_TIME = re.compile(r"(?:in|on|since|from) (?:[A-Z][a-z]+ )?(?:\d{1,2} [A-Z]|\d{4}\b)")
# Before these a claim may stand after "where": "where Alfred Nobel died".
_STANDS = re.compile(
    r"\b(?:born|died|lies|lie|located|situated|buried|lived|lives|grew up|held|took place|founded"
    r"|is|was|were|are|found|grown|built|made|invented|filmed|set)\Z"
)
_SENTENCE = re.compile(r"(?<=[.!?])[\"”’)\]]*\s+(?=[^\Wa-z])")  # noqa: RUF001 - curly quotes are meant


@dataclass(frozen=True, slots=True)
class Bit:
    """Words of an answer; ``differs``: they are where claim and evidence differ."""

    text: str
    origin: Origin
    differs: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """A sentence that is quoted beside the answer, with the words of it that are marked.

    ``rank``: its number in the evidence, ``None`` for one of a document that was only opened.
    ``said``: the answer has said all of it.
    """

    document: str
    title: str
    sentence: str
    rank: int | None
    marked: tuple[int, int] | None = None
    said: bool = False

    @property
    def pieces(self) -> tuple[tuple[str, bool], ...]:
        """The sentence, cut around the marked words; each piece with whether it is marked."""
        if self.marked is None:
            return ((self.sentence, False),)
        start, end = self.marked
        cut = (self.sentence[:start], False), (self.sentence[start:end], True)
        return tuple(one for one in (*cut, (self.sentence[end:], False)) if one[0])


@dataclass(frozen=True, slots=True)
class Against:
    """A sentence that opposes the verdict."""

    rank: int
    item: Evidence
    shown: Shown


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer: its ``bits`` make one line, ``quoted`` is the sentence that it rests on.

    ``opposing``: the numbers of the evidence that opposes the verdict; ``against`` is the first.
    ``differences``: where the quoted sentence gives another value, else what the proof says.
    ``lacks``: of a claim that is not settled, what the quoted document does not say.
    """

    bits: tuple[Bit, ...]
    quoted: Shown | None
    against: Against | None
    opposing: Collection[int] = ()
    differences: tuple[Difference, ...] = ()
    lacks: tuple[Bit, ...] = ()

    @property
    def text(self) -> str:
        """The line as plain text."""
        return "".join(bit.text for bit in self.bits)

    @property
    def lacking(self) -> str:
        """What is lacking, as plain text."""
        return "".join(bit.text for bit in self.lacks)


def answer_of(result: ClaimResult) -> Answer:
    """Return the answer that a result gives."""
    opposing = opposed(result)
    against = _against(result, opposing)
    if result.verdict.level == "unsettled":
        nearest, lacks = _nearest(result)
        return Answer((_fixed(f"{_NOT_SETTLED}."),), nearest, None, lacks=lacks)
    rank, words = _best(result)
    shown = None if rank is None else _shown(result, rank, words)
    if result.statements:
        bits: tuple[Bit, ...] = (_fixed(f"{_of_all(result)}."),)
    elif result.verdict.leans:
        leans = _LEANS_OF_DENIAL if denies(result.claim) else _LEANS
        bits = (_fixed(f"{_NOT_SETTLED}: the evidence {leans[result.verdict.leans]}."),)
    else:
        bits, shown = _line(result, shown, words)
    return Answer(bits, shown, against, tuple(opposing), _marked(result, rank, words))


def _of_all(result: ClaimResult) -> str:
    if result.verdict.label in _NOT_ALL and result.verdict.level == "settled":
        return _NOT_ALL[result.verdict.label]
    return _opening(result) if not result.verdict.leans else _NOT_SETTLED


def _opening(result: ClaimResult) -> str:
    plain, of_denial = _OPENINGS[result.verdict.label, result.verdict.level]
    return of_denial if denies(result.claim) else plain


def _line(
    result: ClaimResult, shown: Shown | None, words: Unlike | None
) -> tuple[tuple[Bit, ...], Shown | None]:
    """Return the line of a decided claim: a difference, a short sentence, or yes or no alone."""
    opening = _opening(result)
    before = _fixed(f"{'Probably' if opening == 'Probably yes' else opening}: ")
    if shown is not None and words is not None and result.verdict.label == REFUTES:
        theirs, ours = shown.sentence[slice(*words.sentence)], result.claim[slice(*words.claim)]
        instead = before, Bit(theirs, "evidence", differs=True), _fixed(", not ")
        return (*instead, Bit(ours, "claim", differs=True), _fixed(".")), shown
    if shown is not None and (sentence := _sentence(result, shown)):
        line = (before, _fixed("“"), Bit(sentence, "evidence"), _fixed("”"))
        return line, replace(shown, said=True)
    if why := _arithmetic(result):
        return (before, Bit(why, "evidence"), _fixed(".")), shown
    return (_fixed(f"{opening}."),), shown


def _sentence(result: ClaimResult, shown: Shown) -> str:
    """Return the sentence if it is a line that answers the claim, else "".

    A supporting one has every name and number of the claim, and all but one of its other words.
    """
    item = result.evidence[shown.rank - 1] if shown.rank else None
    if item is None or item.stance != result.verdict.label or result.decider != "verifier":
        return ""
    if is_of_another(result.claim, item) or _POINTS_BACK.match(item.sentence):
        return ""
    absent = missing(result.claim, item)
    lacks = len(absent) > 1 or absent & values_in(result.claim)
    short = len(shown.sentence.split()) <= _LONGEST
    names = shared_names(result.claim, f"{item.title} {item.sentence}")
    return shown.sentence if short and names and not (lacks and item.stance == SUPPORTS) else ""


def _arithmetic(result: ClaimResult) -> str:
    """Return the arithmetic that decided, "" where there was none, or where it only repeats."""
    found = _ARITHMETIC.search(result.verdict.rationale)
    if found is None or not result.verdict.judge.endswith(WITH_QUANTITIES):
        return ""
    theirs = found["why"].partition(" fits")[0].partition(" does not")[0]
    repeats = set(stems(theirs)) == set(stems(found["words"]))
    return "" if repeats or len(found["why"].split()) > _LONGEST else found["why"]


def _best(result: ClaimResult) -> tuple[int | None, Unlike | None]:
    """Return the number of the sentence that shows best why the verdict is as it is.

    Of a refuted claim the first that gives another value; else the one that has most of the claim,
    from a document of its name, and not of another thing. It comes with the words that differ.
    """
    said = result.verdict.leans or result.verdict.label
    selected = [n for n, item in enumerate(result.evidence, 1) if item.selected]
    differ = _differ(result) if said == REFUTES else {}
    found = [n for n in selected if result.evidence[n - 1].stance == said or n in differ]
    found = found or _together(result, selected, differ) or selected

    def key(number: int) -> tuple[bool, bool, bool, int, int]:
        item = result.evidence[number - 1]
        # The arithmetic is about the first sentence with its label.
        counts = result.verdict.judge.endswith(WITH_QUANTITIES) and not differ
        absent = 0 if counts else len(missing(result.claim, item))
        named = shared_names(result.claim, item.title)
        own = named and not is_of_another(result.claim, item)
        return number not in differ, not own, not named, absent, number

    rank = min(found, key=key, default=None)
    return rank, None if rank is None else differ.get(rank)


def _together(result: ClaimResult, selected: Collection[int], differ: Collection[int]) -> list[int]:
    """Return the sentences that have the verdict's stance only with others, and name the claim."""
    said = result.verdict.leans or result.verdict.label
    with_it = {
        key
        for item in result.selected
        if item.shown_stance == said
        for key in (*item.path, SentenceKey(item.document, item.sentence_id))
    }
    of = {number: result.evidence[number - 1] for number in selected}
    return [
        number
        for number, item in of.items()
        if (number in differ or SentenceKey(item.document, item.sentence_id) in with_it)
        and shared_names(result.claim, f"{item.title} {item.sentence}")
    ]


def _differ(result: ClaimResult) -> dict[int, Unlike]:
    """Return where selected sentences give another value: by their words, or by the proof."""
    found: dict[int, Unlike] = {}
    proved = differences(result)
    for number, item in enumerate(result.evidence, 1):
        words = unlike(result.claim, item)
        for one in proved if words is None else ():
            if one.document == item.document and item.start <= one.start and one.end <= item.end:
                theirs = one.start - item.start, one.end - item.start
                words = exchanged(result.claim, one.claim_span, item.sentence, theirs)
        if item.selected and words is not None:
            found[number] = words
    return found


def _marked(result: ClaimResult, rank: int | None, words: Unlike | None) -> tuple[Difference, ...]:
    """Return the words that are marked in the claim and in the evidence."""
    if rank is None or words is None or result.verdict.label != REFUTES:
        return differences(result)
    item = result.evidence[rank - 1]
    start, end = words.sentence
    ours = result.claim[slice(*words.claim)]
    theirs = item.sentence[start:end]
    at = item.start + start, item.start + end
    return (Difference(item.document, *at, theirs, words.claim, ours),)


def _against(result: ClaimResult, opposing: dict[int, Unlike | None]) -> Against | None:
    for rank, words in opposing.items():
        item = result.evidence[rank - 1]
        return Against(rank, item, _shown(result, rank, words))
    return None


def _shown(result: ClaimResult, rank: int, words: Unlike | None) -> Shown:
    item = result.evidence[rank - 1]
    marked = words.sentence if words else None
    return Shown(item.document, item.reference_without_ocr, item.sentence, rank, marked)


def _nearest(
    result: ClaimResult,
) -> tuple[Shown | None, tuple[Bit, ...]]:
    """Return the closest sentence of the document that the claim is about, and what that lacks.

    A document that shares no name with the claim is not shown.
    """
    read = {document.id: document for document in result.documents}
    for name in result.about:
        if name in read and shared_names(result.claim, read[name].title):
            shown = _closest(result, read[name])
            return shown, _lacks(result, shown)
    if result.absent:
        return None, _absent(result)
    for number, item in enumerate(result.evidence, 1):
        if item.selected and _is_about(result, item.title):
            shown = _shown(result, number, None)
            return shown, _lacks(result, shown)
    return None, (_fixed("No text that was found supports or refutes it."),)


def _is_about(result: ClaimResult, title: str) -> bool:
    return is_named(result.claim, title) and shared_names(result.claim, title)


def _closest(result: ClaimResult, document: Document) -> Shown:
    """Return the sentence of a document that has most words of the claim."""
    asked = stems(result.claim).keys()
    own = [n for n, item in enumerate(result.evidence, 1) if item.document == document.id]
    if own:
        like = max(own, key=lambda n: len(asked & stems(result.evidence[n - 1].sentence).keys()))
        return _shown(result, like, None)
    sentences = [part for part in _SENTENCE.split(document.text.strip()) if part]
    best = max(sentences, key=lambda part: len(asked & stems(part).keys()), default="")
    return Shown(document.id, document.reference, best, None)


def _absent(result: ClaimResult) -> tuple[Bit, ...]:
    """Return the line that names what no text has."""
    names = [Bit(f"“{words}”", "claim") for words in result.absent]
    verb = "occur" if names[1:] else "occurs"
    return *_joined(names), _fixed(f" {verb} in none of the texts that were searched.")


def _lacks(result: ClaimResult, shown: Shown) -> tuple[Bit, ...]:
    """Return the line that says what a document lacks: "“Alfred Nobel” does not say where …".

    What its text has is not lacking, whatever the sentence beside the line says.
    """
    if result.absent:
        return _absent(result)
    begin = Bit(f"“{shown.title}”", "evidence")
    stance = result.evidence[shown.rank - 1].stance if shown.rank else ""
    if stance in _UNSURE:
        return begin, _fixed(f" {_UNSURE[stance]}.")
    of = result.not_settled.open if result.not_settled else ()
    claim = result.claim.rstrip(" .!?")
    if len(of) == 1 and (rest := claim[: of[0][0]].rstrip()) and of[0][1] >= len(claim):
        part = claim[of[0][0] :]
        asks = _WHEN if _TIME.match(part) else _WHERE if _PLACE.match(part) else ""
        if asks and _STANDS.search(rest) and not denies(rest):
            asked = Bit(_within(result, rest), "claim")
            return begin, _fixed(f" {_SAYS_NOT} {asks} "), asked, _fixed(".")
    read = " ".join(one.text for one in result.documents if one.id == shown.document)
    words = [_bare(one) for one in result.missing if stems(one).keys() - stems(read).keys()]
    if not words or _COMPARED.match(words[0]):
        return begin, _fixed(f" {_SAYS_NOT} "), Bit(f"“{claim}”", "claim"), _fixed(".")
    quoted = [Bit(f"“{one}”", "claim") for one in words]
    return begin, _fixed(f" {_SAYS_NOTHING} "), *_joined(quoted), _fixed(".")


def _within(result: ClaimResult, words: str) -> str:
    """Return the beginning of a claim as it stands within a sentence: "the Nile", "coffee"."""
    first, space, rest = words.partition(" ")
    small = re.compile(rf"\b{re.escape(first.lower())}\b")
    ordinary = not stems(first) or any(small.search(one.text) for one in result.documents)
    return f"{first.lower() if ordinary else first}{space}{rest}"


def _bare(words: str) -> str:
    """Return open words without the preposition or article that they begin with."""
    while True:
        first, _, rest = words.partition(" ")
        if not rest or stems(first):
            return words
        words = rest


def _joined(bits: list[Bit]) -> list[Bit]:
    joined: list[Bit] = []
    for number, bit in enumerate(bits):
        if number:
            joined.append(_fixed(" and " if number == len(bits) - 1 else ", "))
        joined.append(bit)
    return joined


def _fixed(text: str) -> Bit:
    return Bit(text, "fixed")
