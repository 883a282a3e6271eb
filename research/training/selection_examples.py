"""Claims with the candidates that evidence is selected from (FER, section 3.1).

FER's coarse retrieval is the relevance model here, as in use: of the sentences found for a claim
and its gold ones, the most relevant are candidates.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from research.evaluation.claims import AnnotatedClaim
from research.training.data import TrainingData
from research.training.figures import Classify
from research.training.sentence_pool import CandidateFinder
from retrieval.text.context import evidence_set_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Label


@dataclass(frozen=True, slots=True)
class SelectionExample:
    """A claim with its (title, sentence) candidates, most relevant first.

    ``relevance``: the relevance model's probability for each that it is relevant to the claim.
    ``gold``: which of them are annotated evidence. ``attained``: the verifier's probability of
    ``label`` with the gold evidence.
    """

    claim: str
    label: Label
    candidates: tuple[tuple[str, str], ...]
    relevance: tuple[float, ...]
    gold: tuple[bool, ...]
    attained: float

    @property
    def length(self) -> int:
        """The number of its characters."""
        return len(self.claim) + sum(len(title) + len(text) for title, text in self.candidates)


def selection_examples(
    data: TrainingData,
    classify: Classify,
    seed: int,
    limit: int,
    candidates: int,
    most_gold: int,
) -> list[SelectionExample]:
    """Return examples of ``limit`` training claims at most, ``candidates`` sentences for each.

    ``classify`` is the relevance model: it ranks candidates, and as the verifier it reads the
    ``most_gold`` most relevant gold sentences together. Claims without gold evidence are left out:
    FER compares with it. The choice of claims depends only on the seed.
    """
    among = [*data.train, *(contrast.claim for contrast in data.contrasts)]
    every = [claim for claim in among if claim.gold]
    chance = random.Random(seed)
    claims = [every[i] for i in sorted(chance.sample(range(len(every)), min(limit, len(every))))]
    ranked = _ranked(claims, data, classify)
    gold = [[s.text for s in sentences if s.gold][:most_gold] for sentences in ranked]
    pairs = [(claim.text, evidence_set_text(own)) for claim, own in zip(claims, gold, strict=True)]
    return [
        SelectionExample(
            claim=claim.text,
            label=claim.label,
            candidates=tuple(sentence.text for sentence in sentences[:candidates]),
            relevance=tuple(sentence.relevance for sentence in sentences[:candidates]),
            gold=tuple(sentence.gold for sentence in sentences[:candidates]),
            attained=float(opinion[LABELS.index(claim.label)]),
        )
        for claim, sentences, opinion in zip(claims, ranked, classify(pairs), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """One of the sentences found for a claim; ``text``: title and sentence."""

    text: tuple[str, str]
    relevance: float
    gold: bool


def _ranked(
    claims: Sequence[AnnotatedClaim], data: TrainingData, classify: Classify
) -> list[list[_Sentence]]:
    """Return the sentences found for each claim and its gold ones, most relevant first."""
    pool = data.pool
    near = CandidateFinder(pool).find([claim.text for claim in claims])
    gold = [pool.gold(claim) for claim in claims]
    found = [list(dict.fromkeys([*a, *b])) for a, b in zip(near, gold, strict=True)]
    pairs = [
        (claim.text, pool.sentences[i].written)
        for claim, indices in zip(claims, found, strict=True)
        for i in indices
    ]
    relevance = iter(1 - classify(pairs)[:, LABELS.index(NOT_ENOUGH_INFO)])
    ranked = []
    for claim, indices in zip(claims, found, strict=True):
        sentences = [
            _Sentence(s.pair, float(next(relevance)), s.key in claim.gold)
            for s in (pool.sentences[i] for i in indices)
        ]
        ranked.append(sorted(sentences, key=lambda sentence: -sentence.relevance))
    return ranked
