"""The data of the templates of claims, from the box to the history: one dataclass per page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal, TypeAlias

from app.claims.history_search import HistorySearch
from app.contexts import Corpus, CorpusChoice, RecipeChoice
from app.filters import Badge
from app.result.evidence import Card, CardGroup, Opened
from app.result.highlighting import Segment
from app.result.proof import Difference, ProofItem
from app.result.trail import Group, Steps
from retrieval.errors import Problem
from retrieval.result import ClaimResult
from retrieval.types import Label
from worker.feedback_store import Feedback
from worker.history_store import ClaimGroup
from worker.jobs import Job, ListedJob
from worker.reports import AskedModel


@dataclass(frozen=True, slots=True)
class Editing:
    """A claim that is edited: its id and text, and the words of it to select, "" for none.

    ``corpora``: the names of those that it was checked against, none for the default one.
    """

    id: str
    claim: str
    words: str
    corpora: tuple[str, ...]


Change: TypeAlias = Literal["another", "surer", "less sure", "same"]


@dataclass(frozen=True, slots=True)
class Before:
    """What an earlier check of the same claim said, which this one goes on from.

    ``percent``: how sure its verdict was, ``None`` where it has no such figure. ``change``: what
    the verdict is now, compared with that one. ``sentences``: how many more were found.
    """

    words: str
    percent: int | None
    change: Change
    sentences: int


@dataclass(frozen=True, slots=True)
class Actions:
    """What can be done with the result of the claim ``id``.

    ``given``: what the visitor has said about it; ``agreed`` and ``disagreed``: how many visitors
    have said so. ``confirmed_by``: the author that a ClaimReview would have, "" if it has none.
    ``search_on``: for how many more hops, 0 if it cannot go on. ``edited_from`` and
    ``continued_from``: the claim that this one was made from, if it is still there; ``before``:
    what the search that goes on had found, ``None`` without one.
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
    before: Before | None


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
    ``table``: the list has columns.
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
    table: bool = False
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
    corpora: tuple[CorpusChoice, ...]
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
    evidence contradicts, which are the ``differences``. ``found``: documents with selected
    sentences; ``unused``: with others only; ``opened``: without any. Of a claim that is not settled
    those that it is about come first, and ``silent`` are such that have none. ``base_recipe``: the
    recipe without the hops that the search went on for. ``proof``: ``None`` where the
    recipe makes none, or where it does not agree with the verdict.
    """

    template: ClassVar[str] = "result.html"
    job: Job
    result: ClaimResult
    drawn: tuple[Segment, ...]
    differences: tuple[Difference, ...]
    found: tuple[CardGroup, ...]
    unused: tuple[Card, ...]
    opened: tuple[Opened, ...]
    silent: tuple[Opened, ...]
    base_recipe: str
    proof: ProofItem | None
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
