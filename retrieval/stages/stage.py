"""What a stage is: the state of a claim that it returns, the index and the models it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

from spacy.tokens import Doc

from retrieval.index.interface import DocumentStore
from retrieval.models.cross_encoders import CrossEncoder, EvidenceModel
from retrieval.models.encoders import PathEncoder, QueryEncoder, TextEncoder
from retrieval.models.folders import ModelFolders
from retrieval.models.own_models import OwnEncoder, OwnQueryEncoder
from retrieval.models.papers.bart import BartTitleModel
from retrieval.models.papers.decoding import TitleModel
from retrieval.models.papers.report_models import present_models
from retrieval.models.papers.report_networks import AnswerExtractor, DprQuestionEncoder
from retrieval.models.papers.title_generator import MiniLMTitleModel
from retrieval.models.prover import ProofModel
from retrieval.models.shipped import (
    DENSE,
    PROVER,
    TITLES,
    evidence_model,
    path_model,
    relevance_model,
)
from retrieval.models.title_trie import TitleTrie
from retrieval.quantities.halves import Ruling
from retrieval.recipes.recipes import SHIPPED, RetrievalConfig
from retrieval.text.english import EnglishParser
from retrieval.text.subject import Subject, subject_of
from retrieval.types import (
    Candidate,
    Evidence,
    Hop,
    Opinion,
    Proof,
    Question,
    RankedDocument,
    Reading,
    Retrieved,
    Sentence,
    SentenceKey,
    Span,
    Verdict,
)

_BEST = 5


@dataclass(frozen=True, slots=True)
class ClaimState:
    """The claim and what the stages have found for it so far.

    A stage returns a new state (``dataclasses.replace``). Lists of evidence come best first.
    """

    claim: str  # the text that is checked
    parsed: Doc = field(repr=False, compare=False)  # its words, their kinds and their relations
    hop: int = 1  # the number of this hop
    # Pieces of the claim that may name a document or answer a question.
    spans: tuple[Span, ...] = ()
    exact: tuple[Candidate, ...] = ()  # documents whose title is in the claim
    # Documents whose title, without words in parentheses, is in the claim.
    disambiguated: tuple[Candidate, ...] = ()
    by_text: tuple[Candidate, ...] = ()  # documents that contain a span of the claim
    by_words: tuple[Candidate, ...] = ()  # documents that contain words of the claim
    questions: tuple[Question, ...] = ()  # whose answers would help to decide the claim
    candidates: tuple[Candidate, ...] = ()  # documents to open next
    opened: tuple[RankedDocument, ...] = ()  # documents that this hop has opened
    documents: tuple[RankedDocument, ...] = ()  # documents that all hops have opened
    # Documents that the best sentence names, opened for the stage ``bridge`` alone; later hops may
    # open them again.
    named: tuple[RankedDocument, ...] = ()
    # Ids of documents in the order of the sets that title generation scored, those of the last hop
    # first; empty if the recipe scores no sets.
    by_sets: tuple[str, ...] = ()
    chosen: tuple[tuple[RankedDocument, Sentence], ...] = ()  # sentences of ``opened`` to read
    read: tuple[Evidence, ...] = ()  # all that the relevance model has read alone, of all hops
    relevant: tuple[Evidence, ...] = ()  # those of this hop that are relevant to the claim
    ranked: tuple[Evidence, ...] = ()  # those of all hops that the semantic ranking has kept
    # Last sentences of paths, read together with the sentences before them, of all hops.
    paths: tuple[Evidence, ...] = ()
    # Every sentence that was ranked, alone or on paths, of all hops, before the verifier chose.
    passages: tuple[SentenceKey, ...] = ()
    evidence: tuple[Evidence, ...] = ()  # the sentences that may decide the claim
    # The verifier's probabilities for each sentence and path.
    readings: Mapping[Reading, Opinion] = field(default_factory=dict)
    # What arithmetic says about sentences and paths of ``evidence``, if anything.
    rulings: Mapping[Reading, Ruling] = field(default_factory=dict)
    # The sentences that the selection chose, before the proof left some out.
    selection: frozenset[SentenceKey] = frozenset()
    last_selection: frozenset[SentenceKey] | None = None  # of the hop before; None in the first
    proof: Proof | None = None  # from the selected evidence; None if the recipe makes none
    verdict: Verdict | None = None  # on the selected evidence; None until the first hop has decided
    # How many words of the selected evidence the verifier has read at once; None for all.
    read_words: int | None = None
    hops: tuple[Hop, ...] = ()  # the finished hops

    def __deepcopy__(self, memo: object) -> ClaimState:
        """Return the same state, which never changes. Haystack copies all inputs."""
        return self

    @property
    def selected(self) -> tuple[Evidence, ...]:
        """The selected evidence, from which the verdict is made."""
        return tuple(item for item in self.evidence if item.selected)

    @property
    def subject(self) -> Subject:
        """What the claim is about, and which of the documents are about it as a whole."""
        return subject_of(self.parsed).in_documents([one.document for one in self.documents])

    @property
    def seen(self) -> frozenset[str]:
        """The ids of all documents that were opened."""
        return frozenset(ranked.document.id for ranked in self.documents)

    @property
    def best(self) -> tuple[SentenceKey, ...]:
        """The five best sentences, selected or not."""
        return tuple(item.key for item in self.evidence[:_BEST])

    def with_ranking(self, ranking: Sequence[Evidence]) -> ClaimState:
        """Return the state with this ranking first in ``passages`` and ``evidence``."""
        passages = dict.fromkeys((*(item.key for item in ranking), *self.passages))
        among = {item.key for item in ranking}
        earlier = (item for item in self.evidence if item.key not in among)
        return replace(self, passages=tuple(passages), evidence=(*ranking, *earlier))

    def retrieved(self) -> Retrieved:
        """Return what was found, without what the verifier says about it."""
        documents = ((ranked.document.id, ranked.found_by) for ranked in self._all_documents())
        return Retrieved(tuple(documents), self.passages)

    def ranked_documents(self) -> tuple[RankedDocument, ...]:
        """Return the documents of the best sets, then those of the selected sentences.

        Then those that these led to, then those of other sentences, best first, and the rest as
        they were opened.
        """
        in_sets = {document_id: place for place, document_id in enumerate(self.by_sets)}
        selected = {item.key for item in self.selected}
        of_selected = {key.document_id for key in selected}
        in_evidence: dict[str, int] = {}
        for item in sorted(self.evidence, key=lambda item: not item.selected):
            in_evidence.setdefault(item.key.document_id, len(in_evidence))

        def place(ranked: RankedDocument) -> tuple[int, int]:
            name = ranked.document.id
            if name in in_sets:
                return 0, in_sets[name]
            kind = 1 if name in of_selected else 2 if ranked.led_by in selected else 3
            return kind, in_evidence.get(name, len(in_evidence))

        return tuple(sorted(self._all_documents(), key=place))

    def _all_documents(self) -> tuple[RankedDocument, ...]:
        only_named = (ranked for ranked in self.named if ranked.document.id not in self.seen)
        return (*self.documents, *only_named)


class Models:
    """The models that stages share, whichever index they search; each is made when first needed.

    Making one raises ``ModelUnavailable`` if it is missing or damaged.
    """

    def __init__(self, encoder: TextEncoder, folders: ModelFolders) -> None:
        """``encoder`` compares texts, also with the vectors of indexes unless these are DPR's."""
        self.encoder = encoder
        self.folders = folders
        self._verifiers: dict[tuple[str | None, bool], EvidenceModel] = {}

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

    def verifier(self, named: str | None, computed: bool) -> EvidenceModel:
        """Return the model that labels evidence: that of a folder, or that of the settings.

        ``computed``: it reads what follows from numbers too.
        """
        key = named, computed
        if key not in self._verifiers:
            folder = self.folders.verifier if named is None else Path(named)
            folders = replace(self.folders, verifier=None if named == SHIPPED else folder)
            self._verifiers[key] = evidence_model(folders, in_search=True, computed=computed)
        return self._verifiers[key]

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
    judge: str | None = None  # the verifier that a recipe names
    computed: bool = True  # it reads what follows from numbers too

    @property
    def verifier(self) -> EvidenceModel:
        """The model that labels evidence."""
        return self.models.verifier(self.judge, self.computed)

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
