"""Claims with retrieved sentences: evidence among wrong ones, misread ones, composed claims.

A pipeline finds ten sentences on the topic, of which one or two settle the claim. So half of these
examples are sentences that settle nothing, and the evidence is read among wrong sentences as often
as alone. A single wrong reading can decide the verdict, so readings that the verifier of the
previous phase misreads are added: training with easy sentences does not prevent them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from research.evaluation.claims import AnnotatedClaim, CorpusClaim
from research.training.compositions import Composition
from research.training.figures import Classify
from research.training.loop import Example, labelled
from research.training.sentence_pool import CandidateFinder, SentencePool
from retrieval.types import LABELS, NOT_ENOUGH_INFO, OPPOSITE, REFUTES, SUPPORTS, Label

NEAREST = 2  # sentences near a decided claim that may be read as wrong; one more if undecided
NEAR = 6  # wrong sentences that are added to the evidence are drawn from so many of the nearest
SET_LIMIT = 4  # sentences that are read together
WRONG_SET_SIZES = (2, 3)  # sentences of a set that settles nothing
AGREES = 0.6  # a sentence that gives the claim's label this probability counts as evidence


@dataclass(frozen=True, slots=True)
class _Claim:
    """A claim with sentences as indices into the pool.

    ``wrong``: sentences that settle nothing; the nearest ones and, for a decided claim, one more of
    a page with its evidence. ``near``: sentences near the claim that are not annotated as evidence;
    nearest first.
    """

    text: str
    label: Label
    evidence: list[int]
    wrong: list[int]
    near: list[int]


def retrieved_examples(
    claims: Sequence[CorpusClaim],
    pool: SentencePool,
    classify: Classify,
    seed: int,
    wrong_together: float,
) -> list[Example]:
    """Return examples of each claim: with its evidence, with wrong sentences, and with both.

    A decided claim is also read with a sentence that settles nothing or, for a share
    ``wrong_together`` of these claims, with several of them at once.
    ``classify`` is the verifier after the previous phase: (claim, evidence) pairs to probabilities.
    It finds the sentences that settle a claim without being annotated as its evidence.
    """
    chance = random.Random(seed)
    examples: list[Example] = []
    for claim in _with_wrong_sentences(claims, pool, classify, chance):
        if claim.label == NOT_ENOUGH_INFO:
            readings = _undecided(claim, chance)
        else:
            readings = _decided(claim, wrong_together, chance)
        for indices, label in readings:
            examples.append(labelled(claim.text, pool.together(indices), label))
    return examples


def _decided(
    claim: _Claim, wrong_together: float, chance: random.Random
) -> Iterator[tuple[list[int], Label]]:
    """Yield sentences that are read together, with the right label of the claim."""
    yield chance.sample(claim.evidence, len(claim.evidence)), claim.label
    together = chance.random() < wrong_together
    if claim.wrong:
        count = min(len(claim.wrong), chance.choice(WRONG_SET_SIZES) if together else 1)
        yield chance.sample(claim.wrong, count), NOT_ENOUGH_INFO
    several = len(claim.evidence) > 1
    if claim.near and (several or chance.random() < 0.5):
        yield _among(claim.evidence, claim.near, chance), claim.label
    if several:
        # A part of the evidence settles nothing, alone or with a wrong sentence.
        yield [chance.choice(claim.evidence)], NOT_ENOUGH_INFO
        beside = [claim.near[:NEAREST], claim.wrong] if together else [claim.near[:NEAREST]]
        for wrong in filter(None, beside):
            pair = [chance.choice(claim.evidence), chance.choice(wrong)]
            yield chance.sample(pair, 2), NOT_ENOUGH_INFO


def _undecided(claim: _Claim, chance: random.Random) -> Iterator[tuple[list[int], Label]]:
    for wrong in claim.wrong:
        yield [wrong], NOT_ENOUGH_INFO
    if len(claim.near) > 1:
        yield _among([], claim.near, chance), NOT_ENOUGH_INFO


def _among(evidence: Sequence[int], near: Sequence[int], chance: random.Random) -> list[int]:
    """Return the evidence among wrong sentences, in random order, ``SET_LIMIT`` at most."""
    least = 1 if evidence else 2
    most = max(least, SET_LIMIT - len(evidence))
    wrong = chance.sample(near, min(len(near), chance.randint(least, most)))
    together = [*evidence, *wrong]
    chance.shuffle(together)
    return together


def _with_wrong_sentences(
    claims: Sequence[CorpusClaim],
    pool: SentencePool,
    classify: Classify,
    chance: random.Random,
) -> list[_Claim]:
    found = CandidateFinder(pool).find([claim.text for claim in claims])
    marked = [{pool.position[key] for key in claim.gold} for claim in claims]
    near = [
        [i for i in indices if i not in gold] for indices, gold in zip(found, marked, strict=True)
    ]
    settling = _settling(claims, near, pool, classify)
    result = []
    for number, claim in enumerate(claims):
        if claim.label == NOT_ENOUGH_INFO:
            tempting = [pool.position[claim.tempting]] if claim.tempting else []
            wrong = list(dict.fromkeys([*tempting, *near[number]]))[: NEAREST + 1]
            evidence = []
        else:
            wrong = [i for i in near[number][:NEAREST] if (number, i) not in settling]
            same = [i for i in pool.beside(claim) if i not in near[number][:NEAREST]]
            wrong += chance.sample(same, min(1, len(same)))
            smallest = min(claim.evidence, key=len)
            evidence = pool.rows(smallest)
        rest = [i for i in near[number] if (number, i) not in settling]
        result.append(_Claim(claim.text, claim.label, evidence, wrong, rest[:NEAR]))
    return result


def _settling(
    claims: Sequence[CorpusClaim],
    near: Sequence[Sequence[int]],
    pool: SentencePool,
    classify: Classify,
) -> set[tuple[int, int]]:
    """Return which of the nearest sentences settle a decided claim: (number of claim, sentence)."""
    asked = [
        (number, i)
        for number, claim in enumerate(claims)
        if claim.label != NOT_ENOUGH_INFO
        for i in near[number][:NEAREST]
    ]
    probabilities = classify([(claims[n].text, pool.together([i])) for n, i in asked])
    return {
        (number, i)
        for (number, i), opinion in zip(asked, probabilities, strict=True)
        if opinion[LABELS.index(claims[number].label)] >= AGREES
    }


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
        for reading in _misreadings(claim, near, pool, chance)
    ]
    probabilities = classify([(reading.claim, reading.evidence) for reading in readings])
    return [
        labelled(reading.claim, reading.evidence, NOT_ENOUGH_INFO)
        for reading, opinion in zip(readings, probabilities, strict=True)
        if sum(opinion[LABELS.index(label)] for label in reading.wrong) >= MISREAD
    ]


def _misreadings(
    claim: AnnotatedClaim, near: Sequence[int], pool: SentencePool, chance: random.Random
) -> Iterator[_Reading]:
    marked = pool.rows(claim.gold)
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
        yield _Reading(claim.text, pool.together(indices), wrong)


AMONG = 0.5  # share of claims whose evidence is also read beside a wrong sentence
BESIDE = 4  # wrong sentences are drawn from so many of the nearest


def composed_examples(
    composed: Sequence[Composition], pool: SentencePool, seed: int
) -> list[Example]:
    """Return readings of each claim: with both sentences, with one, and with one and a wrong one.

    A claim that names the page that links both (kind ``apposition``) is only read with both: one
    sentence can refute it.
    """
    chance = random.Random(seed)
    found = CandidateFinder(pool).find([one.claim.text for one in composed])
    examples = []
    for one, candidates in zip(composed, found, strict=True):
        evidence = pool.rows(one.claim.evidence[0])
        pages = {pool.sentences[i].page for i in evidence}
        wrong = [i for i in candidates if pool.sentences[i].page not in pages][:BESIDE]
        for indices, label in _readings(one, evidence, wrong, chance):
            examples.append(labelled(one.claim.text, pool.together(indices), label))
    return examples


def _readings(
    one: Composition, evidence: Sequence[int], wrong: Sequence[int], chance: random.Random
) -> Iterator[tuple[list[int], Label]]:
    """Yield sentences that are read together, in random order, with the label they give."""
    yield chance.sample(evidence, 2), one.claim.label
    if wrong and chance.random() < AMONG:
        yield chance.sample([*evidence, chance.choice(wrong)], 3), one.claim.label
    if one.kind != "apposition":
        yield [chance.choice(evidence)], NOT_ENOUGH_INFO
        if wrong:
            pair = [chance.choice(evidence), chance.choice(wrong)]
            yield chance.sample(pair, 2), NOT_ENOUGH_INFO
