"""A baseline: plain ranking of documents and sentences, and the shipped models' verdict on it.

All baselines share selection and verdict with the product, so that a difference
between their rows and a recipe's is one of retrieval.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

from evaluation.predictions import MOST_EVIDENCE, Answer
from retrieval.claim import read_claim
from retrieval.config import RetrievalConfig
from retrieval.models import ModelFolders, judge_name, verifier
from retrieval.selection.relative_selector import RelativeSelector
from retrieval.types import Evidence, Sentence
from retrieval.verdict.cross_encoder_judge import CrossEncoderJudge
from retrieval.verification.evidence_verifier import EvidenceVerifier

UNREAD = (0.0, 0.0, 1.0)  # until the verifier has read it, a sentence settles nothing


@dataclass(frozen=True, slots=True)
class RankedSentence:
    """A sentence with its document's title and its score; the scale is the ranker's own."""

    page: str
    number: int
    title: str
    text: str
    score: float


class Ranker(Protocol):
    """Finds documents and sentences without reading them."""

    def warm_up(self) -> None:
        """Make the tables that ranking needs."""
        ...

    def rank(self, claim: str) -> tuple[list[str], list[RankedSentence]]:
        """Return document ids and sentences of these documents, each best first."""
        ...


class RankedBaseline:
    """Selects from the first five sentences of a ranker and gives them to the shipped judge."""

    def __init__(self, ranker: Ranker, threads: int, folders: ModelFolders) -> None:
        """Remember the ranker; nothing is loaded yet."""
        self._ranker = ranker
        self._threads = threads
        config = RetrievalConfig()
        model = verifier(folders.unpacked)
        self._verification = EvidenceVerifier(model, MOST_EVIDENCE)
        self._selection = RelativeSelector(config.selection_share, config.selection_limit)
        self._judge = CrossEncoderJudge(model, judge_name())

    def warm_up(self) -> None:
        """Make the ranker's tables and load the models."""
        import torch

        torch.set_num_threads(self._threads)
        self._ranker.warm_up()
        self._verification.warm_up()

    def answer(self, claim: str) -> Answer:
        """Rank, select, judge.

        Raises:
            InvalidClaim: the text is not something that can be checked.
        """
        text = read_claim(claim).text
        started = time.perf_counter()
        pages, ranked = self._ranker.rank(text)
        ranked_at = time.perf_counter()
        best = [
            Evidence(
                sentence=Sentence(s.page, s.number, s.text, 0, len(s.text)),
                title=s.title,
                url=None,
                opinion=UNREAD,
                hop=1,
            )
            for s in ranked[:MOST_EVIDENCE]
        ]
        evidence = self._verification.run(text, best, {})["evidence"]
        judged = self._selection.run(evidence)["evidence"]
        selected = [item for item in judged if item.selected]
        verdict = self._judge.run(text, selected)["verdict"]
        ended = time.perf_counter()
        return Answer(
            label=verdict.label,
            confidence=verdict.confidence,
            evidence=tuple(
                (item.sentence.document_id, item.sentence.sentence_id) for item in selected
            ),
            ranked=tuple(((s.page, s.number), s.score) for s in ranked),
            pages=tuple(pages),
            hops=(),
            seconds={
                "total": ended - started,
                "ranking": ranked_at - started,
                "verdict": ended - ranked_at,
            },
        )
