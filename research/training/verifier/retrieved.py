"""Claims with retrieved sentences: the verifier's examples in most phases.

A pipeline finds ten sentences on the topic, of which one or two settle the claim. So half of these
examples are sentences that settle nothing, and the evidence is read among wrong sentences as often
as alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from research.evaluation.corpus_claims import CorpusClaim
from research.training.candidates import CandidateFinder
from research.training.loop import Example, labelled
from research.training.sentence_pool import SentencePool
from retrieval.text.model_texts import evidence_set_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Label

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
    classify: Callable[[Sequence[tuple[str, str]]], NDArray[np.float32]],
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
            texts = [(pool.sentences[i].title, pool.sentences[i].text) for i in indices]
            examples.append(labelled(claim.text, evidence_set_text(texts), label))
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
    classify: Callable[[Sequence[tuple[str, str]]], NDArray[np.float32]],
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
            same = [
                i
                for page in sorted(claim.pages)
                for i in pool.by_page[page]
                if i not in marked[number] and i not in near[number][:NEAREST]
            ]
            wrong += chance.sample(same, min(1, len(same)))
            evidence = [pool.position[key] for key in min(claim.evidence, key=len)]
        rest = [i for i in near[number] if (number, i) not in settling]
        result.append(_Claim(claim.text, claim.label, evidence, wrong, rest[:NEAR]))
    return result


def _settling(
    claims: Sequence[CorpusClaim],
    near: Sequence[Sequence[int]],
    pool: SentencePool,
    classify: Callable[[Sequence[tuple[str, str]]], NDArray[np.float32]],
) -> set[tuple[int, int]]:
    """Return which of the nearest sentences settle a decided claim: (number of claim, sentence)."""
    asked = [
        (number, i)
        for number, claim in enumerate(claims)
        if claim.label != NOT_ENOUGH_INFO
        for i in near[number][:NEAREST]
    ]
    probabilities = classify(
        [
            (
                claims[number].text,
                evidence_set_text([(pool.sentences[i].title, pool.sentences[i].text)]),
            )
            for number, i in asked
        ]
    )
    return {
        (number, i)
        for (number, i), opinion in zip(asked, probabilities, strict=True)
        if opinion[LABELS.index(claims[number].label)] >= AGREES
    }
