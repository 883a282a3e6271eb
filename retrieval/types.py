"""The values that flow between the stages.

All values are frozen: a stage receives values and returns new ones, so no data of
one claim remains for the next. ``docs/data-model.md`` says which stage makes and
which stage reads each value. The claim document contains some of them as they are (``_PUBLISHED``):
these describe each field, because its schema and its documentation are made from that.

Offsets are counted in characters (Python string indices): into the claim for a
``Span``, into ``Document.text`` for a ``Sentence``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import Annotated, Literal, NamedTuple, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass as described

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

Whole: TypeAlias = Annotated[int, Field(json_schema_extra={"minimum": 0})]
Offsets: TypeAlias = tuple[Whole, Whole]
Rounded: TypeAlias = Annotated[float, AfterValidator(lambda value: round(value, 4))]
Share: TypeAlias = Annotated[Rounded, Field(json_schema_extra={"minimum": 0, "maximum": 1})]

# Values with defaults are models, which know what keys a stored document of an older version had.
_PUBLISHED = ConfigDict(use_attribute_docstrings=True)


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the claim that may name a document or answer a question."""

    text: str
    start: int
    end: int
    kind: SpanKind


@described(frozen=True, slots=True, config=_PUBLISHED)
class Question:
    """A question that was made from the claim."""

    text: str
    """The question."""
    answer_span: str | None
    """The words of the claim that answer it, null for a polar question."""
    kind: QuestionKind
    """Whether the answer is a thing (`wh`) or yes or no (`polar`)."""


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

    @property
    def key(self) -> SentenceKey:
        """Which sentence of which document it is."""
        return SentenceKey(self.document_id, self.sentence_id)


@dataclass(frozen=True, slots=True)
class Document:
    """A document of the corpus, or a passage of a long one, with its sentences in order of ids.

    ``section``: the headings above a passage, the outermost first, joined by " > ". ``page``: the
    number of its page in the file, from 1. ``source``: what it is credited to, ``None`` where its
    address or the name of the corpus says that. ``date``: the day of the text, ISO 8601, such as
    that of a mail or of a wiki's revision; ``None`` where it has none of its own.
    """

    id: str
    title: str
    url: str | None
    text: str
    sentences: tuple[Sentence, ...]
    section: str | None = None
    page: int | None = None
    source: str | None = None
    date: str | None = None

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

UNREAD: Opinion = (0.0, 0.0, 1.0)
"""The opinion on a sentence that says nothing alone."""

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
    other one of a pair. If there are any, ``opinion`` is about all of them together, and
    ``alone`` is about the sentence without them, ``None`` where it was not read so.
    ``section``, ``page`` and ``date``: those of its document. ``context_before`` and
    ``context_after``: the text of its document that it is read with (``retrieval.text.context``),
    ``None`` where none is needed.
    ``copies``: the documents among those that were opened that contain the sentence, 1 or more.
    ``computed``: what arithmetic adds to it for the claim, if it is selected.
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
    alone: Opinion | None = None
    date: str | None = None
    computed: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """What models read as the title; see ``Document.heading``."""
        return headed(self.title, self.section)

    @property
    def in_context(self) -> str:
        """The sentence with its context: what models that label read."""
        return " ".join(filter(None, (self.context_before, self.sentence.text, self.context_after)))

    @property
    def quoted(self) -> str:
        """The sentence with its context, after the lead-ins of the list that it is an item of."""
        headings = self.section.split(" > ") if self.section else []
        leads = [*takewhile(lambda heading: heading.endswith(":"), reversed(headings))]
        return " ".join((*reversed(leads), self.in_context))

    @property
    def has_context(self) -> bool:
        """Whether a neighbour may turn what the sentence says ("That is wrong.").

        Rules read the sentence alone, so they leave such a sentence to the verifier.
        """
        return self.in_context != self.sentence.text

    @property
    def as_read(self) -> tuple[str, str]:
        """Title and text as models that label read them."""
        return self.heading, self.in_context

    @property
    def key(self) -> SentenceKey:
        """Which sentence of which document it is."""
        return self.sentence.key

    @property
    def score(self) -> float:
        """The probability that the sentence, with its path, supports or refutes the claim."""
        return 1 - self.opinion[LABELS.index(NOT_ENOUGH_INFO)]

    @property
    def decides(self) -> Label:
        """What the sentence says together with its path, if it has one."""
        return stance_of(self.opinion)

    @property
    def stance(self) -> Label:
        """What the sentence says alone."""
        return stance_of(self._of_itself)

    @property
    def stance_confidence(self) -> float:
        """The probability of the stance."""
        return self._of_itself[LABELS.index(self.stance)]

    @property
    def _of_itself(self) -> Opinion:
        return (self.alone or UNREAD) if self.path else self.opinion


def stance_of(opinion: Opinion) -> Label:
    """Return SUPPORTS or REFUTES if it is more probable than not, otherwise NOT ENOUGH INFO."""
    supports, refutes, _ = opinion
    return SUPPORTS if supports > 0.5 else REFUTES if refutes > 0.5 else NOT_ENOUGH_INFO


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
class VerdictReadings:
    """What a verdict is made of.

    ``together``: the verifier's probabilities for all selected sentences read as one text;
    ``alone``: those of the best reading; ``passage``: those of its sentence between its neighbours.
    Whether ``several`` sentences are selected, whether the best reading is of a ``path``, and
    whether arithmetic takes part in it (``value``).
    """

    together: Opinion
    alone: Opinion
    passage: Opinion
    several: bool = False
    path: bool = False
    value: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the selected evidence, read together, says about the claim.

    ``judge``: which model decided. ``opinions``: what every judge says, first the judge that
    decided, or the language model where both decided together. ``probabilities``: of ``LABELS``,
    their sum is 1; empty where the judge gives none. ``leans``: the likelier label if it is too
    uncertain to be given; the verdict is NOT ENOUGH INFO then. ``disagreement``: numbers of the
    selected evidence, from 1, whose stance is the opposite of the label or of ``leans``.
    ``readings``: what it is made of; ``None`` without evidence, and where it joins several.
    """

    label: Label
    confidence: float
    judge: str
    rationale: str
    opinions: tuple[Judgement, ...] = ()
    probabilities: tuple[float, ...] = ()
    leans: Label | None = None
    disagreement: tuple[int, ...] = ()
    readings: VerdictReadings | None = None


@described(frozen=True, slots=True, config=_PUBLISHED)
class Usage:
    """Calls and tokens of a language model, by its own count, also if no answer could be used."""

    model: str
    """Name of the language model."""
    calls: Whole
    """How often it was called; 0 where the answer was stored before."""
    prompt_tokens: Whole
    """Tokens that it read."""
    answer_tokens: Whole
    """Tokens that it wrote."""


class EvidenceSpan(NamedTuple):
    """Words of a sentence: its document, its number and their offsets in the document's text."""

    document: str
    sentence_id: Whole
    start: Whole
    end: Whole

    @property
    def key(self) -> SentenceKey:
        """Which sentence it is a part of."""
        return SentenceKey(self.document, self.sentence_id)


@described(frozen=True, slots=True, config=_PUBLISHED)
class Mutation:
    """A part of the claim, rewritten into words of the evidence."""

    claim_span: Offsets
    """Where the part begins and ends in the claim, in characters."""
    operator: Operator
    """How the words of the evidence relate to those of the claim."""
    evidence: EvidenceSpan | None
    """Document, sentence id and offsets of these words, null where nothing was found."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What the evidence says about each span of the claim, in the claim's order.

    ``label``: the result of the mutations (``retrieval.stages.decide.proof``).
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
        return tuple(step.claim_span for step in self.mutations if step.operator == INDEPENDENCE)


class Hop(BaseModel):
    """One pass over the stages that read and decide."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    hop: Whole
    """Its number, from 1."""
    sufficient: bool
    """Whether the evidence was sufficient after it."""
    missing: tuple[Offsets, ...]
    """Offsets of what was still open in the claim: of parts without proof, or, in recipes without
    one, of spans that no selected sentence mentions."""
    documents: Whole
    """How many documents it added."""
    sentences: Whole
    """How many sentences it added."""
    label: Label | None = None
    """The verdict on the sentences that were selected after it."""
    best: tuple[SentenceKey, ...] = ()
    """The five best sentences after it, selected or not, as document and sentence id."""
    stopped: Stopped | None = None
    """Why no other hop followed; null in all hops but the last of the claim, or of a statement."""


CorpusKind: TypeAlias = Literal["index", "mediawiki", "zim-search"]

# The name of the corpus of claims that name none, whatever that is called now.
DEFAULT_CORPUS = "default"


@described(frozen=True, slots=True, config=_PUBLISHED)
class CorpusPart:
    """One of several corpora that were searched as one."""

    name: str
    """Name of the corpus for programs."""
    title: str
    """What people call it."""
    documents: Whole
    """How many documents it has; 0 where that is not known."""
    built_at: str
    """When its index was built, ISO 8601 in UTC; empty where there is none."""
    text_date: str | None
    """The day of its newest text, ISO 8601, null where no day is known."""
    kind: CorpusKind = "index"
    """How it is searched: in an index, or where it is: `mediawiki`, a wiki that is asked over the
    network, or `zim-search`, a file of Kiwix."""


class CorpusInfo(BaseModel):
    """The corpus that the claim was checked against."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    name: str
    """Name of the corpus."""
    documents: Whole
    """How many documents it has."""
    built_at: str
    """When its index was built, ISO 8601 in UTC."""
    text_date: str | None = None
    """The day of its newest text as far as known, ISO 8601: the day of a dump, or the day on which
    a file of a folder was last modified. Null where no day is known."""
    parts: tuple[CorpusPart, ...] = ()
    """The corpora that were named for the claim, which were searched as one; empty where it was
    the default one."""


@described(frozen=True, slots=True, config=_PUBLISHED)
class NotSettled:
    """Why the verdict is NOT ENOUGH INFO."""

    absent: tuple[Offsets, ...]
    """Where names stand in the claim that no text of the corpus contains."""
    open: tuple[Offsets, ...]
    """Where its open parts stand with a noun, a number, a name or an adjective that the selected
    sentences do not have."""
    about: tuple[str, ...]
    """Ids of the documents that were opened and whose title is what the claim is about."""


@described(frozen=True, slots=True, config=_PUBLISHED)
class StanceOn:
    """What a selected sentence says about one statement of the claim."""

    evidence: Whole
    """Its number in `evidence`, from 1."""
    stance: Label
    """What it says about the statement, read together with the same path."""
    stance_confidence: Share
    """Probability of the stance."""


@dataclass(frozen=True, slots=True)
class CheckedStatement:
    """A statement of a claim that makes several; ``claim[start:end]`` makes it.

    Its text may begin with a subject from another part. ``evidence``: what the sentences that were
    selected for it say about it, best first.
    """

    text: str
    start: int
    end: int
    verdict: Verdict
    evidence: tuple[StanceOn, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a check; ``retrieval.result`` makes the claim document from it.

    ``claim``: as it was checked. ``original``: as it was written, None where that is the same.
    ``suggestion``: the claim with other words where it may be misspelt.
    ``recipe_digest``: see ``Recipe.digest``.
    ``statements``: of a claim that makes several, else empty. ``not_settled``: ``None`` where the
    verdict is decided. ``retrieved``: for evaluations; the
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
    not_settled: NotSettled | None = None
    retrieved: Retrieved = Retrieved()
    recipe_digest: str = ""
    suggestion: str | None = None


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document that was opened; ``title`` is its heading, with page and section.

    ``score``: as that of ``RankedDocument``. ``led_by``: the heading of the document whose sentence
    led to it, "" for none.
    """

    title: str
    score: float
    found_by: tuple[FoundBy, ...]
    led_by: str = ""


@dataclass(frozen=True, slots=True)
class FoundSentence:
    """A sentence that was read. ``score``: the probability that it settles the claim.

    ``stance``: what the verifier says of it, ``None`` as long as it has not read it.
    """

    title: str
    text: str
    score: float
    stance: Label | None


@dataclass(frozen=True, slots=True)
class Findings:
    """What one step has found, of every kind that it finds; best first.

    ``spans``: their offsets are in the statement that is checked. ``open``: words of that statement
    that are open after a hop, which the next hop looks for.
    """

    hop: int
    spans: tuple[Span, ...] = ()
    questions: tuple[str, ...] = ()
    documents: tuple[FoundDocument, ...] = ()
    sentences: tuple[FoundSentence, ...] = ()
    open: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a check: ``done`` of ``of`` steps are finished.

    If ``done`` is the same as before, the stage is still running. ``found``: what the stage has
    found, ``None`` where that is no finding for people.
    """

    stage: str
    message: str
    done: int
    of: int
    found: Findings | None = None


ProgressListener: TypeAlias = Callable[[Progress], None]
