"""The values that flow between the stages.

All values are frozen: a stage receives values and returns new ones, so no data of
one claim remains for the next. ``docs/data-model.md`` says which stage makes and
which stage reads each value.

Offsets are counted in characters (Python string indices): into the claim for a
``Span``, into ``Document.text`` for a ``Sentence``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Label: TypeAlias = Literal["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]
SpanKind: TypeAlias = Literal["entity", "noun chunk", "name", "quotation", "number", "date"]
QuestionKind: TypeAlias = Literal["wh", "polar"]
FoundBy: TypeAlias = Literal[
    "title", "disambiguation", "text", "words", "link", "mention", "generation", "dense"
]
Operator: TypeAlias = Literal["equivalence", "negation", "alternation", "independence"]
Stopped: TypeAlias = Literal["proved", "decided", "unchanged", "nothing new", "hops", "time"]

SUPPORTS: Label = "SUPPORTS"
REFUTES: Label = "REFUTES"
NOT_ENOUGH_INFO: Label = "NOT ENOUGH INFO"
LABELS: tuple[Label, Label, Label] = (SUPPORTS, REFUTES, NOT_ENOUGH_INFO)
OPPOSITE: dict[Label, Label] = {SUPPORTS: REFUTES, REFUTES: SUPPORTS}
EQUIVALENCE: Operator = "equivalence"
NEGATION: Operator = "negation"
ALTERNATION: Operator = "alternation"
INDEPENDENCE: Operator = "independence"
OPERATORS: tuple[Operator, Operator, Operator, Operator] = (
    EQUIVALENCE,
    NEGATION,
    ALTERNATION,
    INDEPENDENCE,
)


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

    ``document.text[start:end] == text`` is always true. ``links``: the titles that it
    links to, where the corpus has links.
    """

    document_id: str
    sentence_id: int
    text: str
    start: int
    end: int
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document of the corpus, or a passage of a long one, with its sentences in order of ids.

    ``section``: the headings above a passage, the outermost first, joined by " > ". ``page``: the
    number of its page in the file, from 1. ``source``: what it is credited to, ``None`` where its
    address or the name of the corpus says that.
    """

    id: str
    title: str
    url: str | None
    text: str
    sentences: tuple[Sentence, ...]
    section: str | None = None
    page: int | None = None
    source: str | None = None

    @property
    def heading(self) -> str:
        """What models read as the title: the title, with the section of a passage."""
        return headed(self.title, self.section)


def headed(title: str, section: str | None) -> str:
    """Return a title with the section below it, if there is one."""
    return f"{title}, {section}" if section else title


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """A document with the title ``name``, exactly or with words in parentheses added.

    ``title``: the title that matched, the document's own or that of a redirect to it.
    """

    document_id: str
    title: str
    name: str
    disambiguation: str | None


@dataclass(frozen=True, slots=True)
class PhraseSearch:
    """A search for up to ``limit`` documents whose text contains any of the phrases."""

    phrases: tuple[str, ...]
    limit: int


@dataclass(frozen=True, slots=True)
class PhraseMatch:
    """A document whose text contains at least one of the phrases."""

    document_id: str
    bm25: float


class SentenceKey(NamedTuple):
    """Which sentence: the id of its document and its number there."""

    document_id: str
    sentence_id: int


Opinion: TypeAlias = tuple[float, float, float]
"""Probabilities of ``LABELS``, in their order."""

Reading: TypeAlias = tuple[tuple[SentenceKey, ...], SentenceKey]
"""The path of sentences read before a sentence (empty if it is read alone), and the sentence."""


@dataclass(frozen=True, slots=True)
class SentenceMatch:
    """A sentence near a query vector; ``similarity`` is their cosine, -1 to 1."""

    key: SentenceKey
    similarity: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that a stage proposed; the scale of ``score`` depends on that stage.

    ``led_by``: the sentence of an earlier hop that led to it.
    """

    document_id: str
    found_by: tuple[FoundBy, ...]
    score: float
    hop: int
    led_by: SentenceKey | None = None


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document that is passed to the sentence stages."""

    document: Document
    score: float
    found_by: tuple[FoundBy, ...]
    hop: int
    led_by: SentenceKey | None = None


@dataclass(frozen=True, slots=True)
class Retrieved:
    """All that was found for a claim before the verifier read any of it.

    ``documents``: the ids of those that were opened, in that order, each with what found it.
    ``passages``: the sentences that were ranked, best first.
    """

    documents: tuple[tuple[str, tuple[FoundBy, ...]], ...] = ()
    passages: tuple[SentenceKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence with what the models say about it.

    ``opinion``: the probabilities of ``LABELS``, in their order. ``path``: the sentences
    that this one was read together with, first to last: those that led to it, or the
    other one of a pair. If there are any, ``opinion`` is about all of them together.
    ``section`` and ``page``: those of its document. ``context_before`` and ``context_after``: the
    text of its document that it is read with (``language.context``), ``None`` where none is needed.
    ``copies``: the documents among those that were opened that contain the sentence, 1 or more.
    """

    sentence: Sentence
    title: str
    url: str | None
    opinion: Opinion
    hop: int
    selected: bool = False
    path: tuple[SentenceKey, ...] = ()
    section: str | None = None
    page: int | None = None
    context_before: str | None = None
    context_after: str | None = None
    copies: int = 1

    @property
    def heading(self) -> str:
        """What models read as the title; see ``Document.heading``."""
        return headed(self.title, self.section)

    @property
    def in_context(self) -> str:
        """The sentence with its context: what models that label read."""
        return " ".join(filter(None, (self.context_before, self.sentence.text, self.context_after)))

    @property
    def as_read(self) -> tuple[str, str]:
        """Title and text as models that label read them."""
        return self.heading, self.in_context

    @property
    def key(self) -> SentenceKey:
        """Which sentence of which document it is."""
        return SentenceKey(self.sentence.document_id, self.sentence.sentence_id)

    @property
    def score(self) -> float:
        """The probability that the sentence supports or refutes the claim."""
        return 1 - self.opinion[LABELS.index(NOT_ENOUGH_INFO)]

    @property
    def stance(self) -> Label:
        """SUPPORTS or REFUTES if it is more probable than not, otherwise NOT ENOUGH INFO."""
        supports, refutes, _ = self.opinion
        return SUPPORTS if supports > 0.5 else REFUTES if refutes > 0.5 else NOT_ENOUGH_INFO

    @property
    def stance_confidence(self) -> float:
        """The probability of the stance."""
        return self.opinion[LABELS.index(self.stance)]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge says about the claim.

    ``cites``: numbers of the evidence that it uses, from 1, the best. ``missing``: what would
    have to be known, if the judge says so; else "".
    """

    judge: str
    label: Label
    confidence: float
    rationale: str
    cites: tuple[int, ...]
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the selected evidence, read together, says about the claim.

    ``judge``: which model decided. ``opinions``: what every judge says, first the judge that
    decided, or the language model where both decided together. ``probabilities``: of ``LABELS``,
    their sum is 1; empty where the judge gives none. ``leans``: the likelier label if it is too
    uncertain to be given; the verdict is NOT ENOUGH INFO then. ``disagreement``: numbers of the
    selected evidence, from 1, whose stance is the opposite of the label or of ``leans``.
    """

    label: Label
    confidence: float
    judge: str
    rationale: str
    opinions: tuple[Judgement, ...] = ()
    probabilities: tuple[float, ...] = ()
    leans: Label | None = None
    disagreement: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls and tokens of a language model for a claim, also if no answer could be used.

    ``calls`` is 0 if the answer was stored before, or if the model was not reached.
    """

    model: str
    calls: int
    prompt_tokens: int
    answer_tokens: int


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """A piece of a sentence; ``start`` and ``end`` are offsets into ``Document.text``."""

    key: SentenceKey
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mutation:
    """One step of a proof: a span of the claim, rewritten into a span of the evidence.

    ``evidence`` may be ``None`` only if the operator is independence.
    """

    start: int
    end: int
    operator: Operator
    evidence: EvidenceSpan | None


@dataclass(frozen=True, slots=True)
class Proof:
    """What the evidence says about each span of the claim, in the claim's order.

    ``label``: the result of the mutations (``sufficiency.automaton``).
    """

    mutations: tuple[Mutation, ...]
    label: Label

    @property
    def sufficient(self) -> bool:
        """Whether no span is open (AdMIRaL, section 3.2)."""
        return not self.open

    @property
    def open(self) -> tuple[tuple[int, int], ...]:
        """The claim offsets of the spans that nothing is found about."""
        return tuple((m.start, m.end) for m in self.mutations if m.operator == INDEPENDENCE)


@dataclass(frozen=True, slots=True)
class Hop:
    """One pass over the stages that read and decide.

    ``missing``: claim offsets of what was still open after it. ``label``: the verdict on
    the best sentences. ``best``: these sentences, at most five, best first. ``stopped``:
    why no other hop followed; only in the last hop of a statement.
    """

    hop: int
    sufficient: bool
    missing: tuple[tuple[int, int], ...]
    documents: int
    sentences: int
    label: Label
    best: tuple[SentenceKey, ...]
    stopped: Stopped | None


# The name of the corpus of claims that name none, whatever that is called now.
DEFAULT_CORPUS = "default"


@dataclass(frozen=True, slots=True)
class CorpusPart:
    """One of several corpora that were searched as one; ``title`` is what people call it."""

    name: str
    title: str
    documents: int
    built_at: str
    text_date: str | None


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """The corpus that the claim was checked against.

    ``built_at`` is ISO 8601 in UTC; ``text_date`` the day of its newest text, ``None`` if unknown.
    ``parts``: the corpora that were named for the claim; empty where it was the default one.
    """

    name: str
    documents: int
    built_at: str
    text_date: str | None = None
    parts: tuple[CorpusPart, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedStatement:
    """A statement of a claim that makes several; ``claim[start:end]`` makes it.

    Its text may begin with a subject from another part.
    """

    text: str
    start: int
    end: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a check; ``retrieval.result`` makes the claim document from it.

    ``claim``: as it was checked. ``original``: as it was written, None where that is the same.
    ``statements``: of a claim that makes several, else empty. ``retrieved``: for evaluations; the
    verifier chose ``evidence`` from its passages.
    """

    claim: str
    recipe: str
    notices: tuple[str, ...]
    corpus: CorpusInfo
    verdict: Verdict
    evidence: tuple[Evidence, ...]
    documents: tuple[RankedDocument, ...]
    questions: tuple[Question, ...]
    proof: Proof | None
    hops: tuple[Hop, ...]
    seconds: dict[str, float]
    usage: Usage | None = None
    original: str | None = None
    statements: tuple[CheckedStatement, ...] = ()
    retrieved: Retrieved = Retrieved()


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a check: ``done`` of ``of`` steps are finished.

    If ``done`` is the same as before, the stage is still running.
    """

    stage: str
    message: str
    done: int
    of: int


ProgressListener: TypeAlias = Callable[[Progress], None]
