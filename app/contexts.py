"""The data that each page's template gets: one dataclass per page.

A test checks that every template uses these fields and no others. Templates read results and jobs
as they are, through the filters of ``app.filters``; their texts come unchanged from the corpus or
from a user and may be hostile; Jinja escapes all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, Literal, TypeAlias

from flask import render_template

from app.documents import DocumentItem
from app.hops import HopItem
from app.proof import ProofItem
from retrieval.errors import Problem
from retrieval.recipes.recipes import Recipe
from retrieval.result import ClaimResult
from worker.jobs import Job, ListedJob
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
class LoginPage:
    """Where a user logs in; ``next``: the address that follows, ``problem``: of the last try."""

    template: ClassVar[str] = "login.html"
    next: str
    problem: Problem | None


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
    | HistoryPage
    | ApiPage
    | LoginPage
    | ErrorPage
)


def render(page: Page) -> str:
    """Return the page as HTML."""
    return render_template(
        page.template, **{field.name: getattr(page, field.name) for field in fields(page)}
    )
