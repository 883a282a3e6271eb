"""The data that each page's template gets: one dataclass per page.

A test checks that every template uses these fields and no others. Texts come
unchanged from the corpus or from a user and may be hostile; Jinja escapes all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar, Literal, TypeAlias

from flask import render_template

from retrieval.errors import Problem
from retrieval.result import Decider
from retrieval.wording import Level

StageState: TypeAlias = Literal["done", "running", "waiting", "skipped"]
Look: TypeAlias = Literal["supported", "refuted", "unsettled", "pending", "stopped"]


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time: ``iso`` in ISO 8601, ``text`` as the page shows it."""

    iso: str
    text: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """The corpus. ``title``: what people call it.

    ``text_date``: the day of its newest text, ``None`` if unknown.
    ``attribution``: texts of it are from Wikipedia, which must be named.
    """

    title: str
    documents: int
    built: Moment
    text_date: Moment | None
    attribution: bool


@dataclass(frozen=True, slots=True)
class RecipeRow:
    """A recipe that can run here."""

    name: str
    summary: str


@dataclass(frozen=True, slots=True)
class OtherRecipes:
    """Recipes that cannot run here, for the same reason."""

    names: tuple[str, ...]
    problem: Problem


@dataclass(frozen=True, slots=True)
class Badge:
    """A verdict, a stance or a state in a few words, with its look.

    ``level``: how sure a verdict is.
    """

    look: Look
    word: str
    level: Level = "settled"


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim in a list."""

    id: str
    claim: str
    badge: Badge
    created: Moment


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage on the progress page; ``message`` is empty until the stage is done.

    A stage is skipped if a later one is done and this one was not needed.
    """

    name: str
    label: str
    state: StageState
    message: str


@dataclass(frozen=True, slots=True)
class HopRows:
    """The stages of one hop on the progress page."""

    number: int
    stages: tuple[StageRow, ...]


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence, named by its document; ``rank``: its number in the evidence, or ``None``."""

    title: str
    rank: int | None


@dataclass(frozen=True, slots=True)
class Credit:
    """A corpus, a site, or a file with the day on which it was last modified."""

    name: str
    modified: Moment | None


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """A sentence with its stance; ``rank`` counts from 1 and is part of its anchor.

    The stance is that of the sentence read together with the sentences in ``read_with``, and with
    the text ``before`` and ``after`` it, ``None`` where none was needed. ``confidence``: ``None``
    where the sentence settles nothing. ``copies``: documents that contain the sentence.
    ``credit``: what its document is credited to, ``None`` if unknown. ``by_ocr``: it was read from
    a picture.
    """

    rank: int
    title: str
    url: str | None
    credit: Credit | None
    by_ocr: bool
    before: str | None
    sentence: str
    after: str | None
    badge: Badge
    confidence: int | None
    hop: int
    selected: bool
    read_with: tuple[Cited, ...]
    copies: int


@dataclass(frozen=True, slots=True)
class StatementItem:
    """A statement of the claim and its verdict; ``confidence``: ``None`` without evidence."""

    text: str
    badge: Badge
    confidence: int | None


@dataclass(frozen=True, slots=True)
class OpinionItem:
    """What one judge says; ``cites``: ranks of evidence; ``missing``: empty if nothing is missing.

    ``confidence``: ``None`` for NOT ENOUGH INFO, and for a language model. A model at a server is
    not asked for it; the rationale of a local model states its probabilities.
    """

    judge: str
    badge: Badge
    confidence: int | None
    rationale: str
    cites: tuple[int, ...]
    missing: str


@dataclass(frozen=True, slots=True)
class Opinions:
    """What the verifier and a language model say; ``decider``: which of them gave the verdict.

    ``first`` is the opinion of the judge that decided, or of the model where both decided together.
    """

    first: OpinionItem
    second: OpinionItem
    agree: bool
    decider: Decider


@dataclass(frozen=True, slots=True)
class Asked:
    """The language model that reads the claims and the selected sentences.

    ``host``: where they are sent; "" where the model runs in this service. ``answers``: whether its
    last answer could be used.
    """

    model: str
    host: str
    answers: bool


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a document's text.

    ``ranks``: the evidence that it is part of, best first; ``begins``: the evidence
    that begins with it.
    """

    text: str
    ranks: tuple[int, ...]
    begins: tuple[int, ...]
    look: Look | None


@dataclass(frozen=True, slots=True)
class PassageItem:
    """A passage of a document that was read, or the whole document.

    ``title``: its document's. ``heading``: page and section, or "Passage 3", empty for a whole
    document. ``segments``: its text, cut where evidence begins and ends. ``credit``: what it is
    credited to, ``None`` if unknown.
    """

    title: str
    heading: str
    url: str | None
    credit: Credit | None
    found_by: str
    hop: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class DocumentItem:
    """A document that was read; ``sentences``: how many of its sentences are evidence.

    ``passages``: those with evidence, or all if none has any; one if the document is not cut.
    ``more``: the others.
    """

    title: str
    passages: tuple[PassageItem, ...]
    more: tuple[PassageItem, ...]
    sentences: int


@dataclass(frozen=True, slots=True)
class Saying:
    """A sentence of the page that may quote words of the claim (``quoted``)."""

    before: str
    quoted: tuple[str, ...]
    after: str


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The evidence, number ``rank``, that a part of the claim was compared with.

    ``pieces``: the sentence, cut around the words that match the part. ``whole``: the whole
    sentence or its document's title matches, so no words are marked.
    """

    title: str
    rank: int
    pieces: tuple[Segment, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the claim and what the evidence says about it; ``number`` counts from 1."""

    number: int
    words: str
    badge: Badge
    excerpt: Excerpt | None


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """What a look means in the proof, and how many parts of the claim have it."""

    look: Look
    meaning: str
    parts: int


@dataclass(frozen=True, slots=True)
class ProofItem:
    """The proof of a claim; it has the label of the verdict.

    ``drawn``: the claim cut into its
    parts; a segment's first rank is the number of its part.
    """

    summary: Saying
    drawn: tuple[Segment, ...]
    legend: tuple[LegendEntry, ...]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Lead:
    """A sentence that led to other documents.

    ``sentence`` is empty where only its document is known. ``led_to``: titles of these documents,
    each once, however many of its passages were read. ``more``: how many others there are.
    """

    sentence: str
    source: Cited
    led_to: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True)
class HopItem:
    """What one hop found.

    ``before``, ``covered``, ``open``: words of the claim that were missing before the hop, that
    are no longer missing, and that are still missing; ``None`` where there are none. ``ended``:
    why no other hop followed, else empty.
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
    """How long a stage took, as text."""

    label: str
    seconds: str


@dataclass(frozen=True, slots=True)
class HomePage:
    """The page with the form.

    ``problem`` is set if ``claim`` was refused, ``recipe_problem`` if the recipe cannot run here.

    ``offers_anyway``: the claim can be checked in spite of the problem. ``usual``: the name of the
    recipe of the examples; ``chosen``: of the one that is selected in the form.
    ``asked``: ``None`` where there is no language model.
    """

    template: ClassVar[str] = "home.html"
    claim: str
    problem: Problem | None
    offers_anyway: bool
    most_characters: int
    examples: tuple[str, ...]
    recent: tuple[ClaimRow, ...]
    corpus: Corpus | None
    corpus_problem: Problem | None
    recipes: tuple[RecipeRow, ...]
    other_recipes: tuple[OtherRecipes, ...]
    recipe_problem: Problem | None
    usual: str
    chosen: str
    asked: Asked | None


@dataclass(frozen=True, slots=True)
class ProgressPage:
    """A claim that is pending.

    ``waiting``: what it waits for, else empty. ``attempt_note``: why it started again, or which
    statement is checked, else empty.
    ``later_hop``: the stages of a hop that has not begun. ``most_hops``: how many hops the recipe
    allows. ``closing``: the stage after the last hop, ``None`` if no language model is ``asked``.
    ``follow``: the page reloads itself where there is no JavaScript.
    """

    template: ClassVar[str] = "progress.html"
    id: str
    claim: str
    waiting: str
    hops: tuple[HopRows, ...]
    later_hop: tuple[StageRow, ...]
    most_hops: int
    closing: StageRow | None
    asked: Asked | None
    percent: int
    seconds: int
    elapsed: str
    attempt_note: str
    follow: bool


@dataclass(frozen=True, slots=True)
class ResultPage:
    """A claim that is done. ``other_evidence`` and ``silent`` are shown collapsed.

    ``statements``: those of a claim that makes several, else empty.
    ``silent``: documents that were read but contain no evidence. ``opinions``: ``None`` where only
    the verifier was asked. ``certainty``: how sure the verdict is, "" where it is not decided or
    the judge gives no probability; ``calibrated``: it says how many such verdicts are right.
    ``missing``: words of the claim that nothing settles; ``None`` if the claim is decided or there
    are none. ``rationale``: "" where it would only quote a sentence that settles nothing.
    ``balance``: how many selected sentences have each stance, with
    ``scale``, the look of each. ``against``: the best sentence against the verdict, if any.
    ``proof``: ``None`` where the recipe makes none, or where it does not agree; ``proof_differs``
    says so then, and whether that has lowered the confidence.
    ``as_written``: the claim as it was written, empty where that is the same. ``ocr_note``: what
    to know about evidence that was read by OCR, empty if there is none.
    """

    template: ClassVar[str] = "result.html"
    id: str
    claim: str
    as_written: str
    badge: Badge
    certainty: str
    calibrated: bool
    missing: Saying | None
    rationale: str
    balance: str
    scale: tuple[Look, ...]
    against: EvidenceItem | None
    statements: tuple[StatementItem, ...]
    judge: str
    recipe: str
    finished: Moment
    permalink: str
    notices: tuple[str, ...]
    opinions: Opinions | None
    proof: ProofItem | None
    proof_differs: str
    ocr_note: str
    selected_evidence: tuple[EvidenceItem, ...]
    other_evidence: tuple[EvidenceItem, ...]
    documents: tuple[DocumentItem, ...]
    silent: tuple[DocumentItem, ...]
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
    id: str
    claim: str
    recipe: str
    problem: Problem | None
    finished: Moment


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """One page of all claims so far; ``newer`` or ``older`` is 0 where there is no such page."""

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
