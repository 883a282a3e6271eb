"""What each page's template is given: one dataclass per page, named for it.

A test holds every template to these fields, so a template can be written
knowing this file alone. Texts here are as they came from the corpus or from a
visitor: hostile until Jinja has escaped them, which it does everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar, Literal, TypeAlias

from flask import render_template

StageState: TypeAlias = Literal["done", "running", "waiting"]
Look: TypeAlias = Literal["supported", "refuted", "unsettled", "pending", "stopped"]


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in its three parts: for programs, what is wrong, what to do about it."""

    code: str
    message: str
    hint: str


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
    """A stage of the work; ``message`` is empty until the stage is done."""

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
class EvidenceItem:
    """A sentence with its stance; ``rank`` counts from 1 and names its anchor."""

    rank: int
    title: str
    url: str | None
    sentence: str
    badge: Badge
    confidence: Confidence
    hop: int
    selected: bool


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
class HopItem:
    """What one round of retrieval found; ``missing`` are words of the claim."""

    number: int
    sufficient: bool
    missing: tuple[str, ...]
    documents: int
    sentences: int


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds that a stage took, as text."""

    label: str
    seconds: str


@dataclass(frozen=True, slots=True)
class HomePage:
    """The form. ``problem`` is set when ``claim`` was refused."""

    template: ClassVar[str] = "home.html"
    claim: str
    problem: Problem | None
    most_characters: int
    examples: tuple[str, ...]
    recent: tuple[ClaimRow, ...]
    corpus: Corpus | None
    corpus_problem: Problem | None


@dataclass(frozen=True, slots=True)
class ProgressPage:
    """A claim that is pending.

    ``waiting`` says what it waits for and ``attempt_note`` why it starts again,
    where it does (else they are empty); ``later_round`` is the pattern of a
    round that is not there yet.
    """

    template: ClassVar[str] = "progress.html"
    id: str
    claim: str
    waiting: str
    rounds: tuple[Round, ...]
    later_round: tuple[StageRow, ...]
    percent: int
    seconds: int
    elapsed: str
    attempt_note: str


@dataclass(frozen=True, slots=True)
class ResultPage:
    """A claim that is done. ``other_evidence`` and ``silent`` come after, collapsed."""

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
