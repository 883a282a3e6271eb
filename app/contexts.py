"""The data that each page's template gets: one dataclass per page.

A test checks that every template uses these fields and no others. Templates read results and jobs
as they are, through the filters of ``app.filters``; their texts come unchanged from the corpus or
from a user and may be hostile; Jinja escapes all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import ClassVar, Literal, TypeAlias

from flask import render_template

from app.api.models import HistorySearch, RecipeItem
from app.comparisons.comparison import Comparison
from app.filters import Badge
from app.result.evidence import Card, Opened, Sourced
from app.result.highlighting import Segment
from app.result.proof import Difference, Part, ProofItem
from app.result.trail import Group, Steps
from retrieval.checkable.sentences import Replaced
from retrieval.errors import Problem
from retrieval.recipes.recipes import Recipe
from retrieval.result import ClaimResult
from retrieval.types import Label
from worker.feedback_store import Feedback
from worker.history_store import ClaimGroup
from worker.jobs import Job, ListedJob
from worker.lists import ClaimList, Shown, SourcePage
from worker.reports import AskedModel


@dataclass(frozen=True, slots=True)
class Corpus:
    """The corpus. ``title``: what people call it.

    ``text_date``: the day of its newest text, "" if unknown.
    ``attribution``: texts of it are from Wikipedia, which must be named.
    """

    title: str
    documents: int
    text_date: str
    attribution: bool


@dataclass(frozen=True, slots=True)
class CorpusChoice:
    """A corpus that a claim can be checked against; ``name`` is what a form sends."""

    name: str
    title: str
    documents: int
    text_date: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """A corpus beside the default one; ``files``: how many it has.

    ``works``: its files are being indexed, or wait for that.
    """

    name: str
    title: str
    badge: Badge
    files: int
    text_date: str
    searchable: bool
    works: bool


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of a corpus: its size and what was found in it, both in words."""

    name: str
    size: str
    state: str
    problems: tuple[str, ...]
    read: bool


@dataclass(frozen=True, slots=True)
class OtherRecipes:
    """Recipes that cannot run here, for the same reason."""

    names: tuple[str, ...]
    problem: Problem


@dataclass(frozen=True, slots=True)
class RecipeChoice:
    """The recipes that a form offers; ``others`` cannot run here.

    ``usual``: the name of the one that a claim without a recipe is checked by; ``chosen``: of the
    one that is selected. ``problem``: why the one that was asked for cannot run.
    """

    recipes: tuple[Recipe, ...]
    others: tuple[OtherRecipes, ...]
    usual: str
    chosen: str
    problem: Problem | None


@dataclass(frozen=True, slots=True)
class Editing:
    """A claim that is edited: its id and text, and the words of it to select, "" for none.

    ``corpora``: the names of those that it was checked against, none for the default one.
    """

    id: str
    claim: str
    words: str
    corpora: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Actions:
    """What can be done with the result of the claim ``id``.

    ``given``: what the visitor has said about it; ``agreed`` and ``disagreed``: how many visitors
    have said so. ``confirmed_by``: the author that a ClaimReview would have, "" if it has none.
    ``search_on``: for how many more hops, 0 if it cannot go on. ``edited_from`` and
    ``continued_from``: the claim that this one was made from, if it is still there.
    """

    id: str
    permalink: str
    may_delete: bool
    given: Feedback | None
    agreed: int
    disagreed: int
    confirmed_by: str
    edit: str
    compare: str
    search_on: int
    edited_from: Job | None
    continued_from: Job | None


@dataclass(frozen=True, slots=True)
class SeenClaim:
    """A claim that was checked before, with its verdict."""

    id: str
    badge: Badge
    checked_at: datetime


@dataclass(frozen=True, slots=True)
class BoxAnswer:
    """What will be done with the ``text`` in the box.

    ``rows``: the lines of a list, or the sentences of a text; a ``page`` is the address of one.
    ``statement``: what a question is
    turned into. ``problem``: why it would not be checked; if it was sent, the kind is ``refused``.
    ``offers_anyway``: it can be checked in spite of the problem. ``offers_one``: a text is short
    enough to be checked as one claim.
    """

    kind: Literal["claim", "question", "list", "text", "page", "refused"]
    text: str
    rows: int = 1
    statement: str = ""
    problem: Problem | None = None
    offers_anyway: bool = False
    offers_one: bool = False
    seen: SeenClaim | None = None


@dataclass(frozen=True, slots=True)
class BoxFragment:
    """The piece of the first page that says what will be done."""

    template: ClassVar[str] = "box.html"
    box: BoxAnswer


@dataclass(frozen=True, slots=True)
class Example:
    """A claim to try, and what comes out."""

    claim: str
    tells: str


@dataclass(frozen=True, slots=True)
class HomePage:
    """The page with the form.

    ``box``: what will be done with what stands in it; its problem is set if that was refused.
    The examples are checked by the usual recipe. ``editing``: the claim that this one is made
    from, if any. ``asked``: ``None`` where there is no language model. ``opens_links``: the box
    takes the address of a web page.
    """

    template: ClassVar[str] = "home.html"
    box: BoxAnswer
    most_characters: int
    examples: tuple[Example, ...]
    recent: tuple[ListedJob, ...]
    corpus: Corpus | None
    corpus_problem: Problem | None
    corpora: tuple[CorpusChoice, ...]
    choice: RecipeChoice
    asked: AskedModel | None
    editing: Editing | None
    opens_links: bool


@dataclass(frozen=True, slots=True)
class ProgressPage:
    """A claim that is pending.

    ``drawn``: the claim, cut where spans were found. ``now``: what happens, in a word. ``waiting``:
    what it waits for, ``note``: why it started again, each "" for nothing. ``so_far``: how many
    sentences support and refute it. ``steps``: of the hop that runs.
    ``follow``: the page reloads itself where there is no JavaScript.
    """

    template: ClassVar[str] = "progress.html"
    id: str
    claim: str
    recipe: str
    corpus: Corpus | None
    drawn: tuple[Segment, ...]
    now: str
    waiting: str
    note: str
    so_far: Mapping[Label, int]
    steps: Steps
    hop: int
    trail: tuple[Group, ...]
    asked: AskedModel | None
    seconds: int
    elapsed: str
    follow: bool
    may_cancel: bool


@dataclass(frozen=True, slots=True)
class ResultPage:
    """A claim that is done: its ``job`` and the result of that.

    ``drawn``: the claim, cut around the words that the
    evidence contradicts, which are the ``differences``. ``cards``: documents with selected
    sentences; ``unused``: with others only; ``opened``: without any. ``proof``: ``None`` where the
    recipe makes none, or where it does not agree with the verdict; ``differing``: its parts then.
    """

    template: ClassVar[str] = "result.html"
    job: Job
    result: ClaimResult
    drawn: tuple[Segment, ...]
    differences: tuple[Difference, ...]
    cards: tuple[Card, ...]
    unused: tuple[Card, ...]
    opened: tuple[Opened, ...]
    proof: ProofItem | None
    differing: tuple[Part, ...]
    trail: tuple[Group, ...]
    attribution: bool
    most_characters: int
    actions: Actions


@dataclass(frozen=True, slots=True)
class StoppedPage:
    """A claim that failed, with its problem, or that was cancelled."""

    template: ClassVar[str] = "stopped.html"
    job: Job
    may_delete: bool


@dataclass(frozen=True, slots=True)
class FeedbackPage:
    """Page ``number`` of the ``pages`` with what people say about verdicts, newest first.

    ``yours``: only that of the visitor. ``total``: how much there is.
    """

    template: ClassVar[str] = "feedback.html"
    yours: bool
    given: tuple[Feedback, ...]
    total: int
    number: int
    pages: int


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Page ``number`` of the ``pages`` with the claims so far that pass the filters of ``search``.

    ``yours``: only those of the visitor, who is ``owner`` (``None``: has no cookie). ``total``: how
    many claims there are. ``filtered``: some of them may be left out. ``may_delete``: the visitor
    may delete one of those on this page. ``recipes``: to choose from.
    The addresses are of the two lists with the same filters, and of the pages around this one, ""
    where there is none.
    """

    template: ClassVar[str] = "history.html"
    search: HistorySearch
    yours: bool
    owner: str | None
    groups: tuple[ClaimGroup, ...]
    total: int
    filtered: bool
    may_delete: bool
    number: int
    pages: int
    recipes: tuple[str, ...]
    yours_address: str
    all_address: str
    newer: str
    older: str


@dataclass(frozen=True, slots=True)
class ListItem:
    """A list among others: how many of its rows have ended, and its state unless it is done."""

    id: str
    name: str
    badge: Badge | None
    finished: int
    total: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ListsPage:
    """The form for a list, and the visitor's ``lists``, newest first.

    ``problem`` is set if what was typed or uploaded was refused; ``typed``, ``column`` and ``name``
    are what the form is filled with. ``most_rows``: how many rows of this visitor may wait, and
    ``room`` how many more; ``None`` for any number.
    """

    template: ClassVar[str] = "lists.html"
    lists: tuple[ListItem, ...]
    problem: Problem | None
    typed: str
    column: str
    name: str
    most_claims: int
    most_characters: int
    most_rows: int | None
    room: int | None
    corpora: tuple[CorpusChoice, ...]
    choice: RecipeChoice
    asked: AskedModel | None


@dataclass(frozen=True, slots=True)
class EntryItem:
    """A row of a list.

    ``claim_id``: of its claim, ``None`` where there is none to open. ``opens``: it has a verdict,
    which opens in place. ``badge``: ``None`` where the row has not been handed on yet.
    ``problem``: why it has no verdict. ``quote`` and ``title``: the best sentence with the
    verdict's stance, "" where there is none. ``others``: her own columns that are filled.
    """

    number: int
    place: str
    claim: str
    claim_id: str | None
    opens: bool
    badge: Badge | None
    problem: Problem | None
    quote: str
    title: str
    others: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class EntryFragment:
    """What a row of a list shows when it is opened: its result in short.

    ``best``: the best sentences for and against the claim. ``agreed`` and ``disagreed``: how many
    people have said so.
    """

    template: ClassVar[str] = "entry.html"
    claim_id: str
    result: ClaimResult
    best: tuple[Sourced, ...]
    agreed: int
    disagreed: int


@dataclass(frozen=True, slots=True)
class ShownRows:
    """A filter of a list: its name in addresses and in words, and how many rows it shows."""

    name: Shown
    words: str
    rows: int


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a text; ``badge``: the verdict on what it says, ``None`` if it is not checked.

    ``claim_id``: of the claim with this verdict, ``None`` where there is none to open.
    """

    text: str
    badge: Badge | None
    claim_id: str | None


@dataclass(frozen=True, slots=True)
class ListPage:
    """Page ``number`` of the ``pages`` of a list, with the rows that the filter ``shown`` shows.

    ``filters``: by how rows ended; ``look_again``: those that overlap with these.
    ``left``: how long it still takes, about, "" if that is not known. ``waiting``: what it waits
    for, else ``None``. ``may_change``: whether it belongs to the visitor. ``exports``: the formats.
    ``pieces``: the text that its claims are from, none if they are from none; ``page``: where that
    was read, ``None`` if it was pasted.
    """

    template: ClassVar[str] = "list.html"
    claims: ClaimList
    left: str
    waiting: Problem | None
    may_change: bool
    shown: Shown
    filters: tuple[ShownRows, ...]
    look_again: tuple[ShownRows, ...]
    rows: tuple[EntryItem, ...]
    number: int
    pages: int
    exports: tuple[str, ...]
    pieces: tuple[TextPiece, ...]
    page: SourcePage | None


@dataclass(frozen=True, slots=True)
class TextClaimItem:
    """A claim of a sentence: its number on the page, and whether it is ticked.

    ``rows``: lines of its field. ``unclear``: what a reader must find out first, as questions.
    """

    number: int
    text: str
    rows: int
    taken: bool
    replaced: tuple[Replaced, ...]
    unclear: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SentenceItem:
    """A sentence of a text.

    ``named``: what its ``kind`` is called where it cannot be checked, else "". ``as_said``: its
    only claim has its words.
    """

    said: str
    start: int
    end: int
    kind: str
    named: str
    claims: tuple[TextClaimItem, ...]
    as_said: bool


@dataclass(frozen=True, slots=True)
class TextPage:
    """A text and its sentences, none before it was read.

    ``page``: where the text was read, ``None`` if it was pasted; ``whole``: all of it was.
    ``page_signature``: that it was read there, "" without a page.
    ``opens_links``: an address may be given instead of a text. ``problem`` is set if it was
    refused, or if nothing was ticked. ``busy``: why the sentences have no notes, if they have none.
    ``may_be_list``: every line has one sentence.
    """

    template: ClassVar[str] = "text.html"
    text: str
    page: SourcePage | None
    page_signature: str
    whole: bool
    opens_links: bool
    problem: Problem | None
    busy: Problem | None
    most_characters: int
    sentences: tuple[SentenceItem, ...]
    chosen_claims: int
    may_be_list: bool
    choice: RecipeChoice
    corpora: tuple[CorpusChoice, ...]
    asked: AskedModel | None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One thing that the API does; ``name`` is its anchor, ``call`` its method and path."""

    name: str
    call: str
    does: str
    curl: str
    python: str


@dataclass(frozen=True, slots=True)
class ApiPage:
    """What programs can ask, at ``address``; ``most_kib`` is the size of the largest request.

    ``claims_per_minute``: how many claims a client may submit, 0 for any number. ``most_rows``: how
    many rows of a visitor's lists may wait, 0 for any number. ``keep_days``: how long claims are
    kept, 0 where that is until they are deleted.
    """

    template: ClassVar[str] = "api.html"
    address: str
    endpoints: tuple[Endpoint, ...]
    most_characters: int
    most_kib: int
    claims_per_minute: int
    most_rows: int
    keep_days: int


@dataclass(frozen=True, slots=True)
class LoginPage:
    """Where a user logs in; ``next``: the address that follows, ``problem``: of the last try."""

    template: ClassVar[str] = "login.html"
    next: str
    problem: Problem | None


@dataclass(frozen=True, slots=True)
class CompareForm:
    """The form that checks claims with several recipes.

    ``claim``: the claims, one a line. ``problem``: why they were refused; ``recipe_problem``: why
    these recipes were. ``most_checks``: how many claims times recipes may be compared.
    ``ticked``: the names of the recipes that are chosen; ``asked``: as on the first page.
    """

    template: ClassVar[str] = "compare.html"
    claim: str
    problem: Problem | None
    offers_anyway: bool
    most_characters: int
    most_checks: int
    recipes: tuple[Recipe, ...]
    other_recipes: tuple[OtherRecipes, ...]
    recipe_problem: Problem | None
    usual: str
    ticked: frozenset[str]
    most_recipes: int
    corpora: tuple[CorpusChoice, ...]
    asked: AskedModel | None


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """Checks side by side; one claim shows its sentences, several show their verdicts.

    ``claims``: one a line, "" where they are too long for an address. ``ids``: those that were
    asked for. ``described``: names of recipes that the service has.
    """

    template: ClassVar[str] = "comparison.html"
    comparison: Comparison
    claims: str
    ids: str
    described: frozenset[str]
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class RecipesPage:
    """What each recipe does, and which can run here."""

    template: ClassVar[str] = "recipes.html"
    recipes: tuple[RecipeItem, ...]


@dataclass(frozen=True, slots=True)
class DocumentsPage:
    """The corpora, and the form for another one; ``title`` was typed there.

    ``why_not``: why who asks may not change documents, ``None`` if they may. ``folders``: those
    that may become corpora and are none. ``most_bytes``: of an upload. ``accepted``: the endings of
    files as a browser wants them.
    """

    template: ClassVar[str] = "documents.html"
    default: Corpus | None
    corpora: tuple[CorpusRow, ...]
    why_not: Problem | None
    folders: tuple[str, ...]
    title: str
    problem: Problem | None
    most_bytes: int
    longest_title: int
    accepted: str


@dataclass(frozen=True, slots=True)
class CorpusPage:
    """A corpus with its files.

    ``progress``: how far its indexing is, in words; ``done`` of ``total``, ``None`` where that is
    not known. ``waiting``: why no worker indexes it. ``failed``: why its indexing failed.
    ``left_out``: files of the last upload that were not taken. ``problem``: why a change was
    refused. The others are as in ``DocumentsPage``.
    """

    template: ClassVar[str] = "corpus.html"
    corpus: CorpusRow
    files: tuple[FileRow, ...]
    files_may_change: bool
    may_change: bool
    folder: str | None
    progress: str
    done: int | None
    total: int
    waiting: Problem | None
    failed: Problem | None
    left_out: tuple[str, ...]
    problem: Problem | None
    most_bytes: int
    longest_title: int
    accepted: str


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """An error as a page."""

    template: ClassVar[str] = "error.html"
    status: int
    problem: Problem


Page: TypeAlias = (
    HomePage
    | ProgressPage
    | ResultPage
    | StoppedPage
    | FeedbackPage
    | HistoryPage
    | BoxFragment
    | ListsPage
    | ListPage
    | EntryFragment
    | TextPage
    | CompareForm
    | ComparisonPage
    | RecipesPage
    | ApiPage
    | LoginPage
    | DocumentsPage
    | CorpusPage
    | ErrorPage
)


def render(page: Page) -> str:
    """Return the page as HTML."""
    return render_template(
        page.template, **{field.name: getattr(page, field.name) for field in fields(page)}
    )
