"""The figures of dense retrieval: which gold sentences and pages it ranks first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim
from research.training.sentence_pool import SentencePool
from retrieval.models.encoders import Query
from retrieval.text.model_texts import evidence_set_text, evidence_text

SENTENCES, PAGES = (1, 5, 20, 100), (5, 20)

Score: TypeAlias = Callable[[Sequence[Query]], NDArray[np.floating[Any]]]
"""Scores every sentence of a pool for each query: ``(queries, sentences)``, higher is better."""


@dataclass(frozen=True, slots=True)
class Step:
    """A claim with one of its gold sentences, as a query, and the gold sentence on another page."""

    query: Query
    lead: int
    wanted: int


@dataclass(frozen=True, slots=True)
class Searches:
    """The searches in a pool: for the evidence of claims, and for the next sentence of paths.

    ``claims`` are those that one page decides.
    """

    claims: Sequence[AnnotatedClaim]
    steps: Sequence[Step]
    pool: SentencePool

    @classmethod
    def of(cls, claims: Sequence[AnnotatedClaim], pool: SentencePool) -> Searches:
        """Return those of the claims whose evidence is in the pool.

        Steps go in both directions between the two sentences of a claim's first such set.
        """
        known = [c for c in claims if c.evidence and c.gold <= pool.position.keys()]
        steps = []
        for claim in known:
            pairs = [group for group in claim.evidence if len(group) == 2]
            if claim.needs_several_pages and pairs:
                first, second = (pool.position[key] for key in pairs[0])
                for lead, wanted in ((first, second), (second, first)):
                    sentence = pool.sentences[lead]
                    query = (claim.text, ((sentence.title, sentence.text),))
                    steps.append(Step(query, lead, wanted))
        return cls([c for c in known if not c.needs_several_pages], steps, pool)


def search_figures(score: Score, searches: Searches) -> dict[str, float]:
    """Return the shares of searches that find their sentences among the first k, %.

    ``sentences_k``: claims with all sentences of an evidence set among the first k. ``pages_k``:
    claims with all its pages among the first k; a page has the rank of its best sentence.
    ``next_k``: steps whose sentence is among the first k that are not on the page already read.
    """
    pool = searches.pool
    number = {page: number for number, page in enumerate(pool.by_page)}
    page_of = np.array([number[sentence.page] for sentence in pool.sentences])
    sentences, pages = [], []
    for claim, scores in zip(
        searches.claims, score([(claim.text, ()) for claim in searches.claims]), strict=True
    ):
        by_page = np.full(len(number), -np.inf)
        np.maximum.at(by_page, page_of, scores)
        sentences.append(
            min(max(_rank(scores, pool.position[key]) for key in g) for g in claim.evidence)
        )
        pages.append(min(max(_rank(by_page, number[p]) for p, _ in g) for g in claim.evidence))
    following = []
    for step, scores in zip(
        searches.steps, score([step.query for step in searches.steps]), strict=True
    ):
        unread = np.array(scores)
        unread[pool.by_page[pool.sentences[step.lead].page]] = -np.inf
        following.append(_rank(unread, step.wanted))
    return {
        **{f"sentences_{k}": _share(sentences, k) for k in SENTENCES},
        **{f"pages_{k}": _share(pages, k) for k in PAGES},
        **{f"next_{k}": _share(following, k) for k in SENTENCES},
    }


def by_bm25(pool: SentencePool) -> Score:
    """Return BM25 over sentences with their titles, for the words of claim and path."""
    import bm25s

    counted = bm25s.BM25(k1=1.2, b=0.75)
    counted.index(
        _words([evidence_text(s.title, s.text) for s in pool.sentences]), show_progress=False
    )

    def score(queries: Sequence[Query]) -> NDArray[np.float32]:
        words = _words([f"{claim} {evidence_set_text(path)}" for claim, path in queries])
        return np.array([counted.get_scores(asked) for asked in words], dtype=np.float32)

    return score


def _words(texts: list[str]) -> list[list[str]]:
    import bm25s

    words: list[list[str]] = bm25s.tokenize(texts, return_ids=False, show_progress=False)
    return words


def _rank(scores: NDArray[np.floating[Any]], row: int) -> int:
    """Return how many have a higher score than this one."""
    return int((scores > scores[row]).sum())


def _share(ranks: Sequence[int], first: int) -> float:
    return 100 * sum(rank < first for rank in ranks) / max(1, len(ranks))
