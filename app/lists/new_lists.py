"""Stores a list, or continues one, if its rows are within the limits of its visitor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from http import HTTPStatus

from app.http.errors import RequestRefused
from app.people.asker import client
from app.people.visitor import visitor
from app.services import services
from retrieval.errors import Problem
from retrieval.words import counted
from worker.health import worker_health
from worker.lists import CameIn, NewEntry, RowsWait, SourcePage

# When to come back where nothing was checked yet, and at least and at most.
_SECONDS = 60
_MOST_SECONDS = 24 * 3600


def stored_list(
    name: str,
    recipe: str,
    entries: Sequence[NewEntry],
    owner: str | None,
    corpora: tuple[str, ...] | None,
    source_text: str | None = None,
    page: SourcePage | None = None,
    came_in: CameIn | None = None,
) -> str:
    """Count a list, store it, and return its id; see ``ListStore.create``.

    Raises:
        RequestRefused: with it, the client submits too many claims, or too many rows wait.
        StoreUnavailable: the database cannot be used.
    """
    services().limits.claim()
    try:
        return services().lists.create(
            *(name, recipe, entries, owner, source_text, corpora, page),
            client=client(),
            most_waiting=services().settings.most_rows,
            came_in=came_in or CameIn(),
        )
    except RowsWait as error:
        room = max(0, error.most - error.waiting)
        smaller = f", or send at most {counted(room, 'row')} now" if room else ""
        raise _refused(error, f"pause or cancel a list{smaller}") from error


def continue_list(list_id: str) -> None:
    """Continue a list that is paused; see ``ListStore.go_on``.

    Raises:
        RequestRefused: with its rows, too many would wait.
        UnknownList: there is none with this id.
        StoreUnavailable: the database cannot be used.
    """
    try:
        services().lists.go_on(list_id, services().settings.most_rows)
    except RowsWait as error:
        raise _refused(error, "pause or cancel another list") from error


def room_for_rows() -> int | None:
    """Return how many rows this visitor may submit now, ``None`` for any number."""
    most, owner = services().settings.most_rows, visitor()
    if most is None or owner is None:  # who has no cookie gets one with the first list
        return most
    return max(0, most - services().lists.waiting_of(owner))


def _refused(error: RowsWait, instead: str) -> RequestRefused:
    """Return what is said. ``instead``: what can be done at once."""
    said = f"{error.most:,} rows of your lists may wait at once."
    if error.rows > error.most:
        problem = Problem(
            "too_many_rows",
            f"{said} This list has {error.rows:,}.",
            f"Divide it into lists of at most {error.most:,} rows.",
        )
        return RequestRefused(HTTPStatus.TOO_MANY_REQUESTS, problem)
    seconds = _seconds_until(error.waiting + error.rows - error.most)
    problem = Problem(
        "too_many_rows",
        f"{said} {error.waiting:,} wait now, and this list has {error.rows:,} more.",
        f"Try again in about {math.ceil(seconds / 60)} min, {instead}.",
    )
    headers = {"Retry-After": str(seconds)}
    return RequestRefused(HTTPStatus.TOO_MANY_REQUESTS, problem, headers)


def _seconds_until(rows: int) -> int:
    """Return about how long the workers need for so many rows, if they have nothing else to do."""
    each = services().lists.seconds_of_a_row() or 0.0
    workers = max(1, worker_health(services().workers).workers)
    return min(_MOST_SECONDS, max(_SECONDS, math.ceil(rows * each / workers)))
