"""The relation between a word of a claim and a word of the evidence.

AdMIRaL (section 3.2) looks claim and evidence terms up in lexicons: WordNet, synonym and antonym
pairs (Roth and Schulte im Walde 2014) and PPDB. This uses only WordNet, rules for numbers and
dates, and spaCy's kinds of entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from retrieval.errors import BadSource

_PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
DATABASE = tuple(f"{file}.{part}" for part in _PARTS.values() for file in ("index", "data"))
_MARKER = re.compile(r"\((?:a|p|ip)\)$")  # marks of the positions of an adjective

SynsetId: TypeAlias = tuple[str, str]
"""A part of speech, one of ``n``, ``v``, ``a`` and ``r``, and an offset in its file."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """From ``source``, a word's place in its synset, to another synset's word ``target``.

    Places count from 1; both are 0 for a pointer between whole synsets.
    """

    symbol: str
    to: SynsetId
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Synset:
    """Words with the same meaning, in small letters with spaces, and their pointers."""

    words: tuple[str, ...]
    pointers: tuple[Pointer, ...]


class WordNet:
    """The synsets of all words."""

    def __init__(self, folder: Path) -> None:
        """Read ``index.*`` and ``data.*`` of all four parts of speech.

        Raises:
            BadSource: a file is missing.
        """
        self._senses: dict[tuple[str, str], list[str]] = {}
        self._lines: dict[SynsetId, str] = {}
        for part, name in _PARTS.items():
            for line in _lines(folder / f"index.{name}"):
                fields = line.split()
                count = int(fields[2])
                self._senses[part, fields[0].replace("_", " ")] = fields[-count:]
            for line in _lines(folder / f"data.{name}"):
                self._lines[part, line[:8]] = line
        self.synset = cache(self._read)

    def senses(self, word: str, part: str) -> list[SynsetId]:
        """Return the synsets of a word in small letters, the most frequent one first."""
        return [(part, offset) for offset in self._senses.get((part, word), ())]

    def _read(self, synset: SynsetId) -> Synset:
        """Return a synset that ``senses`` or a pointer names."""
        fields = self._lines[synset].partition("|")[0].split()
        end = 4 + 2 * int(fields[3], 16)
        words = tuple(_MARKER.sub("", word).replace("_", " ").lower() for word in fields[4:end:2])
        count = int(fields[end])
        pointers = []
        for start in range(end + 1, end + 1 + 4 * count, 4):
            symbol, offset, part, places = fields[start : start + 4]
            # A satellite (s) of an adjective is in the adjectives' file.
            to = ("a" if part == "s" else part, offset)
            pointers.append(Pointer(symbol, to, int(places[:2], 16), int(places[2:], 16)))
        return Synset(words, tuple(pointers))


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines after the licence, whose lines begin with spaces."""
    try:
        with path.open(encoding="utf-8") as stream:
            yield from (line for line in stream if not line.startswith(" "))
    except OSError as error:
        raise BadSource(
            "bad_data",
            f"{path} cannot be read.",
            "Point --wordnet at WordNet's database, such as /usr/share/wordnet of Debian's"
            " wordnet-base.",
        ) from error


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
