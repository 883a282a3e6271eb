"""All stages by the names that recipes use, and how each is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TypeAlias

from retrieval.config import RetrievalConfig
from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.evidence_model import EvidenceModel
from retrieval.cross_encoders.utility_model import UtilityModel
from retrieval.encoders.dpr_encoder import DprQuestionEncoder
from retrieval.encoders.encoder import TextEncoder
from retrieval.encoders.query_encoder import QueryEncoder
from retrieval.errors import UnknownRecipe
from retrieval.generation.bart import BartTitleModel
from retrieval.generation.minilm import MiniLMTitleModel
from retrieval.index.store import DocumentStore
from retrieval.language.english import EnglishParser
from retrieval.model_folders import ModelFolders
from retrieval.models import (
    DENSE,
    PROVER,
    RELEVANCE_MODEL,
    SELECTOR,
    TITLES,
    evidence_model,
    path_model,
    relevance_model,
)
from retrieval.recipes import Recipe
from retrieval.report.models import present_models
from retrieval.stages.completion import PathCompletion
from retrieval.stages.dense import DenseSentenceRetriever
from retrieval.stages.fusion import PathFusion
from retrieval.stages.generation import TitleGenerator, TitleModel
from retrieval.stages.mentions import MentionExpander
from retrieval.stages.next import Expander, NextHop
from retrieval.stages.paths import Nearness, PathReader
from retrieval.stages.proof import NaturalLogicProver
from retrieval.stages.questions import RuleQuestionGenerator, T5QuestionGenerator
from retrieval.stages.ranking import (
    DenseDocumentRanker,
    DprDocumentRanker,
    MiniLMDocumentRanker,
)
from retrieval.stages.relevance import (
    CrossEncoderRelevanceClassifier,
    DistilBertRelevanceClassifier,
)
from retrieval.stages.selection import ProvedSelector, RelativeSelector, UtilitySelector
from retrieval.stages.semantic import SemanticSentenceRanker, SimilaritySentenceRanker
from retrieval.stages.sentences import DenseSentenceReader, SentencePreranker
from retrieval.stages.spans import SpacySpanExtractor, WikineuralSpanExtractor
from retrieval.stages.stage import Stage
from retrieval.stages.texts import TextMatcher
from retrieval.stages.titles import TitleMatcher
from retrieval.stages.verdict import CrossEncoderJudge
from retrieval.stages.verification import EvidenceVerifier
from retrieval.sufficiency.proof_model import ProofModel
from retrieval.titles.title_trie import TitleTrie


class Parts:
    """The index and the models that stages share. A model is made when a stage first needs it.

    Making one raises ``ModelUnavailable`` if it is missing or damaged.
    """

    def __init__(self, store: DocumentStore, encoder: TextEncoder, folders: ModelFolders) -> None:
        """``encoder`` compares texts, also with the vectors of ``store`` unless these are DPR's."""
        self.store = store
        self.encoder = encoder
        self.folders = folders

    @cached_property
    def parser(self) -> EnglishParser:
        """Words, their kinds and their relations."""
        return EnglishParser()

    @cached_property
    def queries(self) -> QueryEncoder:
        """Encodes claims and paths, to be compared with sentences of the index."""
        return QueryEncoder(DENSE)

    @cached_property
    def relevance_model(self) -> CrossEncoder:
        """The model that reads every sentence beside the claim."""
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
    def title_generation(self) -> tuple[TitleModel, TitleTrie]:
        """The model that generates titles, and the titles of the index in its tokens."""
        if self.folders.bart is not None:
            bart = BartTitleModel(self.folders.bart)
            return bart, bart.trie(self.store.titled())
        return MiniLMTitleModel(TITLES), self.store.titles()

    @cached_property
    def dpr(self) -> DprQuestionEncoder:
        """DPR's encoder of questions."""
        return DprQuestionEncoder(present_models(self.folders.report))


def _dense(parts: Parts, c: RetrievalConfig) -> DenseSentenceRetriever:
    return DenseSentenceRetriever(parts.store, parts.queries, c.dense_limit, c.path_leads)


def _paths(parts: Parts, c: RetrievalConfig) -> PathReader:
    nearness = Nearness(parts.store, parts.queries)
    return PathReader(parts.path_model, nearness, c.path_leads, c.path_neighbours)


def _verification(parts: Parts, c: RetrievalConfig) -> EvidenceVerifier:
    return EvidenceVerifier(parts.verifier, c)


_Maker: TypeAlias = Callable[[Parts, RetrievalConfig], Stage]

STAGES: Mapping[str, _Maker] = {
    "spans": lambda p, c: SpacySpanExtractor(),
    "spans:wikineural": lambda p, c: WikineuralSpanExtractor(present_models(p.folders.report)),
    "titles": lambda p, c: TitleMatcher(
        p.store, p.encoder, c.disambiguation_cutoff, c.disambiguation_limit
    ),
    "texts": lambda p, c: TextMatcher(p.store, c.text_limit, c.word_limit),
    "questions": lambda p, c: RuleQuestionGenerator(),
    "questions:t5": lambda p, c: T5QuestionGenerator(present_models(p.folders.report)),
    "ranking": lambda p, c: DenseDocumentRanker(p.store, p.encoder, c),
    "ranking:each": lambda p, c: MiniLMDocumentRanker(
        p.store, p.encoder, c.document_cutoff, c.document_limit
    ),
    "ranking:dpr": lambda p, c: DprDocumentRanker(
        p.store, p.dpr, c.document_cutoff, c.document_limit
    ),
    "dense": _dense,
    "sentences": lambda p, c: SentencePreranker(p.store, p.encoder, c),
    "sentences:dpr": lambda p, c: SentencePreranker(p.store, p.dpr, c),
    "sentences:dense": lambda p, c: DenseSentenceReader(p.store, p.encoder, p.queries, c),
    "relevance": lambda p, c: CrossEncoderRelevanceClassifier(
        p.relevance_model, c.relevance_cutoff
    ),
    "relevance:distilbert": lambda p, c: DistilBertRelevanceClassifier(
        present_models(p.folders.report), c.relevance_cutoff
    ),
    "paths": _paths,
    "semantic": lambda p, c: SemanticSentenceRanker(p.encoder, c.semantic_cutoff, c.semantic_limit),
    "semantic:mpnet": lambda p, c: SimilaritySentenceRanker(p.encoder, c.semantic_cutoff),
    "fusion": lambda p, c: PathFusion(c.path_threshold, None),
    "fusion:hybrid": lambda p, c: PathFusion(c.path_threshold, c.path_weight),
    "verification": _verification,
    "completion": lambda p, c: PathCompletion(
        _paths(p, c), _verification(p, c), c.verified_paths, c.verified_path_cutoff
    ),
    "selection": lambda p, c: RelativeSelector(c.selection_share, c.selection_limit),
    "selection:proved": lambda p, c: ProvedSelector(c.unproved_share),
    "selection:utility": lambda p, c: UtilitySelector(
        UtilityModel(SELECTOR, RELEVANCE_MODEL), c.utility_candidates, c.selection_limit
    ),
    "proof": lambda p, c: NaturalLogicProver(ProofModel(PROVER), c.independence_cutoff),
    "verdict": lambda p, c: CrossEncoderJudge(p.verifier, p.verifier.version, c),
}

EXPANDERS: Mapping[str, Callable[[Parts, RetrievalConfig], Expander]] = {
    "mentions": lambda p, c: MentionExpander(p.store, c.lead_sentences, c.expansion_limit),
    "generation": lambda p, c: TitleGenerator(
        *p.title_generation, c.generation_beams, c.expansion_limit
    ),
    "dense": _dense,
}


def stages_of(recipe: Recipe, parts: Parts) -> dict[str, Stage]:
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
            "Add each to retrieval/stages/table.py, or name one that is listed there.",
        )
    settings = recipe.settings
    expanders = [EXPANDERS[name](parts, settings) for name in recipe.next]
    return {
        **{name: STAGES[name](parts, settings) for name in (*recipe.first, *recipe.hop)},
        "next": NextHop(expanders, settings.expansion_limit),
    }
