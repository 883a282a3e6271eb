"""Claims with sets of sentences that are known to suffice or not to.

For each claim there is a set that suffices and one that does not (AdMIRaL, section 3.2), of one to
five sentences as in the pipeline: gold ones among others. Sets that do not suffice are a gold set
without one of its sentences, other sentences of the gold pages, or sentences retrieved for an
undecided claim.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from research.evaluation.claims import AnnotatedClaim, FeverClaim, SentenceKey
from research.training.compositions import Composition
from research.training.contrast import Contrast, exchanged, refuting
from research.training.data import PageClaim
from research.training.read_texts import Offsets
from research.training.sentence_pool import CandidateFinder, SentencePool
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label

MOST = 5  # sentences of a set
MOST_NEEDED = 4  # of a gold set; longer ones are cut
LONGEST = 850  # characters that a set is filled up to, about 200 tokens
CONVINCING = 6  # sentences of other pages are drawn from so many of the nearest
SAME_PAGE = 0.7  # share of decided claims whose insufficient set has sentences of a gold page
FLIPPED = 0.5  # share of contrast claims that are also read after the exchange in the evidence

Pair: TypeAlias = tuple[str, str]
"""A title and a sentence of its page."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """The offsets of a claim's exchanged words; the evidence has ``in_evidence`` instead."""

    start: int
    end: int
    in_evidence: str


@dataclass(frozen=True, slots=True)
class EvidenceSet:
    """A claim with sentences, and what is known about them.

    ``label``: the right label with these sentences, NOT ENOUGH INFO if they do not suffice.
    ``gold``: the positions of the gold ones among them; ``missing``: the gold ones that were left
    out. ``open``: claim offsets of the parts that only the missing ones contain, if known.
    ``known_open``: whether it is certain that a part is open; sentences near a claim may be
    evidence that was not annotated. ``two_pages``: whether the claim needs two pages.
    """

    claim: str
    label: Label
    sentences: tuple[Pair, ...]
    gold: tuple[int, ...]
    exchange: Exchange | None = None
    missing: tuple[Pair, ...] = ()
    open: tuple[Offsets, ...] = ()
    known_open: bool = True
    two_pages: bool = False


def claim_sets(
    claims: Sequence[AnnotatedClaim], pool: SentencePool, seed: int
) -> list[EvidenceSet]:
    """Return sets of each claim: for decided ones one that suffices, then those that do not.

    They and their order depend only on the seed.
    """
    chance = random.Random(seed)
    found = CandidateFinder(pool).find([claim.text for claim in claims])
    made: list[EvidenceSet] = []
    for claim, candidates in zip(claims, found, strict=True):
        sets = _Sets(claim, candidates, pool, chance)
        made += [sets.undecided()] if claim.label == NOT_ENOUGH_INFO else sets.decided()
    return made


def contrast_sets(
    contrasts: Sequence[Contrast], pool: SentencePool, seed: int
) -> list[EvidenceSet]:
    """Return contrast claims with a sentence that refutes them.

    Half of them are also returned with that sentence after the same exchange, and their originals
    with it, so that a claim's wording does not give the label.
    """
    chance = random.Random(seed)
    found = CandidateFinder(pool).find([contrast.claim.text for contrast in contrasts])
    made: list[EvidenceSet] = []
    for contrast, candidates in zip(contrasts, found, strict=True):
        sentence = chance.choice(refuting(contrast, pool))
        claim, old, new = contrast.claim.text, contrast.old, contrast.new
        elsewhere = _elsewhere(contrast.claim, candidates, pool)
        gold = [sentence.pair]
        refuted = _filled(claim, REFUTES, gold, elsewhere, chance)
        made.append(replace(refuted, exchange=_exchange(claim, new, old)))
        if chance.random() < FLIPPED:
            gold = [(sentence.title, exchanged(sentence.text, old, new))]
            made.append(_filled(claim, SUPPORTS, gold, elsewhere, chance))
            refuted = _filled(contrast.original, REFUTES, gold, elsewhere, chance)
            made.append(replace(refuted, exchange=_exchange(contrast.original, old, new)))
    return made


def page_sets(claims: Sequence[PageClaim], seed: int) -> list[EvidenceSet]:
    """Return Fool Me Twice claims with their gold sentences, and with others of the page."""
    chance = random.Random(seed)
    made = []
    for claim in claims:
        gold = [(claim.title, text) for text in claim.gold[:MOST_NEEDED]]
        others = [(claim.title, text) for text in claim.others]
        made.append(_filled(claim.text, claim.label, gold, others, chance))
        if others:
            less = _filled(claim.text, NOT_ENOUGH_INFO, [], others, chance)
            made.append(replace(less, missing=tuple(gold), known_open=False))
    return made


def composition_sets(
    compositions: Sequence[Composition], pool: SentencePool, seed: int
) -> list[EvidenceSet]:
    """Return each composition with both of its sentences, and with each of them alone."""
    chance = random.Random(seed)
    found = CandidateFinder(pool).find([made.claim.text for made in compositions])
    made: list[EvidenceSet] = []
    for composition, candidates in zip(compositions, found, strict=True):
        claim, flipped, instead = composition.claim, composition.flipped, composition.in_evidence
        exchange = Exchange(*flipped, instead) if flipped and instead else None
        elsewhere = _elsewhere(claim, candidates, pool)
        gold = pool.pairs(pool.rows(claim.evidence[0]))
        whole = _filled(claim.text, claim.label, gold, elsewhere, chance)
        made.append(replace(whole, exchange=exchange, two_pages=True))
        for number, (left_out, only) in enumerate(zip(gold, composition.parts, strict=True)):
            part = _filled(claim.text, NOT_ENOUGH_INFO, [gold[1 - number]], elsewhere, chance)
            known = replace(part, exchange=exchange, missing=(left_out,), open=only)
            made.append(replace(known, two_pages=True))
    return made


@dataclass(frozen=True, slots=True)
class _Sets:
    """A claim with the sentences that it can be read with."""

    claim: AnnotatedClaim
    candidates: Sequence[int]
    pool: SentencePool
    chance: random.Random

    def undecided(self) -> EvidenceSet:
        """Return retrieved sentences for the claim, always with the nearest one."""
        retrieved = self.pool.pairs(self.candidates)
        found = _filled(self.claim.text, NOT_ENOUGH_INFO, retrieved[:1], retrieved[1:], self.chance)
        return replace(found, gold=())

    def decided(self) -> list[EvidenceSet]:
        """Return a set that suffices, and some that do not."""
        claim, pool = self.claim, self.pool
        whole = [group for group in claim.evidence if all(key in pool.position for key in group)]
        if not whole:
            return []
        fewest = min(map(len, whole))
        needed = self.chance.choice([group for group in whole if len(group) == fewest])
        gold = pool.pairs(pool.rows(needed[:MOST_NEEDED]))
        elsewhere = _elsewhere(claim, self.candidates, pool)[:CONVINCING]
        others = pool.pairs(pool.beside(claim))
        wrong = [*elsewhere, *self.chance.sample(others, min(len(others), CONVINCING // 2))]
        sets = [_filled(claim.text, claim.label, gold, wrong, self.chance)]
        sets += [self._without(key, needed, elsewhere) for key in self._left_out(needed)]
        if len(sets) == 1:
            near = others and self.chance.random() < SAME_PAGE
            first = [self.chance.choice(others)] if near else []
            less = _filled(
                claim.text, NOT_ENOUGH_INFO, first, wrong if near else elsewhere, self.chance
            )
            if less.sentences:
                less = replace(less, gold=(), missing=tuple(gold), known_open=False)
                sets.append(less)
        return [replace(made, two_pages=claim.needs_several_pages) for made in sets]

    def _left_out(self, needed: Sequence[SentenceKey]) -> list[SentenceKey]:
        """Return sentences without which a gold set does not suffice, two at most.

        For a union of sets they are unknown, so there are none.
        """
        if not 1 < len(needed) <= MOST_NEEDED or not isinstance(self.claim, FeverClaim):
            return []
        whole = [set(group) for group in self.claim.evidence]
        able = [key for key in needed if not any(g <= set(needed) - {key} for g in whole)]
        return self.chance.sample(able, min(2, len(able)))

    def _without(
        self, key: SentenceKey, needed: Sequence[SentenceKey], elsewhere: Sequence[Pair]
    ) -> EvidenceSet:
        left = self.pool.pairs(self.pool.rows(other for other in needed if other != key))
        part = _filled(self.claim.text, NOT_ENOUGH_INFO, left, elsewhere, self.chance)
        # Annotators often add a page's first sentence although its title says enough.
        pages = len({page for page, _ in needed})
        return replace(
            part, missing=tuple(self.pool.pairs(self.pool.rows([key]))), known_open=pages > 1
        )


def _filled(
    claim: str,
    label: Label,
    first: Sequence[Pair],
    others: Sequence[Pair],
    chance: random.Random,
) -> EvidenceSet:
    """Return the first sentences among a random number of others, in random order."""
    chosen = list(first)
    fitting = [pair for pair in others if pair not in first]
    most = min(MOST - len(first), len(fitting))
    least = min(most, 0 if first else 1)
    for pair in chance.sample(fitting, chance.randint(least, most)):
        if not chosen or sum(map(_length, [*chosen, pair])) <= LONGEST:
            chosen.append(pair)
    chance.shuffle(chosen)
    gold = tuple(place for place, pair in enumerate(chosen) if pair in first)
    return EvidenceSet(claim, label, tuple(chosen), gold)


def _exchange(claim: str, words: str, in_evidence: str) -> Exchange | None:
    match = re.search(rf"\b{re.escape(words)}\b", claim)
    return Exchange(match.start(), match.end(), in_evidence) if match else None


def _length(pair: Pair) -> int:
    return len(pair[0]) + len(pair[1])


def _elsewhere(claim: AnnotatedClaim, candidates: Sequence[int], pool: SentencePool) -> list[Pair]:
    """Return retrieved sentences of other pages than the gold ones."""
    return pool.pairs(pool.elsewhere(claim, candidates))
