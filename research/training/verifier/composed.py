"""Readings of claims that were composed of two pages: together these settle them, a part does not.

Few claims that people wrote need two pages, so the verifier reads pairs of sentences worse than
single ones. Composed claims (``research/training/compositions``) are many and plain.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from research.training.candidates import CandidateFinder
from research.training.compositions import Composition
from research.training.loop import Example, labelled
from research.training.sentence_pool import SentencePool
from retrieval.text.model_texts import evidence_set_text
from retrieval.types import NOT_ENOUGH_INFO, Label

AMONG = 0.5  # share of claims whose evidence is also read beside a wrong sentence
NEAR = 4  # wrong sentences are drawn from so many of the nearest


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
        evidence = [pool.position[key] for key in one.claim.evidence[0]]
        pages = {pool.sentences[i].page for i in evidence}
        wrong = [i for i in candidates if pool.sentences[i].page not in pages][:NEAR]
        for indices, label in _readings(one, evidence, wrong, chance):
            texts = [(pool.sentences[i].title, pool.sentences[i].text) for i in indices]
            examples.append(labelled(one.claim.text, evidence_set_text(texts), label))
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
