"""Readings made by rule: framed claims, units, capitals of other places, years of a term.

They are many and monotonous. They teach that a frame, a unit and a place matter; the texts written
by hand (``assertions``) teach how people really say it. A frame is a text with a place for any
claim, written by hand in ``research/datasets/assertion/frames.jsonl``: "Fact check: {Claim}.
False."
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from research.evaluation.claims import Pair, read_pairs
from research.training.data import EverydayData
from research.training.loop import Example, labelled
from retrieval.text.context import evidence_text
from retrieval.text.word_forms import FUNCTION_WORDS
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS

_SMALL = FUNCTION_WORDS | {"people", "most", "some", "all", "many", "every", "one", "two"}
# A unit, the units that it is exchanged for, and how a whole number of it is converted.
_UNITS: dict[str, tuple[str, ...]] = {
    "kilometres": ("miles", "metres"),
    "miles": ("kilometres",),
    "metres": ("feet", "kilometres"),
    "feet": ("metres", "inches"),
    "kilograms": ("pounds", "grams"),
    "pounds": ("kilograms",),
    "hours": ("minutes", "days"),
    "minutes": ("hours", "seconds"),
    "days": ("weeks", "hours"),
    "weeks": ("months",),
    "months": ("years", "weeks"),
    "years": ("months", "decades"),
    "dollars": ("euros",),
    "euros": ("dollars",),
    "million": ("billion", "thousand"),
    "billion": ("million",),
}
_SMALLER: dict[str, tuple[int, str]] = {
    "kilometres": (1_000, "metres"),
    "hours": (60, "minutes"),
    "weeks": (7, "days"),
    "million": (1_000, "thousand"),
}
_QUANTITY = re.compile(r"\b(\d[\d,.]*|two|three|four|five|ten) (" + "|".join(_UNITS) + r")\b")
_CAPITAL = re.compile(
    r"^([A-Z][\w' -]{2,30}) is the capital(?: and [\w -]+?)? of (?:the )?"
    r"((?:[\w]+ )*?(?:state|province|region|district) of )?([A-Z][\w' -]{2,30}?)"
    r"(?=[,.;(]| and | in )"
)
_OTHER_CAPITALS = 3  # places that each capital is claimed of
_TERM = re.compile(r"\bfrom (\d{4}) (?:to|until) (\d{4})\b")
_YEAR = re.compile(r"\b\d{4}\b")
_SHORTEST_TERM = 4  # years: it has a year that is clearly inside
_LONGEST_SENTENCE = 30  # words


def made_by_rule(
    everyday: EverydayData, frames: Sequence[Pair], pairs: Path, seed: int, most: int
) -> list[Example]:
    """Return readings, drawn by ``seed``, at most ``most`` of each of the four kinds.

    ``frames``: their evidence has a place for a claim (``framed``); ``pairs``: the folder of public
    pairs.

    Raises:
        BadSource: a file of ``pairs`` is missing or cannot be read.
    """
    chance = random.Random(seed)
    kinds = (
        list(_framed(everyday, frames, chance)),
        list(_exchanged_units(pairs, chance)),
        list(_capitals(everyday, chance)),
        list(_terms(everyday, chance)),
    )
    return [row for kind in kinds for row in chance.sample(kind, min(most, len(kind)))]


def framed(claim: str, frame: str) -> str:
    """Return the frame with the claim in it, without its full stop.

    ``{Claim}`` is the claim as it stands; in ``{claim}`` its first letter is small unless it begins
    a name.
    """
    whole = claim.rstrip(".!")
    first, space, rest = whole.partition(" ")
    small = first.lower() if first.lower() in _SMALL else first
    return frame.format(Claim=whole, claim=small + space + rest)


def _framed(
    everyday: EverydayData, frames: Sequence[Pair], chance: random.Random
) -> Iterator[Example]:
    """Yield each claim in a frame of each label, on some page if the frame has no title."""
    titles = [sentence.title for sentence in everyday.pool.sentences]
    of_label = {label: [f for f in frames if f.label == label] for label in LABELS}
    for claim in everyday.claims:
        title = chance.choice(titles)
        for label, known in of_label.items():
            frame = chance.choice(known)
            text = framed(claim.text, frame.evidence)
            evidence = text if frame.title else evidence_text(title, text)
            yield labelled(claim.text, evidence, label)


def _exchanged_units(pairs: Path, chance: random.Random) -> Iterator[Example]:
    for source in ("vitaminc", "infotabs", "fever", "feverous"):
        for pair in read_pairs(pairs / f"{source}.jsonl"):
            found = _QUANTITY.search(pair.claim)
            if pair.label != SUPPORTS or found is None or found[2] not in pair.evidence:
                continue
            before, after = pair.claim[: found.start(2)], pair.claim[found.end(2) :]
            other = before + chance.choice(_UNITS[found[2]]) + after
            yield labelled(pair.claim, pair.evidence, SUPPORTS)
            yield labelled(other, pair.evidence, REFUTES)
            if found[1].isdigit() and found[2] in _SMALLER:
                factor, unit = _SMALLER[found[2]]
                before = pair.claim[: found.start()]
                same = f"{before}{int(found[1]) * factor:,} {unit}{after}"
                yield labelled(same, pair.evidence, SUPPORTS)


def _capitals(everyday: EverydayData, chance: random.Random) -> Iterator[Example]:
    """Yield the capital of each place claimed of that place and of others."""
    known = []
    for sentence in everyday.pool.sentences:
        found = _CAPITAL.match(sentence.text)
        if found:
            known.append((found[1], found[3], sentence.written))
    for city, place, text in known:
        yield labelled(f"{city} is the capital of {place}.", text, SUPPORTS)
        for other, elsewhere, of_other in chance.sample(known, min(_OTHER_CAPITALS, len(known))):
            if elsewhere in text or place in of_other or other == city:
                continue
            yield labelled(f"{other} is the capital of {place}.", text, REFUTES)
            yield labelled(f"{city} is the capital of {place}.", of_other, NOT_ENOUGH_INFO)
            yield labelled(f"{city} is the capital of {elsewhere}.", text, NOT_ENOUGH_INFO)


def _terms(everyday: EverydayData, chance: random.Random) -> Iterator[Example]:
    """Yield sentences with one term, claimed of a year inside it, after it and before it."""
    for sentence in everyday.pool.sentences:
        found = _TERM.search(sentence.text)
        only = len(_YEAR.findall(sentence.text)) == 2
        if found is None or not only or len(sentence.text.split()) > _LONGEST_SENTENCE:
            continue
        first, last = int(found[1]), int(found[2])
        if last - first < _SHORTEST_TERM or sentence.page in everyday.measured_pages:
            continue
        text = sentence.written
        inside = chance.sample(range(first + 1, last), 2)
        outside = (last + chance.randint(2, 30), first - chance.randint(2, 30))
        for year, label in (
            *((year, SUPPORTS) for year in inside),
            *((year, REFUTES) for year in outside),
        ):
            yield labelled(sentence.text.replace(found[0], f"in {year}"), text, label)
