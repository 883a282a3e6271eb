"""What was entered into the box of the first page: a claim, a list of claims, or a text."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from retrieval.claim_lists.files import ListFile, is_heading, is_table, read_claims
from retrieval.errors import BadSource
from retrieval.text.notices import sentences_in

Kind: TypeAlias = Literal["claim", "list", "text"]

_LONG = 40  # characters; a claim may be shorter
_ENDS = (".", "!", "?", ":", ";", '."', ".)")


@dataclass(frozen=True, slots=True)
class Entered:
    """``rows``: the claim, the claims of the list, or the sentences of the text.

    ``table``: it is a list whose first line names its columns; the claims are in one of them.
    """

    kind: Kind
    rows: tuple[str, ...]
    table: bool = False


def entered(text: str) -> Entered:
    """Return what the text is: two lines make a list, two sentences in a line a text.

    Lines that go on in the next one are those of one paragraph: a mail or a PDF breaks them so.
    A first line that only names what follows ("Claim") is left out.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if is_table(text):
        return Entered("list", _rows_of_table(text) or tuple(lines[1:]), table=True)
    if len(lines) > 1 and is_heading(lines[0]):
        lines = lines[1:]
    paragraphs = [" ".join(lines)] if _is_broken(lines) else lines
    sentences = tuple(one for paragraph in paragraphs for one in sentences_in(paragraph))
    if len(sentences) > len(paragraphs):
        return Entered("text", sentences)
    if len(paragraphs) > 1:
        return Entered("list", tuple(paragraphs))
    return Entered("claim", tuple(paragraphs))


def _rows_of_table(text: str) -> tuple[str, ...]:
    """Return the claims of a table; none if it cannot be read, which is said when it is sent."""
    try:
        rows = read_claims(ListFile("pasted.txt", text.encode("utf-8", "replace")))
    except BadSource:
        return ()
    return tuple(row.claim for row in rows)


def _is_broken(lines: list[str]) -> bool:
    """Return whether these lines are one paragraph.

    It begins with a capital, its lines are long, and most later ones go on with a small letter;
    a list that was typed in haste has small letters too, but short lines.
    """
    if len(lines) < 2 or lines[0][0].islower() or min(map(len, lines[:-1])) < _LONG:
        return False
    continued = sum(
        line[0].islower() and not before.endswith(_ENDS) for before, line in pairwise(lines)
    )
    return 2 * continued > len(lines) - 1
