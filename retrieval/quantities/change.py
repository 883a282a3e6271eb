"""A thing compared with itself in another year, decided by "up from" and "down from".

A verifier reads "4.2 million in 2030, down from 4.6 million in 2029" and cannot say which year had
more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval.quantities.alignment import head_of, is_risky, subject_of, verb_of, words_of
from retrieval.quantities.numerals import numerals
from retrieval.quantities.quantity import DATE, Quantity
from retrieval.quantities.reading import quantities
from retrieval.quantities.relation import Ruling
from retrieval.quantities.vocabulary import WHOLES
from retrieval.text.function_words import FUNCTION_WORDS
from retrieval.text.stems import stem
from retrieval.types import REFUTES, SUPPORTS

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

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
# What may follow "from": a number, and the other year.
_ABOUT = re.compile(r" (?:(?:about|around|nearly|almost|some|just over|just under) )?")
_OTHER = re.compile(
    r",?(?: (?:in|during))? (?:(?P<year>\d{4})|the (?:year before|previous year)|a year earlier)\b"
)
_END = re.compile(r"[.!)]*\s*")
_BESIDE = {"appos", "relcl", "acl", "conj"}
_NAMING = {"NOUN", "PROPN", "ADJ", "NUM"}


@dataclass(frozen=True, slots=True)
class Change:
    """A claim that there was more, or less, of something in ``year`` than in the ``other`` one.

    ``counted``: the claim as a statement with a gap, "{}", for the number, without a year. ``of``:
    what the number is of.
    """

    counted: str
    of: str
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
    return Change(counted, found["of"], year, other, found["word"] == "more")


def stated_change(claim: Change, title: str, sentence: str, parser: EnglishParser) -> Ruling | None:
    """Return what "up from" or "down from" in a sentence says about the claim; None if unsure.

    The sentence, with the ``title`` of its document, must have every word of the claim, and name
    its year right before. The number there must be that of the claim's subject, of what the claim
    counts; after "from" there may only be the other year, or the number that it had.
    """
    stated = list(_STATED.finditer(sentence))
    if len(stated) != 1:
        return None
    before, after = sentence[: stated[0].start()], sentence[stated[0].end() :]
    years = [int(year) for year in _YEAR.findall(before)]
    if years[-1:] != [claim.year] or not _is_other_year(claim, after):
        return None
    if not _stems(claim.counted) <= _stems(f"{title} {sentence}"):
        return None
    parsed = parser.parse(sentence)
    found = quantities(parsed)
    if is_risky(parsed, found, frozenset()):
        return None
    numbers = [item for item in found if item.end <= len(before) and item.dimension != DATE]
    if not numbers or not _is_counted(claim, parsed, numbers[-1], title, parser):
        return None
    rose = stated[0][1].lower() == "up"
    more = "more" if rose else "less"
    because = f"“{stated[0][0]}” says that it was {more} in {claim.year} than in {claim.other}."
    return Ruling(SUPPORTS if rose == claim.more else REFUTES, because)


def _is_other_year(claim: Change, after: str) -> bool:
    """Return whether what follows "from" is the other year of the claim, or its number."""
    number = next(numerals(after), None)
    start = 0
    if number is not None and not _OTHER.match(after):
        if not _ABOUT.fullmatch(after, 0, number.start):
            return False
        start = number.end
        noun = f" {claim.of}"
        start += len(noun) if after.startswith(noun, start) else 0
    if start and _END.fullmatch(after, start):
        return claim.other == claim.year - 1
    other = _OTHER.match(after, start)
    return other is not None and int(other["year"] or claim.year - 1) == claim.other


def _is_counted(
    claim: Change, parsed: Doc, item: Quantity, title: str, parser: EnglishParser
) -> bool:
    """Return whether a number of a sentence is of what the claim counts, and of its subject."""
    asked = parser.parse(f"{claim.counted.format(5)}.")
    wanted = next(iter(quantities(asked)), None)
    if wanted is None or not wanted.dimension or wanted.dimension != item.dimension:
        return False
    if not _stems(claim.of) <= _words(_noun(parsed, item).subtree):
        return False
    own, found = (_subject(asked, wanted), _subject(parsed, item))
    if own is None or found is None:
        return False
    named, titled = _name(own), words_of(title)
    whole = found.lemma_.lower() in WHOLES and len(_name(found)) == 1  # "the airport"
    if found.pos_ == "PRON" or whole:
        before = (t for t in parsed[: found.i] if t.pos_ == "PROPN" and t.ent_type_ != "DATE")
        return named == titled and _words(before) <= titled
    return named == _name(found)


def _noun(doc: Doc, item: Quantity) -> Token:
    head = head_of(doc, item)
    return head.head if head.dep_ == "nummod" else head


def _subject(doc: Doc, item: Quantity) -> Token | None:
    verb = verb_of(head_of(doc, item))
    return subject_of(verb) if verb is not None else None


def _name(subject: Token) -> set[str]:
    """Return the stems of the words of a subject, without what is beside it or in apposition."""
    beside = {
        inner
        for token in subject.subtree
        if token.dep_ in _BESIDE or (token.dep_ == "prep" and token.lower_ != "of")
        for inner in token.subtree
        if token != subject
    }
    own = (token for token in subject.subtree if token not in beside)
    return _words(token for token in own if token.pos_ in _NAMING)


def _words(tokens: Iterable[Token]) -> set[str]:
    return {stem(token.text) for token in tokens}


def _stems(text: str) -> set[str]:
    return {stem(word) for word in _WORD.findall(text) if word.lower() not in FUNCTION_WORDS}
