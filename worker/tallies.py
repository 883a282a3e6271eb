"""What has been counted since the database was made: claims by their end, seconds of stages.

The numbers are in the database, so that they are those of all processes, survive a restart, and do
not fall when a claim is deleted. What belongs to a claim is counted in the transaction that ends
it: once, whatever dies. A series is a row: a counter has one, a histogram one for each bucket that
has values, and one for their sum. ``app.monitoring.shared_metrics`` shows them to Prometheus.
"""

from __future__ import annotations

import json
import logging
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from worker.database import Database, StoreUnavailable
from worker.schema import TallyRow

Labels: TypeAlias = tuple[str, ...]
_SUM = "sum"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kind:
    """Something that is counted; ``buckets``: upper bounds in seconds, none for a counter.

    The values of ``labels`` must be few, and no text of a user. ``always``: series that are shown
    before they have a value, since Prometheus sees the growth from 0 alone where it saw the 0.
    """

    name: str
    help: str
    labels: Labels
    buckets: tuple[float, ...] = ()
    always: tuple[Labels, ...] = ()


@dataclass(frozen=True, slots=True)
class Tally:
    """An increment: ``value`` is a number for a counter, seconds for a histogram."""

    kind: Kind
    labels: Labels
    value: float = 1.0


@dataclass(frozen=True, slots=True)
class Timed:
    """A series of a histogram: how many values each bucket has with those below it, and their sum.

    The last bucket has no bound.
    """

    counts: tuple[float, ...]
    sum: float


@dataclass(frozen=True, slots=True)
class Totals:
    """Counters and histograms, by their names and the values of their labels."""

    counters: Mapping[str, Mapping[Labels, float]]
    histograms: Mapping[str, Mapping[Labels, Timed]]


CLAIMS = Kind(
    "esoteric_claims_ended",
    "Claims that have ended: done, failed (code: why) or cancelled.",
    ("state", "code"),
    always=(("done", ""), ("cancelled", "")),
)
WAITS = Kind(
    "esoteric_claim_wait_seconds",
    "From the submission of a claim to its first start; typed: a person waits for it.",
    ("typed",),
    (0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200),
    (("true",), ("false",)),
)
STAGES = Kind(
    "esoteric_stage_seconds",
    "Seconds of each stage in claims that are done; total: of the whole check.",
    ("stage",),
    (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
    (("total",),),
)
MODEL_ANSWERS = Kind(
    "esoteric_language_model_statements",
    "Statements that the language model was to judge: answered, kept (an earlier answer), or"
    " without an answer: no_answer (no reply in time), bad_answer (it failed the checks).",
    ("outcome",),
    always=(("answered",), ("kept",), ("no_answer",), ("bad_answer",)),
)
MODEL_CALLS = Kind(
    "esoteric_language_model_calls", "Calls of the language model.", (), always=((),)
)
MODEL_SECONDS = Kind(
    "esoteric_language_model_seconds",
    "Seconds that a statement waited for the language model, kept answers left out.",
    (),
    (0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300),
    ((),),
)
INDEXINGS = Kind(
    "esoteric_indexings",
    "Indexings of documents that have ended: done, failed, or died (its process).",
    ("end",),
    always=(("done",), ("failed",), ("died",)),
)
INDEXED_FILES = Kind(
    "esoteric_indexed_files",
    "Files of the indexings that are done: read, partly (with problems), or unreadable.",
    ("end",),
    always=(("read",), ("partly",), ("unreadable",)),
)
INDEXING_SECONDS = Kind(
    "esoteric_indexing_seconds",
    "Seconds of an indexing of documents.",
    (),
    (1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14400),
    ((),),
)
KINDS = (
    *(CLAIMS, WAITS, STAGES),
    *(MODEL_ANSWERS, MODEL_CALLS, MODEL_SECONDS),
    *(INDEXINGS, INDEXED_FILES, INDEXING_SECONDS),
)


def add(session: Session, tallies: Sequence[Tally]) -> None:
    """Count in this transaction; best as its last step, since others that count wait for it."""
    increments: Counter[tuple[str, str]] = Counter()
    for tally in tallies:
        for part, value in _parts(tally):
            increments[tally.kind.name, json.dumps([*tally.labels, part])] += value  # type: ignore[assignment]
    # In one order, so that no two transactions wait for each other.
    for (name, series), value in sorted(increments.items()):
        known = (TallyRow.name == name) & (TallyRow.series == series)
        more = update(TallyRow).where(known).values(value=TallyRow.value + value)
        if session.scalar(more.returning(TallyRow.value)) is None:
            try:
                with session.begin_nested():
                    session.add(TallyRow(name=name, series=series, value=value))
            except IntegrityError:
                session.execute(more)  # another process has just made the row


def count(database: Database, tallies: Sequence[Tally]) -> None:
    """Count in a transaction of its own; without a database nothing is counted."""
    try:
        with database.writing() as session:
            add(session, tallies)
    except StoreUnavailable as error:
        logger.warning("Not counted for /metrics: %s", error)


def totals(session: Session) -> Totals:
    """Return all that was counted."""
    values = _values(session)
    counters = {
        kind.name: dict.fromkeys(kind.always, 0.0)
        | {labels: parts[""] for labels, parts in values[kind.name].items()}
        for kind in KINDS
        if not kind.buckets
    }
    histograms = {
        kind.name: {labels: Timed((0.0,) * (len(kind.buckets) + 1), 0.0) for labels in kind.always}
        | {
            labels: Timed(tuple(accumulate(parts[one] for one in bounds_of(kind))), parts[_SUM])
            for labels, parts in values[kind.name].items()
        }
        for kind in KINDS
        if kind.buckets
    }
    return Totals(counters, histograms)


def bounds_of(kind: Kind) -> tuple[str, ...]:
    """Return the bounds of the buckets of a histogram as Prometheus writes them."""
    return (*(str(float(bound)) for bound in kind.buckets), "+Inf")


def _values(session: Session) -> Mapping[str, Mapping[Labels, Mapping[str, float]]]:
    found: defaultdict[str, dict[Labels, defaultdict[str, float]]] = defaultdict(dict)
    for name, series, value in session.execute(
        select(TallyRow.name, TallyRow.series, TallyRow.value)
    ):
        *labels, part = json.loads(series)
        found[name].setdefault(tuple(labels), defaultdict(float))[part] = value
    return found


def _parts(tally: Tally) -> Iterator[tuple[str, float]]:
    kind = tally.kind
    if not kind.buckets:
        yield "", tally.value
        return
    yield bounds_of(kind)[bisect_left(kind.buckets, tally.value)], 1.0
    yield _SUM, tally.value
