"""The path model's training examples: sentences together with the sentence that led to them.

A candidate is evidence if, read together with the path, it decides the claim (M3, section 3.3, with
the path in the query). NOT ENOUGH INFO is learnt from other candidates that retrieval finds: other
sentences of the page that a path leads to, and sentences near the claim that add nothing to a path.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from research.evaluation.claims import AnnotatedClaim, FeverClaim
from research.training.compositions import Composition
from research.training.data import TrainingData
from research.training.loop import Example, labelled
from research.training.sentence_pool import CandidateFinder, SentencePool
from retrieval.text.context import path_text
from retrieval.types import NOT_ENOUGH_INFO, Label

ANNOTATED = 3  # times that an annotated set of several sentences is read, each time drawn again
BESIDE = 2  # negatives for each path of an annotated set
LONGEST = 3  # sentences of a path with its candidate
NEAR = 8  # candidates near the claim are drawn from so many of the nearest


def path_examples(
    data: TrainingData, compositions: Sequence[Composition], seed: int, limit: int
) -> list[Example]:
    """Return examples, ``limit`` at most, drawn from those of all claims; the seed decides."""
    chance, pool = random.Random(seed), data.pool
    made = [composition.claim for composition in compositions]
    claims = [*data.train, *made]
    candidates = CandidateFinder(pool).find([claim.text for claim in claims])
    examples: list[Example] = []
    for claim, found in zip(claims, candidates, strict=True):
        if claim.label == NOT_ENOUGH_INFO:
            examples += _undecided(claim, found, pool, chance)
            continue
        sets = [pool.rows(group) for group in claim.evidence]
        several = [group for group in sets if len(group) > 1]
        beside = pool.elsewhere(claim, found)[:NEAR]
        if several and not any(len(group) == 1 for group in sets):
            for _ in range(ANNOTATED if isinstance(claim, FeverClaim) else 1):
                examples += _of_a_set(claim, chance.choice(several), beside, pool, chance)
        else:
            single = [group[0] for group in sets if len(group) == 1]
            examples += _of_one_sentence(claim, single, beside, pool, chance)
    drawn = chance.sample(range(len(examples)), min(limit, len(examples)))
    return [examples[i] for i in sorted(drawn)]


def _of_a_set(
    claim: AnnotatedClaim,
    group: Sequence[int],
    beside: Sequence[int],
    pool: SentencePool,
    chance: random.Random,
) -> list[Example]:
    """The last sentence of the set completes the path of the others; other candidates do not."""
    *path, last = chance.sample(group, min(len(group), LONGEST))
    examples = [_example(claim.text, last, path, claim.label, pool)]
    gold = pool.rows(claim.gold)
    same = [i for i in pool.by_page[pool.sentences[last].page] if i not in gold]
    wrong = [*chance.sample(same, min(len(same), BESIDE))]
    wrong += chance.sample(beside, min(len(beside), BESIDE + 1 - len(wrong)))
    examples += [_example(claim.text, i, path, NOT_ENOUGH_INFO, pool) for i in wrong]
    if beside and len(group) == 2 and claim.needs_several_pages:
        # After an unrelated sentence, a part of the evidence decides nothing.
        lost = [chance.choice(beside)]
        examples.append(_example(claim.text, last, lost, NOT_ENOUGH_INFO, pool))
    return examples


def _of_one_sentence(
    claim: AnnotatedClaim,
    single: Sequence[int],
    beside: Sequence[int],
    pool: SentencePool,
    chance: random.Random,
) -> list[Example]:
    """A sentence that suffices alone does so after any path, and no other adds to it."""
    if not single or len(beside) < 3:
        return []
    gold = chance.choice(single)
    first, second, third = chance.sample(beside, 3)
    return [
        _example(claim.text, gold, [first], claim.label, pool),
        _example(claim.text, second, [chance.choice([gold, first])], NOT_ENOUGH_INFO, pool),
        _example(claim.text, third, [gold], NOT_ENOUGH_INFO, pool),
    ][: 2 + (chance.random() < 0.3)]


def _undecided(
    claim: AnnotatedClaim, found: Sequence[int], pool: SentencePool, chance: random.Random
) -> list[Example]:
    if len(found) < 3:
        return []
    pairs = [chance.sample(found[:NEAR], 2) for _ in range(2)]
    return [_example(claim.text, i, [lead], NOT_ENOUGH_INFO, pool) for lead, i in pairs]


def _example(
    claim: str, candidate: int, path: Sequence[int], label: Label, pool: SentencePool
) -> Example:
    last, *leads = pool.pairs((candidate, *path))
    return labelled(claim, path_text(last, leads), label)
