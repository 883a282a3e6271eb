"""Sets of sentences that teach what several of them, read together, say of a claim.

The judge starts from the relevance classifier's weights and reads what the
pipeline would hand it: the most relevant of the retrieved sentences, best
first. NOT ENOUGH INFO is learnt from sentences that were retrieved and look
like evidence, and from decided claims whose gold evidence was taken away.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.claims import AnnotatedClaim
from retrieval.cross_encoders.inputs import evidence_set_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Label
from training.claims import PageClaim
from training.loop import Example
from training.sentence_pool import SentencePool

SENTENCES = 5  # as many as the pipeline selects (RetrievalConfig.selected_sentences)
TAKEN_AWAY = 0.15  # share of decided claims that are shown once more without their gold evidence


def verdict_examples(
    claims: Sequence[AnnotatedClaim],
    candidates: Sequence[Sequence[int]],
    relevance: Sequence[NDArray[np.float32]],
    page_claims: Sequence[PageClaim],
    pool: SentencePool,
    seed: int,
) -> list[Example]:
    """Return the training sets. ``relevance[i][j]`` belongs to ``candidates[i][j]``."""
    chance = random.Random(seed)
    examples: list[Example] = []
    for claim, indices, scores in zip(claims, candidates, relevance, strict=True):
        ranked = [indices[int(n)] for n in np.argsort(-scores, kind="stable")]
        gold = {pool.position[key] for key in claim.gold if key in pool.position}
        if claim.label == NOT_ENOUGH_INFO:
            examples.append(_example(claim.text, ranked[:SENTENCES], claim.label, pool))
            continue
        examples.append(_example(claim.text, _with_gold(ranked, claim, pool), claim.label, pool))
        if chance.random() < TAKEN_AWAY:
            rest = [
                i for i in ranked if i not in gold and pool.sentences[i].page not in claim.pages
            ]
            examples.append(_example(claim.text, rest[:SENTENCES], NOT_ENOUGH_INFO, pool))
    for page_claim in page_claims:
        texts = [*page_claim.gold[:3], *page_claim.others[:2]]
        chance.shuffle(texts)
        evidence = evidence_set_text([(page_claim.title, text) for text in texts])
        examples.append(Example(page_claim.text, evidence, LABELS.index(page_claim.label)))
    return examples


def selected(
    candidates: Sequence[Sequence[int]], relevance: Sequence[NDArray[np.float32]]
) -> list[list[int]]:
    """Return each claim's most relevant candidates, best first, as the pipeline selects them."""
    return [
        [indices[int(n)] for n in np.argsort(-scores, kind="stable")[:SENTENCES]]
        for indices, scores in zip(candidates, relevance, strict=True)
    ]


def evidence_of(indices: Sequence[int], pool: SentencePool) -> str:
    """Return the sentences as the judge reads them."""
    return evidence_set_text([(pool.sentences[i].title, pool.sentences[i].text) for i in indices])


def _with_gold(ranked: Sequence[int], claim: AnnotatedClaim, pool: SentencePool) -> list[int]:
    """The first sentences, one whole evidence set among them: a decided claim must be decidable."""
    sets = [
        [pool.position[key] for key in group if key in pool.position] for group in claim.evidence
    ]
    needed = min(sets, key=lambda group: (len(set(group) - set(ranked[:SENTENCES])), len(group)))
    kept = [i for i in ranked if i not in needed][: max(0, SENTENCES - len(needed))]
    chosen = {*kept, *needed}
    order = {index: rank for rank, index in enumerate(ranked)}
    return sorted(chosen, key=lambda i: order.get(i, len(order)))[: max(SENTENCES, len(needed))]


def _example(claim: str, indices: Sequence[int], label: Label, pool: SentencePool) -> Example:
    return Example(claim, evidence_of(indices, pool), LABELS.index(label))
