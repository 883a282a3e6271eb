"""Training pairs for relevance and stance.

They follow the report (section 3.3.10): for each relevant sentence two irrelevant ones of the same
document and two of other documents, split by claim and page. Two things differ. The classifier has
three classes instead of two, so that one pass gives relevance (1 - P(NOT ENOUGH INFO)) and stance.
And one of the two sentences of other documents is a retrieved, convincing one, as are all sentences
of undecided claims.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim
from research.training.data import PageClaim
from research.training.loop import Example, labelled
from research.training.sentence_pool import SentencePool
from retrieval.text.context import evidence_text
from retrieval.types import NOT_ENOUGH_INFO, Label

SAME_DOCUMENT = 2
OTHER_DOCUMENTS = 2
RELEVANT_PER_CLAIM = 2
UNDECIDED_PER_CLAIM = 6
CONVINCING = 30  # convincing negatives are drawn from so many of the nearest


def relevance_examples(
    claims: Sequence[AnnotatedClaim],
    page_claims: Sequence[PageClaim],
    pool: SentencePool,
    seed: int,
) -> list[Example]:
    """Return the training pairs, in an order that depends only on the seed."""
    chance = random.Random(seed)
    nearest = pool.nearest([claim.text for claim in claims], CONVINCING * 2)
    examples: list[Example] = []
    for claim, near in zip(claims, nearest, strict=True):
        if claim.label == NOT_ENOUGH_INFO:
            examples += _undecided(claim, near, pool, chance)
        else:
            examples += _decided(claim, near, pool, chance)
    for page_claim in page_claims:
        examples += _of_one_page(page_claim, chance)
    return examples


def _decided(
    claim: AnnotatedClaim, near: NDArray[np.int64], pool: SentencePool, chance: random.Random
) -> list[Example]:
    gold = pool.gold(claim)
    chosen = chance.sample(gold, min(RELEVANT_PER_CLAIM, len(gold)))
    same = pool.beside(claim)
    # Sentences near the claim on a gold page may be evidence that was not annotated.
    elsewhere = pool.elsewhere(claim, near)
    irrelevant = chance.sample(same, min(len(same), SAME_DOCUMENT * len(chosen)))
    short = SAME_DOCUMENT * len(chosen) - len(irrelevant)
    convincing = OTHER_DOCUMENTS // 2 * len(chosen) + short
    irrelevant += chance.sample(elsewhere[:CONVINCING], min(convincing, CONVINCING, len(elsewhere)))
    irrelevant += _anywhere(OTHER_DOCUMENTS // 2 * len(chosen), claim, pool, chance)
    return [_example(claim.text, i, claim.label, pool) for i in chosen] + [
        _example(claim.text, i, NOT_ENOUGH_INFO, pool) for i in irrelevant
    ]


def _undecided(
    claim: AnnotatedClaim, near: NDArray[np.int64], pool: SentencePool, chance: random.Random
) -> list[Example]:
    """Yield the nearest sentences, which look like evidence and decide nothing."""
    nearest = [int(i) for i in near[: UNDECIDED_PER_CLAIM // 2]]
    convincing = [int(i) for i in near[UNDECIDED_PER_CLAIM // 2 : CONVINCING]]
    chosen = nearest + chance.sample(convincing, UNDECIDED_PER_CLAIM - len(nearest) - 1)
    chosen += _anywhere(1, claim, pool, chance)
    return [_example(claim.text, i, NOT_ENOUGH_INFO, pool) for i in chosen]


def _of_one_page(claim: PageClaim, chance: random.Random) -> list[Example]:
    gold = chance.sample(claim.gold, min(RELEVANT_PER_CLAIM, len(claim.gold)))
    irrelevant = chance.sample(claim.others, min(len(claim.others), SAME_DOCUMENT * len(gold)))
    return [
        labelled(claim.text, evidence_text(claim.title, text), claim.label) for text in gold
    ] + [
        labelled(claim.text, evidence_text(claim.title, text), NOT_ENOUGH_INFO)
        for text in irrelevant
    ]


def _anywhere(
    count: int, claim: AnnotatedClaim, pool: SentencePool, chance: random.Random
) -> list[int]:
    drawn: list[int] = []
    while len(drawn) < count:
        index = chance.randrange(len(pool.sentences))
        if pool.sentences[index].page not in claim.pages:
            drawn.append(index)
    return drawn


def _example(claim: str, index: int, label: Label, pool: SentencePool) -> Example:
    return labelled(claim, pool.sentences[index].written, label)
