"""Claims with sentences that settle nothing and that the verifier of the previous phase misreads.

A search reads many pairs of sentences on the claim's topic, and a single wrong reading can decide
the verdict. Training with easy sentences does not prevent such readings.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from research.evaluation.claims import AnnotatedClaim
from research.training.candidates import CandidateFinder
from research.training.figures import Classify
from research.training.loop import Example, labelled
from research.training.sentence_pool import SentencePool
from retrieval.text.model_texts import evidence_set_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO, OPPOSITE, REFUTES, SUPPORTS, Label

ALONE = 2  # readings of one sentence for an undecided claim
PAIRS = 6  # and of two sentences
DECIDED = 2  # pairs that are read for a decided claim
MISREAD = 0.5  # a reading is misread if the wrong labels have at least this probability together


@dataclass(frozen=True, slots=True)
class _Reading:
    """A claim with sentences; ``wrong``: labels that these cannot give the claim."""

    claim: str
    evidence: str
    wrong: tuple[Label, ...]


def misread_examples(
    claims: Sequence[AnnotatedClaim], pool: SentencePool, classify: Classify, seed: int
) -> list[Example]:
    """Return readings that ``classify`` gets wrong.

    ``classify`` is the verifier after the previous phase: (claim, evidence) pairs to probabilities.
    It reads sentences near each claim, alone and in pairs from two pages. None is annotated as
    evidence. If the claim is NOT ENOUGH INFO, both other labels are wrong. If it is decided, only
    the opposite label is: a sentence with the claim's own label may be evidence that was not
    annotated. Most people would call some of FEVER's undecided claims refuted; FEVER does not.
    """
    chance = random.Random(seed)
    found = CandidateFinder(pool).find([claim.text for claim in claims])
    readings = [
        reading
        for claim, near in zip(claims, found, strict=True)
        for reading in _readings(claim, near, pool, chance)
    ]
    probabilities = classify([(reading.claim, reading.evidence) for reading in readings])
    return [
        labelled(reading.claim, reading.evidence, NOT_ENOUGH_INFO)
        for reading, opinion in zip(readings, probabilities, strict=True)
        if sum(opinion[LABELS.index(label)] for label in reading.wrong) >= MISREAD
    ]


def _readings(
    claim: AnnotatedClaim, near: Sequence[int], pool: SentencePool, chance: random.Random
) -> Iterator[_Reading]:
    marked = {pool.position[key] for key in claim.gold if key in pool.position}
    rest = [i for i in near if i not in marked]
    # Sentences of one page are mostly about the same thing; pairs from two pages are misread.
    pairs = [(a, b) for a in rest for b in rest if pool.sentences[a].page != pool.sentences[b].page]
    if claim.label == NOT_ENOUGH_INFO:
        wrong: tuple[Label, ...] = (SUPPORTS, REFUTES)
        sets = [(i,) for i in chance.sample(rest, min(ALONE, len(rest)))]
        count = PAIRS
    else:
        wrong, sets, count = (OPPOSITE[claim.label],), [], DECIDED
    for indices in [*sets, *chance.sample(pairs, min(count, len(pairs)))]:
        texts = [(pool.sentences[i].title, pool.sentences[i].text) for i in indices]
        yield _Reading(claim.text, evidence_set_text(texts), wrong)
