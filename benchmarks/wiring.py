"""The stages called by one function against the same stages as a Haystack pipeline."""

from __future__ import annotations

import time

from haystack import Pipeline

from benchmarks.corpus import claims, vital_index
from benchmarks.row import Row, percentile
from retrieval.encoders.minilm_encoder import MiniLMEncoder
from retrieval.index.embedded_index import EmbeddedIndex
from retrieval.index.embedded_store import EmbeddedStore
from retrieval.language.english import EnglishParser
from retrieval.questions.rule_question_generator import RuleQuestionGenerator
from retrieval.ranking.dense_document_ranker import DenseDocumentRanker
from retrieval.spans.spacy_span_extractor import SpacySpanExtractor
from retrieval.texts.text_matcher import TextMatcher
from retrieval.titles.title_matcher import TitleMatcher

ROUNDS = 3


def haystack_pipeline(store: EmbeddedStore, encoder: MiniLMEncoder) -> Pipeline:
    """Return the stages from spans to ranking as a Haystack pipeline, with components of its own.

    It takes ``doc`` for "spans", "titles", "texts" and "questions".
    """
    pipeline = Pipeline()
    pipeline.add_component("spans", SpacySpanExtractor())
    pipeline.add_component("titles", TitleMatcher(store, encoder))
    pipeline.add_component("texts", TextMatcher(store))
    pipeline.add_component("questions", RuleQuestionGenerator())
    pipeline.add_component("ranking", DenseDocumentRanker(store, encoder))
    for stage in ("titles", "texts", "questions"):
        pipeline.connect("spans.spans", f"{stage}.spans")
    pipeline.connect("titles.exact", "ranking.exact")
    pipeline.connect("texts.by_text", "ranking.others")
    pipeline.connect("texts.by_words", "ranking.kept")
    pipeline.connect("questions.questions", "ranking.questions")
    return pipeline


def measure() -> list[Row]:
    """Run spans to ranking both ways, claim by claim in turn, and compare the answers too."""
    encoder, parser = MiniLMEncoder(), EnglishParser()
    store = EmbeddedIndex(vital_index()).open(encoder.name)
    spans, questions = SpacySpanExtractor(), RuleQuestionGenerator()
    titles, texts = TitleMatcher(store, encoder), TextMatcher(store)
    ranking = DenseDocumentRanker(store, encoder)
    ranking.warm_up()
    pipeline = haystack_pipeline(store, encoder)

    function, piped = [], []
    for text in claims() * ROUNDS:
        doc = parser.parse(text)
        started = time.perf_counter()
        found = spans.run(doc)["spans"]
        matched = texts.run(doc, found)
        ours = ranking.run(
            questions.run(doc, found)["questions"],
            titles.run(doc, found)["exact"],
            matched["by_text"],
            matched["by_words"],
        )["candidates"]
        function.append(time.perf_counter() - started)
        started = time.perf_counter()
        theirs = pipeline.run(
            {
                "spans": {"doc": doc},
                "texts": {"doc": doc},
                "questions": {"doc": doc},
                "titles": {"doc": doc},
            }
        )["ranking"]["candidates"]
        piped.append(time.perf_counter() - started)
        if ours != theirs:
            raise RuntimeError(f"The two ways differ on {text!r}.")
    ratio = percentile([p / f for p, f in zip(piped, function, strict=True)], 50)
    return [
        Row(
            "spans to ranking, one function / Haystack pipeline, p50",
            f"{percentile(function, 50) * 1000:.0f} ms / {percentile(piped, 50) * 1000:.0f} ms",
        ),
        Row("Haystack pipeline time / one function time, median of pairs", f"{ratio:.2f}"),
    ]
