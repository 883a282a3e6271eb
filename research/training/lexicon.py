"""The relation between a word of a claim and a word of the evidence.

AdMIRaL (section 3.2) looks claim and evidence terms up in lexicons: WordNet, synonym and antonym
pairs (Roth and Schulte im Walde 2014) and PPDB. This uses only WordNet, rules for numbers and
dates, and spaCy's kinds of entities.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from research.training.wordnet import SynsetId, WordNet

Relation: TypeAlias = Literal["same", "wider", "opposite", "other"]

# Senses of a word that count, the most frequent first; rarer ones match by chance.
SENSES = 4
# Steps from a word to what it is a kind of ("actor" to "person" is three) or a part of.
WIDER = 4
PARTS = "nvar"
PLACES = frozenset({"GPE", "NORP", "LANGUAGE", "LOC"})
EXCLUSIVE = frozenset({"PERSON", "ORG"})


def _words(text: str) -> list[str]:
    return text.split()


_CARDINALS = _words(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
    """
)
_ORDINALS = _words(
    """
    zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
    thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth
    """
)
_TENS = _words("twenty thirty forty fifty sixty seventy eighty ninety")
_MONTHS = frozenset(
    _words(
        """
        january february march april may june july august september october november december
        """
    )
)
_VALUES: dict[str, float] = {
    **{word: value for value, word in enumerate(_CARDINALS)},
    **{word: value for value, word in enumerate(_ORDINALS)},
    **{word: 20 + 10 * place for place, word in enumerate(_TENS)},
    **{word.removesuffix("y") + "ieth": 20 + 10 * place for place, word in enumerate(_TENS)},
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
}
_DIGITS = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?:st|nd|rd|th)?")
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_DECADE = re.compile(r"((?:1\d|20)\d)0s")
_SYMBOLS = {"%": "percent", "$": "dollar", "£": "pound", "€": "euro"}


@dataclass(frozen=True, slots=True)
class Word:
    """A word, or several that are one name, as written and in its base form.

    ``part``: its part of speech, one of ``n``, ``v``, ``a`` and ``r``, or empty for any. ``kind``:
    spaCy's kind of the entity that it belongs to, or empty.
    """

    text: str
    lemma: str
    part: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class _Entry:
    """The entries of WordNet for a word.

    ``number`` and ``year``: its value, if it is a number, and whether that may be a year.
    ``derived``: words with its stem, as "director" and "direct". ``pertains``: the word that an
    adjective is made from, as "Norwegian" from "Norway". ``kinds``, ``nearest_kinds`` and
    ``wholes``: the things that it is a kind or a part of.
    """

    number: float | None
    year: bool
    synsets: frozenset[SynsetId]
    nouns: frozenset[SynsetId]
    derived: frozenset[SynsetId]
    pertains: frozenset[SynsetId]
    antonyms: frozenset[str]
    kinds: frozenset[SynsetId]
    nearest_kinds: frozenset[SynsetId]
    wholes: frozenset[SynsetId]


class Lexicon:
    """Finds how words are related."""

    def __init__(self, wordnet: Path) -> None:
        """Read WordNet's database in this folder.

        Raises:
            BadSource: a file of it is missing.
        """
        self._wordnet = WordNet(wordnet)
        self._entry = cache(self._read)

    def relation(self, claim: Word, evidence: Word) -> Relation | None:
        """Return the relation of the evidence's word to the claim's, or None if none is known.

        ``same``: it means the same, as "directed" and "director", "two" and "2",
        "Norway" and "Norwegian". ``wider``: the claim's word follows from it, as
        "person" from "actor", "the 1990s" from "1994". ``opposite``: its antonym.
        ``other``: of the same kind, and another one: a year, number, month, place
        or name, or a noun for another thing of a sort.
        """
        if claim.text.casefold() == evidence.text.casefold() or claim.lemma == evidence.lemma:
            return "same"
        one, two = self._entry(claim), self._entry(evidence)
        decade = _DECADE.fullmatch(claim.text)
        if decade and two.year:
            return "wider" if evidence.text.startswith(decade[1]) else "other"
        if one.number is not None or two.number is not None:
            if one.number == two.number:
                return "same"
            both = one.number is not None and two.number is not None
            return "other" if both and one.year == two.year else None
        if (
            one.synsets & (two.synsets | two.derived)
            or one.derived & two.synsets
            or one.pertains & two.pertains
        ):
            return "same"
        if evidence.lemma in one.antonyms or claim.lemma in two.antonyms:
            return "opposite"
        if one.nouns & two.kinds or (one.nouns | one.pertains) & two.wholes:
            return "wider"
        return "other" if self._exclusive(claim, evidence, one, two) else None

    def _exclusive(self, claim: Word, evidence: Word, one: _Entry, two: _Entry) -> bool:
        if {claim.text.casefold(), evidence.text.casefold()} <= _MONTHS:
            return True
        if claim.kind in PLACES and evidence.kind in PLACES:
            return not (two.nouns | two.pertains) & one.wholes
        if claim.kind or evidence.kind:
            shared = set(claim.lemma.split()) & set(evidence.lemma.split())
            return claim.kind in EXCLUSIVE and claim.kind == evidence.kind and not shared
        return bool(one.nearest_kinds & two.nearest_kinds)

    def _read(self, known: Word) -> _Entry:
        word = _SYMBOLS.get(known.lemma, known.lemma)
        parts = known.part or PARTS
        synsets = [s for part in parts for s in self._wordnet.senses(word, part)[:SENSES]]
        nouns = [synset for synset in synsets if synset[0] == "n"]
        pointers = [
            pointer
            for synset in synsets
            for read in [self._wordnet.synset(synset)]
            for pointer in read.pointers
            if pointer.source and read.words[pointer.source - 1] == word
        ]
        first = self._wordnet.senses(word, "a")[:1]
        pertains = [
            pointer.to
            for synset in first
            for pointer in self._wordnet.synset(synset).pointers
            if pointer.symbol == "\\"
        ]
        return _Entry(
            number=number_of(known.text),
            year=_YEAR.fullmatch(known.text) is not None,
            synsets=frozenset(synsets),
            nouns=frozenset(nouns),
            derived=frozenset(p.to for p in pointers if p.symbol in ("+", "\\")),
            pertains=frozenset(pertains),
            antonyms=frozenset(
                self._wordnet.synset(p.to).words[p.target - 1] for p in pointers if p.symbol == "!"
            ),
            kinds=self._above(nouns, ("@", "@i"), WIDER),
            nearest_kinds=self._above(nouns[:1], ("@",), 1),
            wholes=self._above([*nouns[:1], *pertains], ("#p",), WIDER),
        )

    def _above(
        self, synsets: list[SynsetId], symbols: tuple[str, ...], steps: int
    ) -> frozenset[SynsetId]:
        """Return the synsets up to so many steps above these."""
        found: set[SynsetId] = set()
        level = set(synsets)
        for _ in range(steps):
            level = {
                pointer.to
                for synset in level
                for pointer in self._wordnet.synset(synset).pointers
                if pointer.symbol in symbols
            }
            found |= level
        return frozenset(found)


def number_of(text: str) -> float | None:
    """Return the value of a number in digits or words, cardinal or ordinal, if it is one."""
    plain = text.casefold()
    digits = _DIGITS.fullmatch(plain)
    if digits:
        return float(digits[1].replace(",", "") + (digits[2] or ""))
    tens, _, units = plain.partition("-")
    if units and tens in _TENS and 0 < _VALUES.get(units, 0) < 10:
        return _VALUES[tens] + _VALUES[units]
    return _VALUES.get(plain)
