"""Each stage is a Haystack component that can be taken into a pipeline of another's."""

from __future__ import annotations

from pathlib import Path

import pytest
from haystack import Pipeline

from retrieval.encoders.minilm_encoder import MiniLMEncoder
from retrieval.index.embedded_store import EmbeddedStore
from retrieval.language.english import EnglishParser
from retrieval.phrases.phrase_matcher import PhraseMatcher
from retrieval.questions.rule_question_generator import RuleQuestionGenerator
from retrieval.ranking.dense_document_ranker import DenseDocumentRanker
from retrieval.spans.spacy_span_extractor import SpacySpanExtractor
from retrieval.titles.title_matcher import TitleMatcher

pytestmark = pytest.mark.models


def test_the_stages_run_in_a_haystack_pipeline(index: Path, parser: EnglishParser) -> None:
    encoder = MiniLMEncoder()
    store = EmbeddedStore.open(index, encoder.name)
    pipeline = Pipeline()
    pipeline.add_component("spans", SpacySpanExtractor())
    pipeline.add_component("titles", TitleMatcher(store, encoder))
    pipeline.add_component("texts", PhraseMatcher(store))
    pipeline.add_component("questions", RuleQuestionGenerator())
    pipeline.add_component("ranking", DenseDocumentRanker(store, encoder))
    for stage in ("titles", "texts", "questions"):
        pipeline.connect("spans.spans", f"{stage}.spans")
    pipeline.connect("titles.exact", "ranking.exact")
    pipeline.connect("texts.candidates", "ranking.others")
    pipeline.connect("questions.questions", "ranking.questions")
    claim = "Skerrow Light was designed by Ann Lee."
    doc = parser.parse(claim)
    found = pipeline.run(
        {"spans": {"doc": doc}, "questions": {"doc": doc}, "titles": {"claim": claim}}
    )
    names = [candidate.document_id for candidate in found["ranking"]["candidates"]]
    assert set(names[:2]) == {"Skerrow_Light", "Ann_Lee"}
