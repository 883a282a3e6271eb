"""A thing compared with itself in another year, decided by "up from" and "down from".

A verifier reads "4.2 million in 2030, down from 4.6 million in 2029" and cannot say which year had
more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval.quantities.alignment import is_risky
from retrieval.quantities.reading import quantities
from retrieval.quantities.relation import Ruling
from retrieval.text.function_words import FUNCTION_WORDS
from retrieval.text.stems import stem
from retrieval.types import REFUTES, SUPPORTS

if TYPE_CHECKING:
    from retrieval.text.english import EnglishParser

_DEGREE = r"(?:(?:much|far|slightly|a little|a lot|a bit|even|many times|considerably) )?"
_CLAIM = re.compile(
    rf"(?:In (?P<early>\d{{4}}),? )?(?P<first>.+?) (?P<verb>\w+(?: to)?) {_DEGREE}"
    r"(?P<word>more|fewer|less) (?P<of>\w+(?: \w+){0,2}?)(?: in (?P<late>\d{4}))? than"
    r" (?:(?:it|they) (?:did |had ))?"
    r"(?:in (?P<other>\d{4})|(?:in )?(?:the (?:year before|previous year)|a year earlier))"
)
_STATED = re.compile(r"\b(up|down) (?:by )?(?:\d[\d.,]* ?(?:%|per ?cent) )?from\b", re.IGNORECASE)
_YEAR = re.compile(r"\b\d{4}\b")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Change:
    """A claim that there was more, or less, of something in ``year`` than in the ``other`` one.

    ``counted``: the claim as a statement with a gap, "{}", for the number, without a year.
    """

    counted: str
    year: int
    other: int
    more: bool


def change(text: str) -> Change | None:
    """Return what a claim, without its full stop, says of two years; None if anything else."""
    found = _CLAIM.fullmatch(text)
    years = [year for year in (found["early"], found["late"]) if year] if found else []
    if found is None or len(years) != 1:
        return None
    year = int(years[0])
    other = int(found["other"]) if found["other"] else year - 1
    counted = f"{found['first']} {found['verb']} {{}} {found['of']}"
    return Change(counted, year, other, found["word"] == "more")


def stated_change(claim: Change, title: str, sentence: str, parser: EnglishParser) -> Ruling | None:
    """Return what "up from" or "down from" in a sentence says about the claim; None if unsure.

    The sentence, with the ``title`` of its document, must have every word of the claim, and name
    its year right before.
    """
    stated = list(_STATED.finditer(sentence))
    if len(stated) != 1:
        return None
    before, after = sentence[: stated[0].start()], sentence[stated[0].end() :]
    years = [int(year) for year in _YEAR.findall(before)]
    others = [int(year) for year in _YEAR.findall(after)][:1] or [claim.year - 1]
    if years[-1:] != [claim.year] or others != [claim.other]:
        return None
    if not _stems(claim.counted) <= _stems(f"{title} {sentence}"):
        return None
    parsed = parser.parse(sentence)
    if is_risky(parsed, quantities(parsed), frozenset()):
        return None
    rose = stated[0][1].lower() == "up"
    more = "more" if rose else "less"
    because = f"“{stated[0][0]}” says that it was {more} in {claim.year} than in {claim.other}."
    return Ruling(SUPPORTS if rose == claim.more else REFUTES, because)


def _stems(text: str) -> set[str]:
    return {stem(word) for word in _WORD.findall(text) if word.lower() not in FUNCTION_WORDS}
