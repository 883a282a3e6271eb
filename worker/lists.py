"""What a list of claims is: its state, its rows, and how far it is.

running <-> paused
running | paused -> done        every row has ended
running | paused -> cancelled   rows that wait are not checked; those in the queue still are
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

from retrieval.errors import EsotericError, Problem
from retrieval.result import ClaimResult
from retrieval.types import Label
from worker.jobs import SaidBy, Shared

ListState: TypeAlias = Literal["running", "paused", "done", "cancelled"]
EntryState: TypeAlias = Literal[
    "waiting", "queued", "running", "done", "failed", "refused", "cancelled", "deleted"
]
"""``refused``: it is no claim. ``deleted``: its claim was deleted in the history."""
Shown: TypeAlias = Literal[
    "all",
    "supported",
    "refuted",
    "unsettled",
    "unsure",
    "divided",
    "disputed",
    "refused",
    "failed",
    "cancelled",
    "errors",
    "unfinished",
]
"""Which rows of a list are shown. ``unsure``: a verdict that is not settled but probable, or that
only leans. ``divided``: selected sentences support the claim and others refute it. ``disputed``:
somebody disagreed with the verdict. ``errors``: rows that have no verdict and get none: they are no
claims (``refused``), their check ``failed``, or it was ``cancelled`` or its claim deleted."""
SHOWN: tuple[Shown, ...] = get_args(Shown)
Sort: TypeAlias = Literal["row", "verdict", "certainty"]
"""In which order: as they came in; refuted ones first; the surest first."""
MOST_CLAIMS = 5000


class UnknownList(EsotericError):
    """No list was submitted under this id, or it was deleted."""

    def __init__(self) -> None:
        super().__init__(
            "unknown_list",
            "There is no list with this id.",
            "It may have been deleted. Check the address, or look for it among the lists.",
        )


class TooManyRows(Exception):
    """With ``rows`` more, more than ``most`` rows of an owner would wait; nothing was changed."""

    def __init__(self, most: int, waiting: int, rows: int) -> None:
        super().__init__(f"{waiting} and {rows} more are above {most}")
        self.most, self.waiting, self.rows = most, waiting, rows


@dataclass(frozen=True, slots=True)
class NewEntry:
    """A row that is submitted; ``problem``: why it is no claim, ``None`` if it is one.

    ``said``: the characters of the list's text that say it, ``None`` if it has no text.
    """

    place: str
    claim: str
    others: dict[str, Any]
    problem: Problem | None
    said: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class ImportedFrom:
    """How a list came in: the name of its ``file``, "" if it was pasted or sent by a program.

    ``column``: the name of the column with the claims, "" if there are no columns; ``before``: how
    many of the others come before it. ``separator`` and ``decimal_mark``: of its cells and numbers,
    those of a .csv that has none.
    """

    file: str = ""
    column: str = ""
    before: int = 0
    separator: str = ","
    decimal_mark: str = "."


@dataclass(frozen=True, slots=True)
class ClaimList:
    """A list, and how many of its rows each filter shows.

    ``shared``: with whom (worker/sharing.py).
    ``corpora``: the names of those that it is checked against, ``None`` for the default one.
    """

    id: str
    name: str
    recipe: str
    owner: str | None
    shared: Shared | None
    state: ListState
    columns: tuple[str, ...]
    imported_from: ImportedFrom
    corpora: tuple[str, ...] | None
    created_at: datetime
    finished_at: datetime | None
    counts: Mapping[Shown, int]

    @property
    def total(self) -> int:
        """How many rows it has."""
        return self.counts["all"]

    @property
    def finished(self) -> int:
        """How many rows have ended, with a verdict or without."""
        return self.total - self.counts["unfinished"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a list; ``problem``: why it has no verdict and gets none.

    ``said``: the characters of the list's text that say it. ``checked_at``: when its check ended.
    ``same_as``: the number of the first row with the same claim, which was checked once for both;
    ``None`` for that row, and where there is no other. ``said_by``: who said it, as the claim's
    page has it; of a further row with the same claim, as its own columns have it.
    """

    number: int
    place: str
    claim: str
    others: Mapping[str, Any]
    state: EntryState
    problem: Problem | None
    claim_id: str | None
    said: tuple[int, int] | None
    same_as: int | None
    said_by: SaidBy
    checked_at: datetime | None
    label: Label | None
    confidence: float | None
    leans: Label | None
    result: ClaimResult | None


@dataclass(frozen=True, slots=True)
class SaidEntry:
    """A row of a list that is from a text: where the text says it, and how far it is."""

    start: int
    end: int
    state: EntryState
    claim_id: str | None
    label: Label | None
    confidence: float | None
    leans: Label | None


@dataclass(frozen=True, slots=True)
class SourcePage:
    """The web page that a text was read from."""

    title: str
    address: str


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text that the claims of a list are from, and what it says, in its order.

    ``page``: where it was read, ``None`` if it was pasted.
    """

    text: str
    said: tuple[SaidEntry, ...]
    page: SourcePage | None = None


PACE_OF = 20
"""From how many of the last checks the time that is left is estimated."""
_FEWEST = 5
_SILENT = 3


def seconds_left(
    ended: Sequence[tuple[datetime, datetime]], rows: int, now: datetime
) -> float | None:
    """Return about how long checks still take; ``None`` where that cannot be known.

    That is so before the first few have ended, and when none has for longer than usual.

    ``ended``: when each of the last checks was submitted and when it ended, the last one last.
    ``rows``: how many come before the end, also of other lists. From one end to the next it takes
    what these do on average, so it matters not how many workers there are, and what else they do. A
    check that was submitted only after the end before it, as after a pause, counts from there.
    """
    before = [created for created, _ in ended[:1]] + [end for _, end in ended]
    took = [
        (end - max(created, last)).total_seconds()
        for (created, end), last in zip(ended, before, strict=False)
    ][-PACE_OF:]
    if len(took) < _FEWEST:
        return None
    each, since = sum(took) / len(took), (now - ended[-1][1]).total_seconds()
    if since > _SILENT * max(took):
        return None
    return rows * each - min(since, each)  # it goes down while a claim is being checked, too
