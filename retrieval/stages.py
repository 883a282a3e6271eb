"""The components, one per stage: which implementation each of them is.

Each is made when a claim first meets it and kept, so that a recipe costs no
model that it does not use.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Protocol

from retrieval.config import RetrievalConfig
from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.evidence_model import EvidenceModel
from retrieval.dense.query_encoder import QueryEncoder
from retrieval.dense.sentence_retriever import DenseSentenceRetriever
from retrieval.encoders.dpr_encoder import DprQuestionEncoder
from retrieval.encoders.encoder import TextEncoder
from retrieval.generation.bart import BartTitleModel
from retrieval.generation.minilm import MiniLMTitleModel
from retrieval.generation.title_generator import TitleGenerator
from retrieval.hops.mention_expander import MentionExpander
from retrieval.index.store import DocumentStore
from retrieval.language.english import EnglishParser
from retrieval.model_folders import ModelFolders
from retrieval.models import (
    DENSE,
    PROVER,
    READER,
    SELECTOR,
    TITLES,
    evidence_model,
    path_reader,
    reader,
)
from retrieval.paths.nearness import Nearness
from retrieval.paths.path_ranker import PathRanker
from retrieval.paths.path_reader import PathReader
from retrieval.preranking.sentence_preranker import SentencePreranker
from retrieval.questions.rule_question_generator import RuleQuestionGenerator
from retrieval.questions.t5_question_generator import T5QuestionGenerator
from retrieval.ranking.dense_document_ranker import DenseDocumentRanker
from retrieval.ranking.dpr_document_ranker import DprDocumentRanker
from retrieval.ranking.semantic_sentence_ranker import SemanticSentenceRanker
from retrieval.ranking.similarity_sentence_ranker import SimilaritySentenceRanker
from retrieval.recipes import Models, Recipe
from retrieval.relevance.cross_encoder_relevance_classifier import CrossEncoderRelevanceClassifier
from retrieval.relevance.distilbert_relevance_classifier import DistilBertRelevanceClassifier
from retrieval.selection.proved_selector import ProvedSelector
from retrieval.selection.relative_selector import RelativeSelector
from retrieval.selection.utility_model import UtilityModel
from retrieval.selection.utility_selector import UtilitySelector
from retrieval.spans.spacy_span_extractor import SpacySpanExtractor
from retrieval.spans.wikineural_span_extractor import WikineuralSpanExtractor
from retrieval.sufficiency.proof_model import ProofModel
from retrieval.sufficiency.prover import NaturalLogicProver
from retrieval.texts.text_matcher import TextMatcher
from retrieval.titles.title_matcher import TitleMatcher
from retrieval.verdict.cross_encoder_judge import CrossEncoderJudge
from retrieval.verification.evidence_verifier import EvidenceVerifier


class _Loads(Protocol):
    """A stage that loads something."""

    def warm_up(self) -> None:
        """Load it; cheap when it is loaded already."""
        ...


class Stages:
    """The components over one store, in the order in which a claim meets them.

    Any of them raises ``ModelUnavailable`` where its model is missing or damaged.
    """

    def __init__(
        self,
        store: DocumentStore,
        encoder: TextEncoder,
        folders: ModelFolders,
        config: RetrievalConfig,
        models: Models,
    ) -> None:
        """Remember what the components are made from; ``models`` are those of the recipes."""
        self._store = store
        self._encoder = encoder
        self._folders = folders
        self._config = config
        # Where it is set, the components are those of the report's models in this folder.
        self._report = folders.report if models == "report" else None

    def warm_up(self, recipe: Recipe) -> None:
        """Load every model that a claim of this recipe meets."""
        for stage in self._of(recipe):
            stage.warm_up()

    def _of(self, recipe: Recipe) -> Iterator[_Loads]:
        """Yield the stages of a recipe that load something."""
        yield self.parser
        if isinstance(self.spans, WikineuralSpanExtractor):
            yield self.spans
        if isinstance(self.questions, T5QuestionGenerator):
            yield self.questions
        if "questions" in recipe.first:
            yield self.titles
            yield self.ranking
        if "dense" in (*recipe.first, *recipe.expansions):
            yield self.dense
        yield self.relevance
        yield self.semantic
        if recipe.ranking != "alone":
            yield self.paths
        yield self.verification
        if recipe.selection == "utility":
            yield self.utility
        yield self.judge
        if recipe.proof:
            yield self.prover
        if "mentions" in recipe.expansions:
            yield self.mentions
        if "generation" in recipe.expansions:
            yield self.generation

    @cached_property
    def parser(self) -> EnglishParser:
        """Words, their kinds and their relations."""
        return EnglishParser()

    @cached_property
    def spans(self) -> SpacySpanExtractor | WikineuralSpanExtractor:
        """What of the claim may name or answer something."""
        if self._report:
            return WikineuralSpanExtractor(self._report)
        return SpacySpanExtractor()

    @cached_property
    def titles(self) -> TitleMatcher:
        """Documents that the claim names."""
        config = self._config
        return TitleMatcher(
            self._store, self._encoder, config.disambiguation_cutoff, config.disambiguation_limit
        )

    @cached_property
    def texts(self) -> TextMatcher:
        """Documents that hold a span or the claim's words."""
        return TextMatcher(self._store, self._config.text_limit, self._config.word_limit)

    @cached_property
    def questions(self) -> RuleQuestionGenerator | T5QuestionGenerator:
        """What would have to be known."""
        if self._report:
            return T5QuestionGenerator(self._report)
        return RuleQuestionGenerator()

    @cached_property
    def ranking(self) -> DenseDocumentRanker | DprDocumentRanker:
        """Documents by the question that they answer."""
        config = self._config
        if self._report:
            return DprDocumentRanker(
                self._store, self._dpr, config.document_cutoff, config.document_limit
            )
        return DenseDocumentRanker(
            self._store, self._encoder, config.document_cutoff, config.document_limit
        )

    @cached_property
    def dense(self) -> DenseSentenceRetriever:
        """Documents by their sentences' nearness to the claim and a path."""
        return DenseSentenceRetriever(self._store, self._query_encoder, self._config.dense_limit)

    @cached_property
    def preranking(self) -> SentencePreranker:
        """Which sentences are read."""
        return SentencePreranker(self._store, self._dpr if self._report else self._encoder)

    @cached_property
    def relevance(self) -> CrossEncoderRelevanceClassifier | DistilBertRelevanceClassifier:
        """What each sentence alone says of the claim."""
        if self._report:
            return DistilBertRelevanceClassifier(self._report, self._config.relevance_cutoff)
        return CrossEncoderRelevanceClassifier(self._reader, self._config.relevance_cutoff)

    @cached_property
    def semantic(self) -> SemanticSentenceRanker | SimilaritySentenceRanker:
        """Sentences in order, without what is about something else."""
        config = self._config
        if self._report:
            return SimilaritySentenceRanker(self._encoder, config.semantic_cutoff)
        return SemanticSentenceRanker(self._encoder, config.semantic_cutoff, config.semantic_limit)

    @cached_property
    def paths(self) -> PathReader:
        """What a sentence says behind those that led to it."""
        config = self._config
        return PathReader(
            path_reader(),
            Nearness(self._store, self._query_encoder),
            config.path_leads,
            config.path_neighbours,
        )

    @cached_property
    def path_ranking(self) -> PathRanker:
        """Sentences and paths in one order."""
        return PathRanker(self._config.path_threshold, self._config.path_weight)

    @cached_property
    def verification(self) -> EvidenceVerifier:
        """What each of the best sentences says of the claim, alone and on its path."""
        return EvidenceVerifier(self._verifier, self._config.verified_sentences)

    @cached_property
    def relative(self) -> RelativeSelector:
        """What is nearly as relevant as the best."""
        return RelativeSelector(self._config.selection_share, self._config.selection_limit)

    @cached_property
    def proved(self) -> ProvedSelector:
        """What the proof rests on, or is as good as the best."""
        return ProvedSelector(self._config.unproved_share)

    @cached_property
    def utility(self) -> UtilitySelector:
        """What serves the verifier."""
        config = self._config
        return UtilitySelector(
            UtilityModel(SELECTOR, READER), config.utility_candidates, config.selection_limit
        )

    @cached_property
    def judge(self) -> CrossEncoderJudge:
        """What the selected sentences come to."""
        return CrossEncoderJudge(self._verifier, self._verifier.version)

    @cached_property
    def prover(self) -> NaturalLogicProver:
        """Whether they cover the claim, part by part."""
        return NaturalLogicProver(ProofModel(PROVER), self._config.independence_cutoff)

    @cached_property
    def mentions(self) -> MentionExpander:
        """Documents that the evidence names."""
        return MentionExpander(self._store, self._config.expansion_limit)

    @cached_property
    def generation(self) -> TitleGenerator:
        """Documents whose titles follow from claim and evidence."""
        config = self._config
        beams, limit = config.generation_beams, config.expansion_limit
        if self._folders.bart is not None:
            bart = BartTitleModel(self._folders.bart)
            return TitleGenerator(bart, bart.trie(self._store.titled()), beams, limit)
        return TitleGenerator(MiniLMTitleModel(TITLES), self._store.titles(), beams, limit)

    @cached_property
    def _query_encoder(self) -> QueryEncoder:
        return QueryEncoder(DENSE)

    @cached_property
    def _dpr(self) -> DprQuestionEncoder:
        assert self._report is not None
        return DprQuestionEncoder(self._report)

    @cached_property
    def _reader(self) -> CrossEncoder:
        return reader()

    @cached_property
    def _verifier(self) -> EvidenceModel:
        return evidence_model(self._folders, in_search=True)
