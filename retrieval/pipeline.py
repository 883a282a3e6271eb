"""The whole way of a claim, in order. Start reading here.

    claim ─ spans ─┬─ titles ─────────────────┐
                   ├─ texts, words ┐          │
                   └─ questions ─ ranking ─ sentences ─ relevance ─ semantic ─ selection ─ verdict
                                                ▲                                             │
                                                └──────── mentions ◄── not sufficient ────────┘

In the large profile ``reranking`` stands before ``selection``.

Each stage is a Haystack component in a folder of its own and can be taken into
a Haystack pipeline; ``docs/decisions/0002-one-function.md`` tells why they are
called one after the other here.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from retrieval.claim import read_claim
from retrieval.config import RetrievalConfig
from retrieval.hops.mention_expander import MentionExpander
from retrieval.hops.missing_spans import missing_spans
from retrieval.index.store import DocumentStore
from retrieval.language.english import EnglishParser
from retrieval.phrases.phrase_matcher import PhraseMatcher
from retrieval.questions.rule_question_generator import RuleQuestionGenerator
from retrieval.ranking.dense_document_ranker import DenseDocumentRanker
from retrieval.ranking.semantic_sentence_ranker import SemanticSentenceRanker
from retrieval.recipes import recipe_named
from retrieval.relevance.cross_encoder_relevance_classifier import CrossEncoderRelevanceClassifier
from retrieval.reranking.cross_encoder_reranker import CrossEncoderReranker
from retrieval.selection.relative_selector import RelativeSelector
from retrieval.spans.spacy_span_extractor import SpacySpanExtractor
from retrieval.titles.title_matcher import TitleMatcher
from retrieval.types import (
    NOT_ENOUGH_INFO,
    Candidate,
    CorpusInfo,
    Evidence,
    Hop,
    Progress,
    ProgressListener,
    Question,
    RankedDocument,
    Report,
    Span,
    Verdict,
)
from retrieval.verdict.judge import Judge
from retrieval.words.word_matcher import WordMatcher

_STAGES_BEFORE_HOPS = 5
_STAGES_PER_HOP = 5


@dataclass(frozen=True)
class Stages:
    """The components, one per stage, in the order in which a claim meets them."""

    parser: EnglishParser
    spans: SpacySpanExtractor
    titles: TitleMatcher
    texts: PhraseMatcher
    words: WordMatcher
    questions: RuleQuestionGenerator
    ranking: DenseDocumentRanker
    relevance: CrossEncoderRelevanceClassifier
    semantic: SemanticSentenceRanker
    reranking: CrossEncoderReranker | None
    selection: RelativeSelector
    judge: Judge
    mentions: MentionExpander


class Pipeline:
    """Checks claims, one at a time; keeps nothing of a claim when it is done."""

    def __init__(self, stages: Stages, store: DocumentStore, config: RetrievalConfig) -> None:
        """Wire the stages; call ``warm_up`` before the first claim."""
        self._stages = stages
        self._store = store
        self._config = config

    def warm_up(self) -> None:
        """Load every model, so that the first claim is as fast as the next."""
        for stage in (
            self._stages.parser,
            self._stages.titles,
            self._stages.ranking,
            self._stages.relevance,
            self._stages.semantic,
            self._stages.reranking,
            self._stages.judge,
        ):
            if stage is not None:
                stage.warm_up()

    def check(self, text: str, recipe: str, on_progress: ProgressListener) -> Report:
        """Find evidence for the claim and decide it.

        Raises:
            InvalidClaim: the text is not something that can be checked.
            UnknownRecipe: no recipe has this name.
            Cancelled: ``on_progress`` raised it.
        """
        recipe_named(recipe)
        claim = read_claim(text)
        info = self._store.info()
        stages, clock = self._stages, _Clock(on_progress, self._config.max_hops)

        with clock.stage("spans"):
            parsed = stages.parser.parse(claim.text)
            spans: list[Span] = stages.spans.run(parsed)["spans"]
        clock.report("spans", f"Looking for: {'; '.join(span.text for span in spans)}")

        with clock.stage("titles"):
            by_title = stages.titles.run(parsed, spans)
        exact, disambiguated = by_title["exact"], by_title["disambiguated"]
        clock.report(
            "titles",
            f"{_count(len(exact), 'title')} match exactly, {len(disambiguated)} by a title"
            " with words in parentheses",
        )

        with clock.stage("texts"):
            by_text: list[Candidate] = stages.texts.run(spans)["candidates"]
            by_words: list[Candidate] = stages.words.run(parsed)["candidates"]
        clock.report("texts", f"{_count(len(by_text), 'document')} mention something of the claim")

        with clock.stage("questions"):
            questions: list[Question] = stages.questions.run(parsed, spans)["questions"]
        clock.report("questions", f"Asking: {' '.join(question.text for question in questions)}")

        with clock.stage("ranking"):
            candidates: list[Candidate] = stages.ranking.run(
                questions, exact, [*disambiguated, *by_text], by_words
            )["candidates"]
        clock.report("ranking", f"{_count(len(candidates), 'document')} may hold an answer")

        documents: list[RankedDocument] = []
        found: list[Evidence] = []  # as the reader alone ranks it
        evidence: list[Evidence] = []
        hops: list[Hop] = []
        verdict: Verdict | None = None
        for hop in range(1, self._config.max_hops + 1):
            with clock.stage("sentences"):
                opened = self._open(candidates)
                documents += opened
            sentences = sum(len(ranked.document.sentences) for ranked in opened)
            clock.report(
                "sentences",
                f"Reading {_count(sentences, 'sentence')} of {_count(len(opened), 'document')}",
            )

            with clock.stage("relevance"):
                relevant = stages.relevance.run(claim.text, opened)["evidence"]
            clock.report("relevance", f"{_count(len(relevant), 'sentence')} bear on the claim")

            with clock.stage("semantic"):
                found = stages.semantic.run(claim.text, [*found, *relevant])["evidence"]
            evidence = found
            if stages.reranking is not None:
                with clock.stage("reranking"):
                    evidence = stages.reranking.run(claim.text, found)["evidence"]
            with clock.stage("selection"):
                evidence = stages.selection.run(evidence)["evidence"]
                selected = [item for item in evidence if item.selected]
            clock.report("semantic", f"{_count(len(selected), 'sentence')} selected as evidence")

            with clock.stage("verdict"):
                verdict = stages.judge.run(claim.text, selected)["verdict"]
                missing = missing_spans(spans, selected)
            sufficient = verdict.label != NOT_ENOUGH_INFO
            hops.append(
                Hop(
                    hop,
                    sufficient,
                    tuple((span.start, span.end) for span in missing),
                    len(opened),
                    len(relevant),
                )
            )
            clock.report("verdict", f"Read together: {verdict.label.lower()}")

            if sufficient or hop == self._config.max_hops:
                break
            with clock.stage("mentions"):
                seen = {ranked.document.id for ranked in documents}
                closest = evidence[: self._config.mention_sentences]
                candidates = stages.mentions.run(spans, closest, seen, hop + 1)["candidates"]
            clock.report(
                "mentions",
                f"Not sufficient; the evidence mentions {_count(len(candidates), 'document')}"
                " not read yet",
            )
            if not candidates:
                break
        assert verdict is not None
        clock.finish()
        return Report(
            claim=claim.text,
            recipe=recipe,
            notices=claim.notices,
            corpus=CorpusInfo(info.name, info.documents, info.built_at),
            verdict=verdict,
            evidence=tuple(evidence),
            documents=tuple(sorted(documents, key=lambda d: (-d.score, d.document.id))),
            questions=tuple(questions),
            hops=tuple(hops),
            seconds=clock.seconds(),
        )

    def _open(self, candidates: Sequence[Candidate]) -> list[RankedDocument]:
        documents = self._store.documents([candidate.document_id for candidate in candidates])
        return [
            RankedDocument(document, candidate.score, candidate.found_by, candidate.hop)
            for document, candidate in zip(documents, candidates, strict=True)
        ]


class _Clock:
    """Times the stages of one claim and tells the listener how far it is."""

    def __init__(self, on_progress: ProgressListener, max_hops: int) -> None:
        self._on_progress = on_progress
        self._of = _STAGES_BEFORE_HOPS + _STAGES_PER_HOP * max_hops
        self._done = 0
        self._seconds: dict[str, float] = {}
        self._started = time.perf_counter()
        on_progress(Progress("start", "Reading the claim", 0, self._of))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        spent = time.perf_counter() - started
        self._seconds[name] = self._seconds.get(name, 0.0) + spent

    def report(self, stage: str, message: str) -> None:
        self._done += 1
        self._on_progress(Progress(stage, message, self._done, self._of))

    def finish(self) -> None:
        self._on_progress(Progress("done", "Finished", self._of, self._of))

    def seconds(self) -> dict[str, float]:
        return {"total": time.perf_counter() - self._started, **self._seconds}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
