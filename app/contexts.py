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

from app.documents import DocumentItem
from app.filters import Badge
from app.hops import HopItem
from app.proof import ProofItem
from retrieval.errors import Problem
from retrieval.recipes.recipes import Recipe
from retrieval.result import ClaimResult
from worker.jobs import Job, ListedJob
from worker.lists import ClaimList, Shown
from worker.reports import AskedModel

StageState: TypeAlias = Literal["done", "running", "waiting", "skipped"]


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
class OtherRecipes:
    """Recipes that cannot run here, for the same reason."""

    names: tuple[str, ...]
    problem: Problem


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage on the progress page; ``message`` is empty until the stage is done.

    A stage is skipped if a later one is done and this one was not needed.
    """

    name: str
    state: StageState
    message: str


@dataclass(frozen=True, slots=True)
class HopRows:
    """The stages of one hop on the progress page."""

    number: int
    stages: tuple[StageRow, ...]


@dataclass(frozen=True, slots=True)
class SeenClaim:
    """A claim that was checked before, with its verdict."""

    id: str
    badge: Badge
    checked_at: datetime


@dataclass(frozen=True, slots=True)
class BoxAnswer:
    """What will be done with the ``text`` in the box.

    ``rows``: the lines of a list, or the sentences of a text. ``statement``: what a question is
    turned into. ``problem``: why it would not be checked; if it was sent, the kind is ``refused``.
    ``offers_anyway``: it can be checked in spite of the problem. ``offers_one``: a text is short
    enough to be checked as one claim. ``has_texts``: whether there is a page where claims of a
    text are chosen.
    """

    kind: Literal["claim", "question", "list", "text", "refused"]
    text: str
    rows: int = 1
    statement: str = ""
    problem: Problem | None = None
    offers_anyway: bool = False
    offers_one: bool = False
    has_texts: bool = False
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
    ``recipe_problem`` is set if the recipe cannot run here. ``usual``: the name of the recipe of
    the examples; ``chosen``: of the one that is selected in the form.
    ``asked``: ``None`` where there is no language model.
    """

    template: ClassVar[str] = "home.html"
    box: BoxAnswer
    most_characters: int
    examples: tuple[Example, ...]
    recent: tuple[ListedJob, ...]
    corpus: Corpus | None
    corpus_problem: Problem | None
    recipes: tuple[Recipe, ...]
    other_recipes: tuple[OtherRecipes, ...]
    recipe_problem: Problem | None
    usual: str
    chosen: str
    asked: AskedModel | None


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
    asked: AskedModel | None
    percent: int
    seconds: int
    elapsed: str
    attempt_note: str
    follow: bool


@dataclass(frozen=True, slots=True)
class ResultPage:
    """A claim that is done: its ``job`` and the result of that.

    ``permalink``: the address of the page. ``files``: addresses for documents that have none, by
    their ids. ``documents``: those that contain evidence first. ``proof``: ``None`` where the
    recipe makes none, or where it does not agree with the verdict.
    """

    template: ClassVar[str] = "result.html"
    job: Job
    result: ClaimResult
    permalink: str
    files: Mapping[str, str]
    documents: tuple[DocumentItem, ...]
    hops: tuple[HopItem, ...]
    proof: ProofItem | None
    attribution: bool
    most_characters: int


@dataclass(frozen=True, slots=True)
class StoppedPage:
    """A claim that failed, with its problem, or that was cancelled."""

    template: ClassVar[str] = "stopped.html"
    job: Job


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Page ``number`` of the ``pages`` with all claims so far."""

    template: ClassVar[str] = "history.html"
    query: str
    rows: tuple[ListedJob, ...]
    total: int
    number: int
    pages: int


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
    are what the form is filled with. The recipes are as in ``HomePage``.
    """

    template: ClassVar[str] = "lists.html"
    lists: tuple[ListItem, ...]
    problem: Problem | None
    typed: str
    column: str
    name: str
    most_claims: int
    recipes: tuple[Recipe, ...]
    other_recipes: tuple[OtherRecipes, ...]
    recipe_problem: Problem | None
    usual: str
    chosen: str
    asked: AskedModel | None


@dataclass(frozen=True, slots=True)
class EntryItem:
    """A row of a list.

    ``claim_id``: of its claim, ``None`` where there is none to open. ``badge``: ``None`` where the
    row has not been handed on yet. ``problem``: why it has no verdict, else "". ``quote`` and
    ``title``: the best sentence with the verdict's stance, "" where there is none. ``others``: her
    own columns that are filled.
    """

    number: int
    place: str
    claim: str
    claim_id: str | None
    badge: Badge | None
    problem: str
    quote: str
    title: str
    others: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ShownRows:
    """A filter of a list: its name in addresses and in words, and how many rows it shows."""

    name: Shown
    words: str
    rows: int


@dataclass(frozen=True, slots=True)
class ListPage:
    """Page ``number`` of the ``pages`` of a list, with the rows that the filter ``shown`` shows.

    ``left``: how long it still takes, about, "" if that is not known. ``waiting``: what it waits
    for, else ``None``. ``may_change``: whether it belongs to the visitor. ``exports``: the formats.
    """

    template: ClassVar[str] = "list.html"
    claims: ClaimList
    left: str
    waiting: Problem | None
    may_change: bool
    shown: Shown
    filters: tuple[ShownRows, ...]
    rows: tuple[EntryItem, ...]
    number: int
    pages: int
    exports: tuple[str, ...]


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

    ``keep_days``: how long claims are kept, 0 where that is until they are deleted.
    """

    template: ClassVar[str] = "api.html"
    address: str
    endpoints: tuple[Endpoint, ...]
    most_characters: int
    most_kib: int
    keep_days: int


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """An error as a page."""

    template: ClassVar[str] = "error.html"
    status: int
    problem: Problem


Page: TypeAlias = (
    HomePage
    | BoxFragment
    | ProgressPage
    | ResultPage
    | StoppedPage
    | HistoryPage
    | ListsPage
    | ListPage
    | ApiPage
    | ErrorPage
)


def render(page: Page) -> str:
    """Return the page as HTML."""
    return render_template(
        page.template, **{field.name: getattr(page, field.name) for field in fields(page)}
    )
