"""A baseline: plain ranking of documents and sentences, then the verdict of the shipped models.

All baselines use the product's selection and verdict, so their rows differ from a
recipe's only in retrieval.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Protocol

from research.evaluation.predictions import MOST_EVIDENCE, Answer
from retrieval.claim import read_claim
from retrieval.index.interface import DocumentStore
from retrieval.models import runtime
from retrieval.models.folders import ModelFolders
from retrieval.models.shipped import evidence_model
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.decide.selection import RelativeSelector
from retrieval.stages.decide.verdict import CrossEncoderJudge
from retrieval.stages.decide.verification import EvidenceVerifier
from retrieval.types import Evidence, Report, Retrieved, Sentence, SentenceKey

UNREAD = (0.0, 0.0, 1.0)  # the opinion before the verifier has read a sentence


@dataclass(frozen=True, slots=True)
class RankedSentence:
    """A sentence with its document's title and its score, whose scale depends on the ranker."""

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


@dataclass(frozen=True, slots=True)
class _Judged:
    """The report on a claim, and the ranking."""

    report: Report
    pages: list[str]
    ranked: list[RankedSentence]


class RankedBaseline:
    """Selects from the first five sentences of a ranker and passes them to the shipped verifier."""

    def __init__(
        self, name: str, ranker: Ranker, store: DocumentStore, folders: ModelFolders
    ) -> None:
        """Store the ranker over ``store``; nothing is loaded yet."""
        self._name = name
        self._ranker = ranker
        self._store = store
        config = RetrievalConfig()
        self._networks = folders.networks
        model = evidence_model(folders, in_search=True)
        self._verification = EvidenceVerifier(
            model, replace(config, verified_sentences=MOST_EVIDENCE)
        )
        self._selection = RelativeSelector(config.selection_share, config.selection_limit)
        self._judge = CrossEncoderJudge(model, model.version, config)

    def warm_up(self) -> None:
        """Make the ranker's tables and load the models."""
        runtime.use_threads(1)
        runtime.keep_in(self._networks)
        self._ranker.warm_up()
        self._verification.warm_up()

    def report(self, claim: str) -> Report:
        """Rank, select, judge.

        Raises:
            InvalidClaim: the text is not a claim that can be checked.
        """
        return self._judged(claim).report

    def answer(self, claim: str) -> Answer:
        """Rank, select, judge; ``ranked`` is in the order of the ranker.

        Raises:
            InvalidClaim: the text is not a claim that can be checked.
        """
        judged = self._judged(claim)
        report = judged.report
        return Answer(
            label=report.verdict.label,
            confidence=report.verdict.confidence,
            evidence=tuple(item.key for item in report.evidence if item.selected),
            ranked=tuple(((s.page, s.number), s.score) for s in judged.ranked),
            pages=tuple(judged.pages),
            hops=(),
            retrieved=report.retrieved,
            seconds=report.seconds,
        )

    def _judged(self, claim: str) -> _Judged:
        read = read_claim(claim, anyway=True)
        info = self._store.info()
        started = time.perf_counter()
        pages, ranked = self._ranker.rank(read.text)
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
        verified = self._verification.verify(read.text, best, {})[0]
        evidence = self._selection.select(verified)
        selected = [item for item in evidence if item.selected]
        verdict = self._judge.judge(read.text, selected)
        ended = time.perf_counter()
        report = Report(
            claim=read.text,
            recipe=self._name,
            notices=read.notices,
            corpus=info.as_corpus(),
            verdict=verdict,
            evidence=tuple(evidence),
            documents=(),
            questions=(),
            proof=None,
            hops=(),
            seconds={
                "total": ended - started,
                "ranking": ranked_at - started,
                "verdict": ended - ranked_at,
            },
            original=read.rewritten,
            retrieved=Retrieved(
                documents=tuple((page, ()) for page in pages),
                passages=tuple(SentenceKey(s.page, s.number) for s in ranked),
            ),
        )
        return _Judged(report, pages, ranked)
