"""The one place that chooses implementations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.config import RetrievalConfig
from retrieval.cross_encoders.cross_encoder import CrossEncoder, read_config, version_of
from retrieval.encoders.minilm_encoder import MiniLMEncoder
from retrieval.index.versions import current_version
from retrieval.recipes import Recipe, recipe_named
from retrieval.types import ProgressListener, Report

if TYPE_CHECKING:
    from retrieval.pipeline import Pipeline

MODELS = Path(__file__).resolve().parent.parent / "models"
READER, VERIFIER = MODELS / "reader", MODELS / "verifier"
PATH, PROVER, SELECTOR = MODELS / "path", MODELS / "prover", MODELS / "selector"
DENSE, TITLES = MODELS / "dense", MODELS / "titles"


class Retriever:
    """An index and a pipeline over it, opened on first use and loaded once.

    Safe to create in a process that may never check a claim: nothing heavy is
    imported before ``warm_up`` or ``check``.
    """

    def __init__(
        self, index: Path, threads: int, verifier_base: Path | None, config: RetrievalConfig
    ) -> None:
        """Remember the settings; ``open_retriever`` tells what they mean."""
        self._index = index
        self._threads = threads
        self._verifier_base = verifier_base
        self._config = config
        self._pipeline: Pipeline | None = None
        self._version: Path | None = None

    def warm_up(self) -> None:
        """Open the index and load the models.

        Raises:
            IndexUnavailable: there is no index, or it cannot be used.
            ModelUnavailable: a model is missing or damaged.
        """
        if self._pipeline is None:
            import torch

            torch.set_num_threads(self._threads)
            self._version = current_version(self._index)
            self._pipeline = self._assembled()
        self._pipeline.warm_up()

    def stale(self) -> bool:
        """Return whether another index stands where the opened one stood."""
        return self._pipeline is not None and current_version(self._index) != self._version

    def check(self, claim: str, recipe: str, on_progress: ProgressListener) -> Report:
        """Check one claim by the recipe of this name.

        Raises:
            UnknownRecipe: there is none. And what ``warm_up`` and ``Pipeline.check`` raise.
        """
        return self.follow(recipe_named(recipe), claim, on_progress)

    def follow(self, recipe: Recipe, claim: str, on_progress: ProgressListener) -> Report:
        """Check one claim by a recipe, which need not be one of the shipped."""
        self.warm_up()
        assert self._pipeline is not None
        return self._pipeline.check(claim, recipe, on_progress)

    def _assembled(self) -> Pipeline:
        from retrieval.dense.query_encoder import QueryEncoder
        from retrieval.dense.sentence_retriever import DenseSentenceRetriever
        from retrieval.generation.minilm import MiniLMTitleModel
        from retrieval.generation.title_generator import TitleGenerator
        from retrieval.hops.mention_expander import MentionExpander
        from retrieval.index.embedded_store import EmbeddedStore
        from retrieval.language.english import EnglishParser
        from retrieval.paths.path_ranker import PathRanker
        from retrieval.paths.path_reader import PathReader
        from retrieval.phrases.phrase_matcher import PhraseMatcher
        from retrieval.pipeline import Pipeline, Stages
        from retrieval.questions.rule_question_generator import RuleQuestionGenerator
        from retrieval.ranking.dense_document_ranker import DenseDocumentRanker
        from retrieval.ranking.semantic_sentence_ranker import SemanticSentenceRanker
        from retrieval.relevance.cross_encoder_relevance_classifier import (
            CrossEncoderRelevanceClassifier,
        )
        from retrieval.reranking.cross_encoder_reranker import CrossEncoderReranker
        from retrieval.selection.relative_selector import RelativeSelector
        from retrieval.selection.utility_model import UtilityModel
        from retrieval.selection.utility_selector import UtilitySelector
        from retrieval.spans.spacy_span_extractor import SpacySpanExtractor
        from retrieval.sufficiency.proof_model import ProofModel
        from retrieval.sufficiency.prover import NaturalLogicProver
        from retrieval.titles.title_matcher import TitleMatcher
        from retrieval.verdict.cross_encoder_judge import CrossEncoderJudge
        from retrieval.words.word_matcher import WordMatcher

        config = self._config
        encoder = MiniLMEncoder()
        model, base = reader(), self._verifier_base
        store = EmbeddedStore.open(self._index, encoder.name)
        stages = Stages(
            parser=EnglishParser(),
            spans=SpacySpanExtractor(),
            titles=TitleMatcher(
                store, encoder, config.disambiguation_cutoff, config.disambiguation_limit
            ),
            texts=PhraseMatcher(store, config.text_limit),
            words=WordMatcher(store, config.word_limit),
            questions=RuleQuestionGenerator(),
            ranking=DenseDocumentRanker(
                store, encoder, config.document_cutoff, config.document_limit
            ),
            dense=DenseSentenceRetriever(store, QueryEncoder(DENSE), config.dense_limit),
            relevance=CrossEncoderRelevanceClassifier(
                model, config.relevance_cutoff, config.sentence_limit
            ),
            paths=PathReader(
                path_reader(), config.path_leads, config.path_neighbours, config.path_limit
            ),
            path_ranking=PathRanker(config.path_threshold, config.path_weight),
            semantic=SemanticSentenceRanker(encoder, config.semantic_cutoff),
            reranking=CrossEncoderReranker(verifier(base), config.rerank_limit) if base else None,
            relative=RelativeSelector(config.selection_share, config.selection_limit),
            utility=UtilitySelector(
                UtilityModel(SELECTOR, READER), config.utility_candidates, config.selection_limit
            ),
            judge=CrossEncoderJudge(model, judge_name(base)),
            prover=NaturalLogicProver(ProofModel(PROVER), config.independence_cutoff),
            mentions=MentionExpander(store),
            generation=TitleGenerator(
                MiniLMTitleModel(TITLES),
                store.titles(),
                config.generation_beams,
                config.expansion_limit,
            ),
        )
        return Pipeline(stages, store, config)


def reader() -> CrossEncoder:
    """Return the model that reads every sentence; its weights are not loaded yet.

    Raises:
        ModelUnavailable: it is missing.
    """
    from retrieval.cross_encoders.folded_minilm import FoldedMiniLM

    return CrossEncoder(READER, FoldedMiniLM())


def path_reader() -> CrossEncoder:
    """Return the model that reads sentences beside those that led to them, as ``reader`` does."""
    from retrieval.cross_encoders.folded_minilm import FoldedMiniLM

    return CrossEncoder(PATH, FoldedMiniLM())


def verifier(base: Path) -> CrossEncoder:
    """Return the large profile's second model, as ``reader`` does; ``base`` as below."""
    from retrieval.cross_encoders.mpnet import PackagedMPNet

    return CrossEncoder(VERIFIER, PackagedMPNet(base))


def judge_name(verifier_base: Path | None) -> str:
    """Return the name that verdicts carry: every model whose opinion counts, with its version.

    Loads no model. ``verifier_base`` as below.

    Raises:
        ModelUnavailable: a model is missing.
    """
    folders = [READER, VERIFIER] if verifier_base else [READER]
    return " and ".join(version_of(read_config(folder)) for folder in folders)


def open_retriever(index: Path, threads: int, verifier_base: Path | None) -> Retriever:
    """Return a retriever over the index in this folder; nothing is loaded yet.

    ``threads`` is how many the models may use. ``verifier_base`` is the folder
    that the large profile's base weights are unpacked into; None is the small
    profile, which does without.
    """
    return Retriever(index, threads, verifier_base, RetrievalConfig())
