"""All stages by the names that recipes use, and how each is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from retrieval.errors import UnknownRecipe
from retrieval.index.interface import DocumentStore
from retrieval.models.cross_encoders.cross_encoder import CrossEncoder
from retrieval.models.cross_encoders.evidence_model import EvidenceModel
from retrieval.models.cross_encoders.proof_model import ProofModel
from retrieval.models.cross_encoders.reranker import Reranker
from retrieval.models.cross_encoders.utility_model import UtilityModel
from retrieval.models.encoders.dpr_encoder import DprQuestionEncoder
from retrieval.models.encoders.encoder import TextEncoder
from retrieval.models.encoders.own_encoder import OwnEncoder, OwnQueryEncoder
from retrieval.models.encoders.query_encoder import PathEncoder, QueryEncoder
from retrieval.models.folders import ModelFolders
from retrieval.models.generators.bart import BartTitleModel
from retrieval.models.generators.title_generator import MiniLMTitleModel
from retrieval.models.generators.title_trie import TitleTrie
from retrieval.models.report.answers import AnswerExtractor
from retrieval.models.report.models import present_models
from retrieval.models.shipped import (
    DENSE,
    PROVER,
    RELEVANCE_MODEL,
    SELECTOR,
    TITLES,
    evidence_model,
    path_model,
    relevance_model,
)
from retrieval.recipes.config import RetrievalConfig
from retrieval.recipes.recipes import Recipe
from retrieval.stages.decide.bridge import BridgeReader
from retrieval.stages.decide.comparison import ComparisonReader
from retrieval.stages.decide.completion import PathCompletion
from retrieval.stages.decide.proof import NaturalLogicProver
from retrieval.stages.decide.quantities import QuantityRuler
from retrieval.stages.decide.selection import ProvedSelector, RelativeSelector, UtilitySelector
from retrieval.stages.decide.verdict import CrossEncoderJudge
from retrieval.stages.decide.verification import EvidenceVerifier
from retrieval.stages.find.dense import DenseSentenceRetriever
from retrieval.stages.find.generation import TitleGenerator, TitleModel
from retrieval.stages.find.mentions import MentionExpander
from retrieval.stages.find.next import Expander, NextHop
from retrieval.stages.find.questions import RuleQuestionGenerator, T5QuestionGenerator
from retrieval.stages.find.ranking import (
    DenseDocumentRanker,
    DprDocumentRanker,
    MiniLMDocumentRanker,
)
from retrieval.stages.find.spans import SpacySpanExtractor, WikineuralSpanExtractor
from retrieval.stages.find.texts import TextMatcher
from retrieval.stages.find.titles import SpacyTitleMatcher, TitleMatcher
from retrieval.stages.read.fusion import PathFusion
from retrieval.stages.read.paths import Nearness, PathReader
from retrieval.stages.read.relevance import (
    CrossEncoderRelevanceClassifier,
    DistilBertRelevanceClassifier,
    ScoredRelevance,
)
from retrieval.stages.read.semantic import SemanticSentenceRanker, SimilaritySentenceRanker
from retrieval.stages.read.sentences import DenseSentenceReader, SentencePreranker
from retrieval.stages.stage import Stage
from retrieval.text.english import EnglishParser


class Models:
    """The models that stages share, whichever index they search; each is made when first needed.

    Making one raises ``ModelUnavailable`` if it is missing or damaged.
    """

    def __init__(self, encoder: TextEncoder, folders: ModelFolders) -> None:
        """``encoder`` compares texts, also with the vectors of indexes unless these are DPR's."""
        self.encoder = encoder
        self.folders = folders

    @cached_property
    def parser(self) -> EnglishParser:
        """Words, their kinds and their relations."""
        return EnglishParser()

    @cached_property
    def queries(self) -> PathEncoder:
        """Encodes claims and paths, to be compared with sentences of the index."""
        if isinstance(self.encoder, OwnEncoder):
            return OwnQueryEncoder(self.encoder)
        return QueryEncoder(DENSE)

    @cached_property
    def relevance_model(self) -> CrossEncoder:
        """The model that reads the claim with every sentence."""
        return relevance_model()

    @cached_property
    def path_model(self) -> CrossEncoder:
        """The model that reads a sentence together with those that led to it."""
        return path_model()

    @cached_property
    def verifier(self) -> EvidenceModel:
        """The model that labels evidence."""
        return evidence_model(self.folders, in_search=True)

    @cached_property
    def selector(self) -> UtilityModel:
        """The model that says which sentences a verdict needs."""
        return UtilityModel(SELECTOR, RELEVANCE_MODEL)

    @cached_property
    def prover(self) -> ProofModel:
        """The model that says how words of the claim relate to words of the evidence."""
        return ProofModel(PROVER)

    @cached_property
    def titles(self) -> TitleModel:
        """The model that generates titles."""
        bart = self.folders.bart
        return MiniLMTitleModel(TITLES) if bart is None else BartTitleModel(bart)

    @cached_property
    def answers(self) -> AnswerExtractor:
        """The report's model that extracts pieces of a claim."""
        return AnswerExtractor(present_models(self.folders.report))

    @cached_property
    def dpr(self) -> DprQuestionEncoder:
        """DPR's encoder of questions."""
        return DprQuestionEncoder(present_models(self.folders.report))


@dataclass(frozen=True, slots=True)
class Resources:
    """What stages are made of: an index, and models that other indexes may share."""

    store: DocumentStore
    models: Models

    @property
    def titles(self) -> TitleTrie:
        """The titles of the index in the tokens of the model that generates titles."""
        if self.models.folders.bart is not None:
            return self.models.titles.trie(self.store.titled())
        return self.store.titles()


def _dense(resources: Resources, c: RetrievalConfig) -> DenseSentenceRetriever:
    return DenseSentenceRetriever(
        resources.store, resources.models.queries, c.dense_limit, c.path_leads
    )


def _relevance(resources: Resources, c: RetrievalConfig) -> Stage:
    if resources.models.folders.reranker is not None:
        return ScoredRelevance(Reranker(resources.models.folders.reranker), c.relevance_cutoff)
    return CrossEncoderRelevanceClassifier(resources.models.relevance_model, c.relevance_cutoff)


def _paths(resources: Resources, c: RetrievalConfig) -> PathReader:
    nearness = Nearness(resources.store, resources.models.queries)
    return PathReader(resources.models.path_model, nearness, c.path_leads, c.path_neighbours)


def _verification(resources: Resources, c: RetrievalConfig) -> EvidenceVerifier:
    return EvidenceVerifier(resources.models.verifier, c, resources.models.parser)


def _mentions(resources: Resources, c: RetrievalConfig) -> MentionExpander:
    return MentionExpander(resources.store, c.lead_sentences, c.expansion_limit)


_Maker: TypeAlias = Callable[[Resources, RetrievalConfig], Stage]

STAGES: Mapping[str, _Maker] = {
    "spans": lambda r, c: SpacySpanExtractor(),
    "spans:wikineural": lambda r, c: WikineuralSpanExtractor(
        present_models(r.models.folders.report), r.models.answers
    ),
    "titles": lambda r, c: TitleMatcher(
        r.store, r.models.encoder, c.disambiguation_cutoff, c.disambiguation_limit
    ),
    "titles:spacy": lambda r, c: SpacyTitleMatcher(r.store, r.models.parser, c),
    "texts": lambda r, c: TextMatcher(r.store, c.text_limit, c.word_limit),
    "questions": lambda r, c: RuleQuestionGenerator(),
    "questions:t5": lambda r, c: T5QuestionGenerator(
        present_models(r.models.folders.report), r.models.answers
    ),
    "ranking": lambda r, c: DenseDocumentRanker(r.store, r.models.encoder, c),
    "ranking:each": lambda r, c: MiniLMDocumentRanker(
        r.store, r.models.encoder, c.document_cutoff, c.document_limit
    ),
    "ranking:dpr": lambda r, c: DprDocumentRanker(
        r.store, r.models.dpr, c.document_cutoff, c.document_limit
    ),
    "dense": _dense,
    "sentences": lambda r, c: SentencePreranker(r.store, r.models.encoder, c),
    "sentences:dpr": lambda r, c: SentencePreranker(r.store, r.models.dpr, c),
    "sentences:dense": lambda r, c: DenseSentenceReader(
        r.store, r.models.encoder, r.models.queries, c
    ),
    "relevance": _relevance,
    "relevance:distilbert": lambda r, c: DistilBertRelevanceClassifier(
        present_models(r.models.folders.report), c.relevance_cutoff
    ),
    "paths": _paths,
    "semantic": lambda r, c: SemanticSentenceRanker(
        r.models.encoder, c.semantic_cutoff, c.semantic_limit
    ),
    "semantic:mpnet": lambda r, c: SimilaritySentenceRanker(r.models.encoder, c.semantic_cutoff),
    "fusion": lambda r, c: PathFusion(c.path_threshold, None, c.path_scale),
    "fusion:hybrid": lambda r, c: PathFusion(c.path_threshold, c.path_weight),
    "verification": _verification,
    "completion": lambda r, c: PathCompletion(
        _paths(r, c), _verification(r, c), c.verified_paths, c.verified_path_cutoff
    ),
    "quantities": lambda r, c: QuantityRuler(r.models.parser),
    "comparison": lambda r, c: ComparisonReader(
        r.models.parser, r.models.verifier, c.compared_sentences
    ),
    "selection": lambda r, c: RelativeSelector(c.selection_share, c.selection_limit),
    "selection:proved": lambda r, c: ProvedSelector(c.unproved_share),
    "selection:utility": lambda r, c: UtilitySelector(
        r.models.selector,
        c.utility_candidates,
        c.selection_share,
        c.selection_limit,
    ),
    "proof": lambda r, c: NaturalLogicProver(r.models.prover, c.independence_cutoff),
    "bridge": lambda r, c: BridgeReader(r.store, r.models.path_model, r.models.verifier, c),
    "verdict": lambda r, c: CrossEncoderJudge(r.models.verifier, r.models.verifier.version, c),
}

EXPANDERS: Mapping[str, Callable[[Resources, RetrievalConfig], Expander]] = {
    "mentions": _mentions,
    "generation": lambda r, c: TitleGenerator(r.models.titles, r.titles, _mentions(r, c), c),
    "dense": _dense,
}


def stages_of(recipe: Recipe, resources: Resources) -> dict[str, Stage]:
    """Return the stages that a recipe names, and "next".

    Raises:
        UnknownRecipe: it names a stage that does not exist.
        ModelUnavailable: a model is missing or damaged.
    """
    unknown = [name for name in (*recipe.first, *recipe.hop) if name not in STAGES]
    unknown += [name for name in recipe.next if name not in EXPANDERS]
    if unknown:
        raise UnknownRecipe(
            "unknown_stage",
            f"The recipe {recipe.name!r} names unknown stages: {', '.join(unknown)}.",
            "Add each to retrieval/pipeline/registry.py, or name one that is listed there.",
        )
    settings = recipe.settings
    expanders = [EXPANDERS[name](resources, settings) for name in recipe.next]
    return {
        **{name: STAGES[name](resources, settings) for name in (*recipe.first, *recipe.hop)},
        "next": NextHop(expanders, settings.expansion_limit),
    }
