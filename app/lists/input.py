"""Reads a list of claims that was pasted, uploaded or sent by a program."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.claim import read_claim
from retrieval.claim_lists.files import ListFile, Row, read_claims
from retrieval.errors import BadSource, InvalidClaim
from worker.lists import MOST_CLAIMS, NewEntry

_LONGEST_NAME = 80  # characters


@dataclass(frozen=True, slots=True)
class ListInput:
    """The rows of a list, and its name."""

    name: str
    entries: tuple[NewEntry, ...]


def pasted(text: str) -> ListFile:
    """Return a text with one claim a line as a file; cells of a spreadsheet come with tabs."""
    first_line = text.lstrip().partition("\n")[0]
    content = text.encode("utf-8", "replace")  # halves of characters
    return ListFile("list.tsv" if "\t" in first_line else "list.txt", content)


def list_input(file: ListFile, column: str, name: str, least: int = 2) -> ListInput:
    """Return the rows of a list; those that are no claims have the reason with them.

    ``column``: which one has the claims, "" for the usual one. ``name``: of the list, "" for that
    of its first claim. ``least``: how many rows a list has at least.

    Raises:
        BadSource: the file cannot be read, it has too few claims or too many, or no row is a claim.
    """
    entries = tuple(map(_entry, read_claims(file, column.strip() or None, MOST_CLAIMS)))
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
    return ListInput((name.strip() or claims[0])[:_LONGEST_NAME], entries)


def _entry(row: Row) -> NewEntry:
    if row.problem is not None:
        return NewEntry(row.where, row.claim, row.others, row.problem)
    try:
        claim = read_claim(row.claim).original
    except InvalidClaim as error:
        return NewEntry(row.where, row.claim, row.others, error.problem)
    return NewEntry(row.where, claim, row.others, None)
