"""What each page's template is given: one dataclass per page, named for it.

A test holds every template to these fields, so a template can be written
knowing this file alone. Texts here are as they came from the corpus or from a
visitor: hostile until Jinja has escaped them, which it does everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar, Literal, TypeAlias

from flask import render_template

from retrieval.errors import Problem
from retrieval.result import Decider

StageState: TypeAlias = Literal["done", "running", "waiting", "skipped"]
Look: TypeAlias = Literal["supported", "refuted", "unsettled", "pending", "stopped"]


@dataclass(frozen=True, slots=True)
class Moment:
    """An instant for machines (ISO 8601) and for people."""

    iso: str
    text: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """The corpus that is searched. ``attribution``: its texts are Wikipedia's."""

    name: str
    documents: int
    built: Moment
    attribution: bool


@dataclass(frozen=True, slots=True)
class Badge:
    """A verdict, a stance or a state in one word, with the look that goes with it."""

    look: Look
    word: str


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim in a list."""

    id: str
    claim: str
    badge: Badge
    created: Moment


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage of the work; ``message`` is empty until the stage is done.

    It is skipped where a later one is done and it was not needed.
    """

    name: str
    label: str
    state: StageState
    message: str


@dataclass(frozen=True, slots=True)
class Round:
    """One round of retrieval on the progress page."""

    number: int
    stages: tuple[StageRow, ...]


@dataclass(frozen=True, slots=True)
class Confidence:
    """A probability in words and in whole percent."""

    words: str
    percent: int


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence named by its document; ``rank``: the evidence that it is, or ``None``."""

    title: str
    rank: int | None


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """A sentence with its stance; ``rank`` counts from 1 and names its anchor.

    The stance is that of the sentence alone, or of what it was ``read_with`` too.
    """

    rank: int
    title: str
    url: str | None
    sentence: str
    badge: Badge
    confidence: Confidence
    hop: int
    selected: bool
    read_with: tuple[Cited, ...]


@dataclass(frozen=True, slots=True)
class OpinionItem:
    """What one judge says; ``cites``: ranks of evidence. ``missing`` is empty where nothing is.

    ``confidence``: ``None`` for a language model: one at a server is not asked for it, a local one
    has its probabilities in the rationale.
    """

    judge: str
    badge: Badge
    confidence: Confidence | None
    rationale: str
    cites: tuple[int, ...]
    missing: str


@dataclass(frozen=True, slots=True)
class Opinions:
    """What the verifier and a language model say; ``decider``: whose the verdict is.

    ``first`` is the one that decided; the model where both decided together.
    """

    first: OpinionItem
    second: OpinionItem
    agree: bool
    decider: Decider


@dataclass(frozen=True, slots=True)
class Asked:
    """The language model that is shown claims and the sentences that were found.

    ``host``: where they are sent; "" where it runs in this service. ``answers``: whether the last
    answer could be used.
    """

    model: str
    host: str
    answers: bool


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a document's text.

    ``ranks``: the evidence it is part of, best first; ``begins``: the evidence
    whose first piece it is.
    """

    text: str
    ranks: tuple[int, ...]
    begins: tuple[int, ...]
    look: Look | None


@dataclass(frozen=True, slots=True)
class Article:
    """A document of the corpus that was read, cut at its evidence."""

    title: str
    url: str | None
    found_by: str
    hop: int
    segments: tuple[Segment, ...]
    sentences: int


@dataclass(frozen=True, slots=True)
class Saying:
    """A sentence of ours around words of the claim, which may be none."""

    before: str
    quoted: tuple[str, ...]
    after: str


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The piece of evidence, number ``rank``, that a part of the claim was held against.

    ``pieces``: the sentence cut at the words that are meant. ``whole``: no words of
    it alone are meant, but all of it or its document's title; nothing is marked.
    """

    title: str
    rank: int
    pieces: tuple[Segment, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the claim and what the evidence says of it; ``number`` counts from 1."""

    number: int
    words: str
    badge: Badge
    excerpt: Excerpt | None


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """What a look means on the claim, and how many parts have it."""

    look: Look
    meaning: str
    parts: int


@dataclass(frozen=True, slots=True)
class ProofItem:
    """The proof of a claim.

    ``agrees``: the verdict is what the proof comes to. ``drawn``: the claim cut at its parts; a
    segment's first rank is the number of its part.
    """

    summary: Saying
    agrees: bool
    drawn: tuple[Segment, ...]
    legend: tuple[LegendEntry, ...]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Lead:
    """A sentence that led on to further documents.

    ``sentence`` is empty where only its document is known. ``more``: how many
    documents it led to beyond those named.
    """

    sentence: str
    source: Cited
    led_to: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True)
class HopItem:
    """What one round of retrieval found.

    ``before``, ``covered``, ``open``: which words of the claim were missing before
    it, no longer are and still are; ``None`` where there are none. ``ended``: why no
    round followed, else empty.
    """

    number: int
    before: Saying | None
    leads: tuple[Lead, ...]
    documents: int
    sentences: int
    sufficient: bool
    covered: Saying | None
    open: Saying | None
    ended: str


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds that a stage took, as text."""

    label: str
    seconds: str


@dataclass(frozen=True, slots=True)
class HomePage:
    """The form. ``problem`` is set when ``claim`` was refused.

    ``asked``: ``None`` where there is no language model.
    """

    template: ClassVar[str] = "home.html"
    claim: str
    problem: Problem | None
    most_characters: int
    examples: tuple[str, ...]
    recent: tuple[ClaimRow, ...]
    corpus: Corpus | None
    corpus_problem: Problem | None
    asked: Asked | None


@dataclass(frozen=True, slots=True)
class ProgressPage:
    """A claim that is pending.

    ``waiting`` says what it waits for and ``attempt_note`` why it starts again,
    where it does (else they are empty); ``later_round`` is the pattern of a
    round that is not there yet, of which there may be ``most_rounds`` in all. ``closing``: what
    follows the last round; ``None`` where no language model is ``asked``.
    ``follow``: the page was asked to renew itself where there are no scripts.
    """

    template: ClassVar[str] = "progress.html"
    id: str
    claim: str
    waiting: str
    rounds: tuple[Round, ...]
    later_round: tuple[StageRow, ...]
    most_rounds: int
    closing: StageRow | None
    asked: Asked | None
    percent: int
    seconds: int
    elapsed: str
    attempt_note: str
    follow: bool


@dataclass(frozen=True, slots=True)
class ResultPage:
    """A claim that is done. ``other_evidence`` and ``silent`` come after, collapsed.

    ``opinions``: ``None`` where the verifier alone was asked. ``proof``: ``None`` where the recipe
    makes none; ``lowered``: the confidence was lowered for it.
    """

    template: ClassVar[str] = "result.html"
    id: str
    claim: str
    badge: Badge
    confidence: Confidence
    rationale: str
    judge: str
    recipe: str
    finished: Moment
    permalink: str
    notices: tuple[str, ...]
    opinions: Opinions | None
    proof: ProofItem | None
    lowered: bool
    selected_evidence: tuple[EvidenceItem, ...]
    other_evidence: tuple[EvidenceItem, ...]
    articles: tuple[Article, ...]
    silent: tuple[Article, ...]
    questions: tuple[str, ...]
    hops: tuple[HopItem, ...]
    corpus: Corpus
    total: str
    timings: tuple[Timing, ...]
    most_characters: int


@dataclass(frozen=True, slots=True)
class StoppedPage:
    """A claim that failed (with its ``problem``) or was cancelled."""

    template: ClassVar[str] = "stopped.html"
    claim: str
    recipe: str
    problem: Problem | None
    finished: Moment


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """One page of the claims asked so far; a page number of 0 means there is none."""

    template: ClassVar[str] = "history.html"
    query: str
    rows: tuple[ClaimRow, ...]
    total: int
    number: int
    pages: int
    newer: int
    older: int


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """An error as a page."""

    template: ClassVar[str] = "error.html"
    status: int
    problem: Problem


Page: TypeAlias = HomePage | ProgressPage | ResultPage | StoppedPage | HistoryPage | ErrorPage


def render(page: Page) -> str:
    """Return the page as HTML."""
    return render_template(
        page.template, **{field.name: getattr(page, field.name) for field in fields(page)}
    )
