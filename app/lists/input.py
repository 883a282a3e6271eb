"""A list of claims that comes in: pasted, uploaded or sent by a program, it is read and stored.

It is stored if its rows are within the limits of its visitor, and so it is continued.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus

from flask import request

from app.http.errors import RequestRefused
from app.people.asker import client
from app.people.visitor import visitor
from app.services import services
from retrieval.checkable.given_text import MOST_SENTENCES, Kind
from retrieval.checkable.reader import TextsBusy
from retrieval.claim import read_claim
from retrieval.claim_lists.files import (
    ListFile,
    Row,
    TooManyClaims,
    decimal_mark_of,
    read_claims,
    separator_of,
)
from retrieval.corpora.cleaning import clean
from retrieval.errors import BadSource, InvalidClaim, ModelUnavailable, Problem
from retrieval.words import counted
from worker.health import worker_health
from worker.lists import MOST_CLAIMS, ImportedFrom, NewEntry, SourcePage, TooManyRows

NO_FACTS = {"claim_opinion": "Opinion", "claim_call": "Call or greeting"}
"""Codes of rows that state no fact, and what these are called."""
_KINDS: dict[Kind, Problem] = {
    "opinion": Problem(
        "claim_opinion",
        "This reads as an opinion, which documents cannot settle.",
        "Write the fact that it rests on, or check it anyway.",
    ),
    "instruction": Problem(
        "claim_call",
        "This reads as a call or a greeting, which says nothing that can be checked.",
        "Write it as a statement, or check it anyway.",
    ),
}
_LONGEST_NAME = 80  # characters
_LONGEST_FILE_NAME = 255  # characters; no file has a longer one
# When to come back where nothing was checked yet, and at least and at most.
_SECONDS = 60
_MOST_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class ListInput:
    """The rows of a list, its name, and how it came in."""

    name: str
    entries: tuple[NewEntry, ...]
    imported_from: ImportedFrom


def uploaded_file() -> ListFile | None:
    """Return the file of the form that this request has, ``None`` if none was chosen."""
    uploaded = request.files.get("file")
    if uploaded is None or not uploaded.filename:
        return None
    return ListFile(uploaded.filename, uploaded.read())


def pasted(text: str) -> ListFile:
    """Return a text with one claim a line as a file; cells of a spreadsheet come with tabs.

    Where its first line names columns, it is read as a table in any case.
    """
    first_line = text.lstrip().partition("\n")[0]
    content = text.encode("utf-8", "replace")  # halves of characters
    return ListFile("pasted.tsv" if "\t" in first_line else "pasted.txt", content)


def list_input(
    file: ListFile,
    column: str,
    name: str,
    least: int = 2,
    *,
    uploaded: bool = False,
    facts_alone: bool = False,
) -> ListInput:
    """Return the rows of a list; those that are no claims have the reason with them.

    ``facts_alone``: rows that state no fact, such as opinions, are no claims either; a list with
    more than ``MOST_SENTENCES`` is not read for that.

    ``column``: which one has the claims, "" for the usual one. ``name``: of the list, "" for that
    of the file that was ``uploaded``, or else of the first claim. ``least``: how many rows a list
    has at least.

    Raises:
        BadSource: the file cannot be read, it has too few claims or too many, or no row is a claim.
    """
    try:
        rows = read_claims(file, column.strip() or None, MOST_CLAIMS)
    except TooManyClaims as error:
        raise TooManyClaims(
            error.code,
            f"This list has more than {MOST_CLAIMS:,} claims.",
            f"Divide it into lists of at most {MOST_CLAIMS:,}, or check it with `esoteric batch`,"
            " which takes more.",
        ) from error
    entries = tuple(map(_entry, rows))
    if not entries:
        raise BadSource("list_empty", "There is no claim in this list.", "Write one claim a line.")
    if len(entries) < least:
        raise BadSource(
            "list_of_one",
            "A list has at least two claims, and this has one.",
            "Check it on the first page, or add more lines.",
        )
    claims = [entry.claim for entry in entries if entry.problem is None]
    if not claims:
        first = entries[0]
        assert first.problem is not None
        raise BadSource(
            "no_claims",
            f"None of these {len(entries)} rows is a claim. {first.place}: {first.problem.message}",
            "Write one claim a line, or upload a table whose first row names its columns.",
        )
    file_name = file.name[:_LONGEST_FILE_NAME] if uploaded else ""
    named = next((row for row in rows if row.column), rows[0])
    separator = separator_of(file, column.strip() or None)
    form = separator, decimal_mark_of(separator, rows)
    imported_from = ImportedFrom(file_name, named.column, named.before, *form)
    given = (clean(name) or file_name)[:_LONGEST_NAME]
    if facts_alone:
        entries = _without_opinions(entries)
    return ListInput(given or list_name(claims[0], len(entries)), entries, imported_from)


def list_name(first: str, rows: int) -> str:
    """Return the name of a list that nobody named: its first claim, and how many rows follow."""
    more = f"” and {rows - 1:,} more" if rows > 1 else "”"
    most = _LONGEST_NAME - len(more) - 1
    return f"“{first if len(first) <= most else f'{first[: most - 1].rstrip()}…'}{more}"


def stored_list(
    name: str,
    recipe: str,
    entries: Sequence[NewEntry],
    owner: str | None,
    corpora: tuple[str, ...] | None,
    source_text: str | None = None,
    page: SourcePage | None = None,
    imported_from: ImportedFrom | None = None,
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
            imported_from=imported_from or ImportedFrom(),
        )
    except TooManyRows as error:
        room = max(0, error.most - error.waiting)
        smaller = f", or send at most {counted(room, 'row')} now" if room else ""
        raise _refused(error, f"pause or cancel a list{smaller}") from error


def check_again(list_id: str, number: int, claim: str, *, anyway: bool) -> bool:
    """Check a row of a list again, as this claim; return whether it can be: ``ListStore.edit``.

    Raises:
        InvalidClaim: it is none; ``anyway``: as of ``read_claim``.
        RequestRefused: the client submits too many claims, or too many rows wait.
        UnknownList: there is none with this id.
        StoreUnavailable: the database cannot be used.
    """
    text = read_claim(claim, anyway).original
    services().limits.claim()
    try:
        most = services().settings.most_rows
        return services().lists.edit(list_id, number, text, client(), most)
    except TooManyRows as error:
        raise _refused(error, "pause or cancel a list") from error


def continue_list(list_id: str) -> None:
    """Continue a list that is paused; see ``ListStore.go_on``.

    Raises:
        RequestRefused: with its rows, too many would wait.
        UnknownList: there is none with this id.
        StoreUnavailable: the database cannot be used.
    """
    try:
        services().lists.go_on(list_id, services().settings.most_rows)
    except TooManyRows as error:
        raise _refused(error, "pause or cancel another list") from error


def room_for_rows() -> int | None:
    """Return how many rows this visitor may submit now, ``None`` for any number."""
    most, owner = services().settings.most_rows, visitor()
    if most is None or owner is None:  # who has no cookie gets one with the first list
        return most
    return max(0, most - services().lists.waiting_of(owner))


def _entry(row: Row) -> NewEntry:
    claim, problem = row.claim, row.problem
    if problem is None:
        try:
            claim = read_claim(claim).original
        except InvalidClaim as error:
            problem = error.problem
    return NewEntry(row.where, claim, row.others, problem)


def _without_opinions(entries: tuple[NewEntry, ...]) -> tuple[NewEntry, ...]:
    """Return the rows; those that state no fact have the reason with them.

    Where texts cannot be read now, all rows stay: each is checked as it is.
    """
    claims = [one.claim for one in entries if one.problem is None]
    if len(claims) > MOST_SENTENCES:
        return entries
    try:
        kinds = dict(zip(claims, services().texts.kinds_of(claims), strict=True))
    except (TextsBusy, ModelUnavailable):
        return entries
    return tuple(
        one if one.problem else replace(one, problem=_KINDS.get(kinds[one.claim]))
        for one in entries
    )


def _refused(error: TooManyRows, instead: str) -> RequestRefused:
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
