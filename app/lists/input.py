"""Reads a list of claims that was pasted, uploaded or sent by a program."""

from __future__ import annotations

from dataclasses import dataclass

from flask import request

from retrieval.claim import read_claim
from retrieval.claim_lists.files import ListFile, Row, TooManyClaims, read_claims
from retrieval.errors import BadSource, InvalidClaim
from worker.lists import MOST_CLAIMS, CameIn, NewEntry

_LONGEST_NAME = 80  # characters
_LONGEST_FILE_NAME = 255  # characters; no file has a longer one


@dataclass(frozen=True, slots=True)
class ListInput:
    """The rows of a list, its name, and how it came in."""

    name: str
    entries: tuple[NewEntry, ...]
    came_in: CameIn


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
    file: ListFile, column: str, name: str, least: int = 2, *, uploaded: bool = False
) -> ListInput:
    """Return the rows of a list; those that are no claims have the reason with them.

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
    came_in = CameIn(file_name, named.column, named.before)
    given = (name.strip() or file_name)[:_LONGEST_NAME]
    return ListInput(given or list_name(claims[0], len(entries)), entries, came_in)


def list_name(first: str, rows: int) -> str:
    """Return the name of a list that nobody named: its first claim, and how many rows follow."""
    more = f"” and {rows - 1:,} more" if rows > 1 else "”"
    most = _LONGEST_NAME - len(more) - 1
    return f"“{first if len(first) <= most else f'{first[: most - 1].rstrip()}…'}{more}"


def _entry(row: Row) -> NewEntry:
    if row.problem is not None:
        return NewEntry(row.where, row.claim, row.others, row.problem)
    try:
        claim = read_claim(row.claim).original
    except InvalidClaim as error:
        return NewEntry(row.where, row.claim, row.others, error.problem)
    return NewEntry(row.where, claim, row.others, None)
