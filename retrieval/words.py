"""The words that people read about a result: pages, terminal, Markdown and tables take them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias

from retrieval.recipes.recipes import STAGES as RECORDS
from retrieval.recipes.recipes import base_and_more_hops
from retrieval.types import (
    ALTERNATION,
    EQUIVALENCE,
    INDEPENDENCE,
    NEGATION,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Label,
    Operator,
    Stopped,
)

Level: TypeAlias = Literal["settled", "probably", "leans", "unsettled"]
"""How sure a verdict is, surest first.

Below ``decided_cutoff`` of the recipe a verdict only leans to its label
(``stages/decide/verdict.py``); what is decided is "probably" below ``FIRM_CONFIDENCE``.
"""

# Below this confidence a verdict is worded as "probably", and its rationale says only what the
# evidence seems to do.
FIRM_CONFIDENCE = 0.7


def is_firm(confidence: float) -> bool:
    """Return whether a decided verdict needs no "probably"."""
    return confidence >= FIRM_CONFIDENCE


def level_of(label: Label, confidence: float | None, leans: Label | None) -> Level:
    """Return how sure a verdict is; ``confidence``: ``None`` where it is not known."""
    if label == NOT_ENOUGH_INFO:
        return "leans" if leans else "unsettled"
    return "settled" if confidence is None or is_firm(confidence) else "probably"


VERDICTS: dict[Label, str] = {
    SUPPORTS: "Supported",
    REFUTES: "Refuted",
    NOT_ENOUGH_INFO: "Not settled",
}
LEVELS: dict[Level, str] = {
    "settled": "Settled",
    "probably": "Probably",
    "leans": "Leans",
    "unsettled": "Not settled",
}
STATES = {
    "queued": "Waiting",
    "running": "Being checked",
    "done": "Done",
    "failed": "Failed",
    "cancelled": "Cancelled",
}
_NAMED: dict[str, Label] = {
    name: label
    for label, names in (
        (SUPPORTS, "entailment entail entails entailed support supports supported"),
        (REFUTES, "contradiction contradict contradicts contradicted refute refutes refuted"),
        (NOT_ENOUGH_INFO, "neutral nei notenoughinfo notenoughinformation notsettled"),
        # The second label of a model with two: REFUTES and NOT ENOUGH INFO in one.
        (NOT_ENOUGH_INFO, "notentailment nonentailment notentailed"),
    )
    for name in names.split()
}
STANCES: dict[Label, str] = {
    SUPPORTS: "Supports",
    REFUTES: "Refutes",
    NOT_ENOUGH_INFO: "Settles nothing",
}
OPERATORS: dict[Operator, str] = {
    EQUIVALENCE: "Says the same",
    NEGATION: "Says the opposite",
    ALTERNATION: "Gives a different answer",
    INDEPENDENCE: "Nothing found",
}
OUTCOMES: dict[Label, str] = {
    SUPPORTS: "the claim is supported",
    REFUTES: "the claim is refuted",
    NOT_ENOUGH_INFO: "it is not sufficient",
}
"""What a proof shows."""
STOPPED: dict[Stopped, str] = {
    "proved": "every part of the claim is covered",
    "decided": "the evidence was enough to decide",
    "unchanged": "the best sentences no longer changed",
    "nothing new": "nothing new of use was found",
    "hops": "the limit of rounds was reached",
    "time": "the time allowed was used up",
}
STAGES = {record.name: record.words for record in RECORDS.values()}
_FOUND_BY = {
    "title": "title",
    "disambiguation": "title with parentheses",
    "text": "phrase",
    "words": "words",
    "link": "link",
    "mention": "mention",
    "generation": "predicted title",
    "dense": "meaning",
}

AGAINST = "Against this verdict"
"""Stands before the best sentence that contradicts what the verdict says or leans to."""
NOT_SETTLED = "The documents do not settle it."
NOTHING_SETTLES = "Nothing that was found settles"
"""Stands before the words of the claim that are open."""
ABSENT = "in none of the texts that were searched"
"""Stands after names of the claim, and "occurs" or "occur"."""
AGREE, DISAGREE = "Both judges agree", "The judges disagree"
CANNOT_COMBINE = (
    "The proof cannot combine several contradictions, so the verdict is that of the evidence read"
    " as a whole."
)
BY_WHOLE = "by the title or the whole sentence"
"""What a part of the claim is settled by where no words of a sentence match it."""
VITAL = "Wikipedia introductions"
"""What people call the corpus ``vital``."""
DECIDED_BY_OWN = "The documents decide this claim, so the default corpus was not searched."
ABOUT_OWN = (
    "The documents are about this and leave it open. What the default corpus says of it is about"
    " something else of the same name."
)
LEFT_OPEN_BY_OWN = "The documents leave this open: the default corpus is searched too"
BY_OCR = "read by OCR"
"""The section of what was read from a picture."""
OCR_NOTE = (
    "OCR reads letters from a picture and may misread them, numbers too; [?] is a word that it is"
    " less than 60% sure of."
)
WITH_QUANTITIES = " + quantities"
"""Follows the verifier's name in a verdict that the stage ``comparison`` had a part in."""

COMPUTED = "Computed for the claim"
"""Before what arithmetic added to a sentence for the verifier."""

_STATEMENT = "Statement "
_READ_IN_PART = "Only the first "
_OLDER = " and may be out of date: the claim says "
_CONTRARY = "The texts contradict each other. The newer, "
NOT_SEARCHED = "could not be searched"
_LAST_DAY = re.compile(r"(?<= o[fn] )\d{4}-\d\d-\d\d\Z")


class Quoting(NamedTuple):
    """A sentence that quotes words of the claim, or none: ``before``, the quotations, ``after``."""

    before: str
    quoted: tuple[str, ...]
    after: str = "."

    @property
    def text(self) -> str:
        """The sentence as plain text."""
        words = listed([f"“{words}”" for words in self.quoted])
        return f"{' '.join(filter(None, (self.before, words)))}{self.after}"


def verdict_words(label: Label, confidence: float | None, leans: Label | None) -> str:
    """Return a verdict in words that are as sure as it is: "Probably refuted"."""
    said = VERDICTS[leans or label]
    level = level_of(label, confidence, leans)
    return f"{level.capitalize()} {said.lower()}" if level in ("probably", "leans") else said


def percent_of(label: Label, confidence: float) -> int | None:
    """Return how sure a label is, in whole percent; 100 only if it is certain.

    ``None`` for NOT ENOUGH INFO: it is never called certain.
    """
    if label == NOT_ENOUGH_INFO:
        return None
    percent = round(100 * confidence)
    return 99 if percent == 100 and confidence < 1 else percent


def certainty_words(percent: int, *, calibrated: bool, short: bool = False) -> str:
    """Return how sure a decided verdict is; if ``calibrated``, as what can be counted."""
    if not calibrated:
        return f"{percent}% sure"
    return f"about {percent} of 100{'' if short else ' such verdicts'} are right"


def balance_of(verdict: Label, stances: Iterable[Label]) -> dict[Label, int]:
    """Return how many sentences have each stance, those with that of the verdict first."""
    counts = Counter(stances)
    order = sorted(counts, key=lambda stance: (stance == NOT_ENOUGH_INFO, stance != verdict))
    return {stance: counts[stance] for stance in order}


def balance_words(balance: dict[Label, int]) -> str:
    """Return the balance of the evidence in a line: "2 refute · 1 supports"."""
    return " · ".join(
        f"{number} {_several(stance) if number > 1 else STANCES[stance].lower()}"
        for stance, number in balance.items()
    )


def together_words(stance: Label | None) -> str:
    """Return what a sentence says with those that it was read with: ": together they refute it"."""
    if stance is None or stance == NOT_ENOUGH_INFO:
        return ""
    return f": together they {_several(stance)} it"


def _several(stance: Label) -> str:
    verb, *rest = STANCES[stance].lower().split()
    return " ".join([verb.removesuffix("s"), *rest])


def found_by_words(names: Sequence[str]) -> str:
    """Return how a document was found, in a word for each way."""
    return ", ".join(_FOUND_BY.get(name, name) for name in names)


def listed(words: Sequence[str]) -> str:
    """Return words as a list within a sentence."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def statement_words(number: int, of: int, statement: str) -> str:
    """Return what is said when the check of a statement of a claim begins."""
    return f"{_STATEMENT}{number} of {of}: {statement}"


def read_in_part(number: int) -> str:
    """Return the notice that the selected sentences are longer than the verifier reads at once."""
    return f"{_READ_IN_PART}{counted(number, 'word')} of the sentences were read together."


def is_about_reading(notice: str) -> bool:
    """Return whether ``read_in_part`` made this notice."""
    return notice.startswith(_READ_IN_PART)


def older_text(day: str, said: str, texts: int) -> str:
    """Return the notice that a text is older than what the claim says: "now".

    ``day``: of the newest of so many ``texts``, ISO 8601.
    """
    which = "The text" if texts == 1 else "The newest text that has a date"
    return f"{which} is of {day_words(day)}{_OLDER}“{said}”."


def contrary_text(newer: str, said: Label, day: str, older: str, day_before: str) -> str:
    """Return the notice that a text says the contrary of an older one.

    ``newer``, ``older``: their titles. ``said``: by the newer one. The days are ISO 8601.
    """
    other = REFUTES if said == SUPPORTS else SUPPORTS
    return (
        f"{_CONTRARY}“{newer}” of {day_words(day)}, seems to {_several(said)} the claim;"
        f" the older, “{older}” of {day_words(day_before)}, seems to {_several(other)} it."
    )


def is_about_age(notice: str) -> bool:
    """Return whether ``older_text`` or ``contrary_text`` made this notice."""
    return _OLDER in notice or notice.startswith(_CONTRARY)


def day_words(iso: str) -> str:
    """Return the day of an ISO 8601 time, or the text itself where it cannot be parsed."""
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    return f"{at.day} {at:%B %Y}"


def credit_words(credit: str) -> str:
    """Return what a document is credited to with its day in words: "a.txt, as of 3 March 2024"."""
    return _LAST_DAY.sub(lambda found: day_words(found[0]), credit)


def is_about_source(notice: str) -> bool:
    """Return whether a notice says that a source did not answer."""
    return NOT_SEARCHED in notice


def recipe_words(name: str) -> str:
    """Return what people call a recipe: "combined, 3 more hops" for combined+3."""
    base, more = base_and_more_hops(name)
    return f"{base}, {more} more hops" if more else base


def begins_statement(message: str) -> bool:
    """Return whether ``statement_words`` made this message of the stage "start"."""
    return message.startswith(_STATEMENT)


def label_named(name: str) -> Label | None:
    """Return the label that a data set or a model calls so, ``None`` if that is not known."""
    return _NAMED.get(re.sub(r"[^a-z]", "", name.casefold()))
