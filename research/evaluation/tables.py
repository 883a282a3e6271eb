"""Tables: Markdown, and columns for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

Rows = Sequence[Sequence[str]]


def markdown(rows: Rows) -> str:
    """Return the table as Markdown."""
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def columns(rows: Rows) -> str:
    """Return the table for a terminal: the first column begins, the others end at one place."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            [cells[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        )
        for cells in rows
    )
