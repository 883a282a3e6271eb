"""The data that the templates of lists of claims get: one dataclass per page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from app.contexts import CorpusChoice, RecipeChoice
from app.filters import Badge
from app.lists.export import ListFormat
from app.result.evidence import Sourced
from app.texts.contexts import TextPiece
from retrieval.errors import Problem
from retrieval.result import ClaimResult
from worker.lists import ClaimList, Shown, SourcePage
from worker.reports import AskedModel


@dataclass(frozen=True, slots=True)
class ListItem:
    """A list among others: how many of its rows have ended, and its state unless it is done.

    ``by_program``: it was sent by the API, so it has no owner.
    """

    id: str
    name: str
    badge: Badge | None
    finished: int
    total: int
    created_at: datetime
    by_program: bool


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
    ``same_as``: the number of the first row with the same claim, ``None`` if there is none.
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
    same_as: int | None


@dataclass(frozen=True, slots=True)
class EntryFragment:
    """What a row of a list shows when it is opened: its result in short.

    ``best``: the best sentences for and against the claim. ``corpora``: the names of those that it
    was checked against, none for the default one. ``agreed`` and ``disagreed``: how many
    people have said so.
    """

    template: ClassVar[str] = "entry.html"
    claim_id: str
    result: ClaimResult
    best: tuple[Sourced, ...]
    corpora: tuple[str, ...]
    agreed: int
    disagreed: int


@dataclass(frozen=True, slots=True)
class ShownRows:
    """A filter of a list: its name in addresses and in words, and how many rows it shows."""

    name: Shown
    words: str
    rows: int


@dataclass(frozen=True, slots=True)
class ListPage:
    """Page ``number`` of the ``pages`` of a list, with the rows that the filter ``shown`` shows.

    ``filters``: by how rows ended; ``look_again``: those that overlap with these.
    ``searched``: what people call the corpora that it is checked against; ``gone``: how many
    of them were removed.
    ``left``: how long it still takes, about, "" if that is not known. ``waiting``: what it waits
    for, else ``None``. ``may_change``: whether it belongs to the visitor. ``exports``: the labels
    of the formats, by their names.
    ``pieces``: the text that its claims are from, none if they are from none; ``page``: where that
    was read, ``None`` if it was pasted.
    """

    template: ClassVar[str] = "list.html"
    claims: ClaimList
    searched: tuple[str, ...]
    gone: int
    left: str
    waiting: Problem | None
    may_change: bool
    shown: Shown
    filters: tuple[ShownRows, ...]
    look_again: tuple[ShownRows, ...]
    rows: tuple[EntryItem, ...]
    number: int
    pages: int
    rows_per_page: int
    exports: Mapping[ListFormat, str]
    pieces: tuple[TextPiece, ...]
    page: SourcePage | None
