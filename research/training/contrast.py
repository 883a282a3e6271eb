"""Contrast claims: a supported claim with one fact exchanged, so that its evidence refutes it.

Annotators refute mostly by rewording ("only", "never", another trade). A model trained only on
their claims confuses countries, years or numbers that have the same role. These claims differ from
their originals only in one fact, as contrast sets do (Gardner et al. 2020, "Evaluating Models'
Local Decision Boundaries via Contrast Sets").
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from research.evaluation.claims import AnnotatedClaim
from research.training.sentence_pool import PoolSentence, SentencePool
from retrieval.index.formats.titles import title_key
from retrieval.text.context import evidence_text
from retrieval.text.english import EnglishParser
from retrieval.types import REFUTES, SUPPORTS, Label

# Kinds of which a statement mostly has one: place, nation, language. People and organisations only
# as the agents of an action: a film has many actors, and its evidence does not exclude another.
PLACES = frozenset({"GPE", "NORP", "LANGUAGE"})
DOERS = frozenset({"PERSON", "ORG"})
PER_CLAIM = 2
NEAR = 10  # similar sentences in which a convincing replacement is searched
YEARS = 30  # the most years that a year is moved by
YEAR = re.compile(r"\b1[0-9]{3}\b|\b20[0-9]{2}\b")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = re.compile(rf"\b(?:{'|'.join(_NUMBERS[1:])})\b")
_NEGATION = re.compile(r"\b(?:not|no|never|only|without|outside|except|before|after)\b|n't\b")


@dataclass(frozen=True, slots=True)
class Contrast:
    """A claim that its evidence refutes: ``original`` with ``new`` in place of ``old``."""

    claim: AnnotatedClaim
    original: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class _Supported:
    """A supported claim with the data for choosing an exchange."""

    claim: AnnotatedClaim
    entities: list[tuple[str, str]]  # text and kind
    gold: str
    titles: str
    ruled_out: str
    near: list[str]


def contrast_claims(
    claims: Sequence[AnnotatedClaim], pool: SentencePool, seed: int
) -> list[Contrast]:
    """Return up to two contrast claims for each supported claim, refuted by the same evidence.

    The exchanged fact occurs in the claim's gold sentences and not in their titles. The replacement
    does not occur on the gold pages; half of the time it is from a sentence that is retrieved for
    the claim.
    """
    chance = random.Random(seed)
    supported = _supported(claims, pool)
    named = Counter(entity for known in supported for entity in known.entities)
    # A name that occurs once is often an error of the parser.
    names = {
        kind: [
            text
            for (text, k), count in named.items()
            if k == kind and count > 1
            for _ in range(count)
        ]
        for kind in PLACES | DOERS
    }
    contrasts = []
    for known in supported:
        exchanges = [
            *_other_names(known, names, chance),
            *_other_year(known, chance),
            *_other_number(known, chance),
        ]
        for old, new in chance.sample(exchanges, min(PER_CLAIM, len(exchanges))):
            text = exchanged(known.claim.text, old, new)
            changed = AnnotatedClaim(text, REFUTES, known.claim.evidence)
            contrast = Contrast(changed, known.claim.text, old, new)
            if text != known.claim.text and refuting(contrast, pool):
                contrasts.append(contrast)
    return contrasts


def exchanged(text: str, old: str, new: str) -> str:
    """Return the text with ``new`` instead of ``old`` wherever it occurs as whole words."""
    return new.join(re.split(rf"\b{re.escape(old)}\b", text))


def refuting(contrast: Contrast, pool: SentencePool) -> list[PoolSentence]:
    """Return the gold sentences that contain the exchanged fact."""
    gold = [pool.sentences[i] for i in pool.gold(contrast.claim)]
    return [s for s in gold if exchanged(s.text, contrast.old, "") != s.text]


def symmetric(contrast: Contrast, sentence: PoolSentence) -> list[tuple[str, str, Label]]:
    """Return four (claim, evidence, label), so that a claim's wording does not give the label.

    Original and contrast, each with the sentence; then both with the sentence after the same
    exchange, where the contrast is true and the original false (symmetric FEVER: Schuster et al.
    2019, section 3).
    """
    as_it_is = sentence.written
    changed = evidence_text(sentence.title, exchanged(sentence.text, contrast.old, contrast.new))
    return [
        (contrast.original, as_it_is, SUPPORTS),
        (contrast.claim.text, as_it_is, REFUTES),
        (contrast.claim.text, changed, SUPPORTS),
        (contrast.original, changed, REFUTES),
    ]


def _supported(claims: Sequence[AnnotatedClaim], pool: SentencePool) -> list[_Supported]:
    kept = [c for c in claims if c.label == SUPPORTS and not _NEGATION.search(c.text)]
    parser = EnglishParser()
    nearest = pool.nearest([claim.text for claim in kept], NEAR)
    found = []
    for claim, near in zip(kept, nearest, strict=True):
        pages = [sentence for page in sorted(claim.pages) for sentence in pool.page(page)]
        found.append(
            _Supported(
                claim=claim,
                entities=[(entity.text, entity.label_) for entity in parser.parse(claim.text).ents],
                gold=" ".join(
                    pool.sentences[pool.position[key]].text for key in sorted(claim.gold)
                ),
                titles=title_key(" ".join(sorted({page.title for page in pages}))),
                ruled_out=" ".join([claim.text, *(f"{s.title} {s.text}" for s in pages)]),
                near=[pool.sentences[int(i)].text for i in near],
            )
        )
    return found


def _other_names(
    known: _Supported, names: dict[str, list[str]], chance: random.Random
) -> list[tuple[str, str]]:
    exchanges = []
    for text, kind in known.entities:
        exchangeable = kind in PLACES or (kind in DOERS and f" by {text}" in known.claim.text)
        if not exchangeable or text not in known.gold or title_key(text) in known.titles:
            continue
        fitting = [name for name in names[kind] if name not in known.ruled_out]
        nearby = sorted({name for name in fitting if any(name in text for text in known.near)})
        source = nearby if nearby and chance.random() < 0.5 else fitting
        if source:
            exchanges.append((text, chance.choice(source)))
        if kind in PLACES and fitting:
            exchanges.append((text, chance.choice(fitting)))
    return exchanges


def _other_year(known: _Supported, chance: random.Random) -> list[tuple[str, str]]:
    shared = [year for year in YEAR.findall(known.claim.text) if year in known.gold]
    moved = [
        (year, str(int(year) + chance.choice((-1, 1)) * chance.randint(1, YEARS)))
        for year in shared
    ]
    return [(old, new) for old, new in moved if new not in known.ruled_out]


def _other_number(known: _Supported, chance: random.Random) -> list[tuple[str, str]]:
    shared = [number for number in _NUMBER.findall(known.claim.text) if number in known.gold]
    moved = [(number, chance.choice(_NUMBERS)) for number in shared]
    return [(old, new) for old, new in moved if new not in known.ruled_out]
