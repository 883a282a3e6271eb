"""The values that flow between the stages.

Everything here is frozen: a stage receives values and returns new ones, so
nothing of one claim can survive into the next. ``docs/data-model.md`` tells
which stage makes and which stage reads each of them.

Offsets are counted in characters (Python string indices): into the claim for a
``Span``, into ``Document.text`` for a ``Sentence``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Label: TypeAlias = Literal["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]
SpanKind: TypeAlias = Literal["entity", "noun chunk", "name", "quotation", "number", "date"]
QuestionKind: TypeAlias = Literal["wh", "polar"]
FoundBy: TypeAlias = Literal["title", "disambiguation", "text", "words", "mention"]

SUPPORTS: Label = "SUPPORTS"
REFUTES: Label = "REFUTES"
NOT_ENOUGH_INFO: Label = "NOT ENOUGH INFO"
LABELS: tuple[Label, Label, Label] = (SUPPORTS, REFUTES, NOT_ENOUGH_INFO)


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the claim that may name a document or answer a question."""

    text: str
    start: int
    end: int
    kind: SpanKind


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose answer would help to decide the claim; polar ones have no span."""

    text: str
    kind: QuestionKind
    answer: Span | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it was split when its document was indexed.

    ``document.text[start:end] == text`` always holds.
    """

    document_id: str
    sentence_id: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A document of the corpus with its sentences in order of their ids."""

    id: str
    title: str
    url: str | None
    text: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """A document whose title is ``name``, exactly or but for words in parentheses."""

    document_id: str
    title: str
    name: str
    disambiguation: str | None


@dataclass(frozen=True, slots=True)
class PhraseMatch:
    """A document whose text holds at least one of the phrases asked for."""

    document_id: str
    bm25: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that some matcher proposed; ``score`` is set by the ranker (0 before)."""

    document_id: str
    found_by: tuple[FoundBy, ...]
    score: float
    hop: int


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document that is handed to the sentence stages."""

    document: Document
    score: float
    found_by: tuple[FoundBy, ...]
    hop: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence with what the models that read it alone say of it.

    ``opinion`` holds the probabilities of ``LABELS``, in their order.
    """

    sentence: Sentence
    title: str
    url: str | None
    opinion: tuple[float, float, float]
    hop: int
    selected: bool = False

    @property
    def score(self) -> float:
        """The probability that the sentence bears on the claim at all."""
        return 1 - self.opinion[LABELS.index(NOT_ENOUGH_INFO)]

    @property
    def stance(self) -> Label:
        """What the sentence most probably says of the claim."""
        return LABELS[self.opinion.index(max(self.opinion))]

    @property
    def stance_confidence(self) -> float:
        """The probability of the stance."""
        return max(self.opinion)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the selected evidence, read together, says of the claim."""

    label: Label
    confidence: float
    judge: str
    rationale: str


@dataclass(frozen=True, slots=True)
class Hop:
    """One round of retrieval. ``missing``: claim offsets of spans no evidence speaks of."""

    hop: int
    sufficient: bool
    missing: tuple[tuple[int, int], ...]
    documents: int
    sentences: int


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """Which corpus the answer was found in. ``built_at`` is ISO 8601 in UTC."""

    name: str
    documents: int
    built_at: str


@dataclass(frozen=True, slots=True)
class Report:
    """All that is known of a claim in the end; ``retrieval.document`` serialises it."""

    claim: str
    recipe: str
    notices: tuple[str, ...]
    corpus: CorpusInfo
    verdict: Verdict
    evidence: tuple[Evidence, ...]
    documents: tuple[RankedDocument, ...]
    questions: tuple[Question, ...]
    hops: tuple[Hop, ...]
    seconds: dict[str, float]


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of the work on a claim: ``done`` of ``of`` steps are behind it."""

    stage: str
    message: str
    done: int
    of: int


ProgressListener: TypeAlias = Callable[[Progress], None]
