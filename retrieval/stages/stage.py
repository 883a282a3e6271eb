"""What a stage is, and what it is made of: an index, and the models that read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, TypeAlias

from retrieval.index.interface import DocumentStore
from retrieval.models.cross_encoders import CrossEncoder, EvidenceModel
from retrieval.models.encoders import PathEncoder, QueryEncoder, TextEncoder
from retrieval.models.folders import ModelFolders
from retrieval.models.own_models import OwnEncoder, OwnQueryEncoder
from retrieval.models.papers.bart import BartTitleModel
from retrieval.models.papers.decoding import TitleModel
from retrieval.models.papers.report_models import present_models
from retrieval.models.papers.report_networks import AnswerExtractor, DprQuestionEncoder
from retrieval.models.papers.selector import UtilityModel
from retrieval.models.papers.title_generator import MiniLMTitleModel
from retrieval.models.prover import ProofModel
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
from retrieval.models.title_trie import TitleTrie
from retrieval.recipes.config import RetrievalConfig
from retrieval.state import ClaimState
from retrieval.text.english import EnglishParser
from retrieval.types import Opinion


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


class Step(NamedTuple):
    """The result of a stage: the new state, and a line for the progress page, "" for none."""

    state: ClaimState
    message: str


class Warm(Protocol):
    """What is made with models."""

    def warm_up(self) -> None:
        """Load these models; cheap if they are loaded already.

        Raises:
            ModelUnavailable: a model is missing or damaged.
        """
        for part in vars(self).values():
            if hasattr(part, "warm_up"):
                part.warm_up()


class Stage(Warm, Protocol):
    """One step of checking a claim.

    ``docs/stages.md`` shows how to write one and how a recipe names it. A stage stores nothing
    about a claim; its results are in the state that it returns.
    """

    def run(self, state: ClaimState) -> Step:
        """Return the state with the results of this stage."""
        ...


def opinions(model: EvidenceModel, claim: str, texts: Iterable[str]) -> list[Opinion]:
    """Return what a model says of a claim and each of these texts."""
    rows = model.probabilities([(claim, text) for text in texts]).tolist()
    return [(supports, refutes, neither) for supports, refutes, neither in rows]


Makers: TypeAlias = Mapping[str, Callable[[Resources, RetrievalConfig], Stage]]
"""What makes each stage of a file, by the names that recipes use: ``MAKERS`` at its end."""
