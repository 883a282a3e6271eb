"""Shows what was found for claims that need several documents, in Markdown and on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from research.evaluation.measures.several_documents import MEASURES

MEANING = (
    "Of the claims each of whose evidence sets is on several documents, the share, in per cent,"
    " with a whole set on the first k documents opened (document recall@k) and among the first k"
    " ranked sentences (evidence recall@k); whose selected sentences are on exactly the documents"
    " of a set (exact match), and the F1 of these documents; with all documents of a set opened,"
    " and with all its sentences selected; 95 % bootstrap intervals over the pages that claims are"
    " about. A system that opens fewer than k documents is measured on those."
)
_HEAD = tuple(measure.replace("_", " ").replace("f1", "F1") for measure in MEASURES)


def as_markdown(recipes: Mapping[str, Any], group: str) -> str:
    """Return one group of claims, a row for each recipe, as Markdown."""
    head, *rows = _cells(recipes, group)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def as_text(recipes: Mapping[str, Any], group: str) -> str:
    """Return the same in columns: a row for each measure, a column for each recipe."""
    columns = list(zip(*_cells(recipes, group), strict=True))
    widths = [max(map(len, column)) for column in zip(*columns, strict=True)]
    return "\n".join(
        "  ".join(
            [line[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        )
        for line in columns
    )


def groups_of(recipes: Mapping[str, Any]) -> list[str]:
    """Return the groups of claims that were measured, each once."""
    return list(dict.fromkeys(name for r in recipes.values() for name in r["several_documents"]))


def _cells(recipes: Mapping[str, Any], group: str) -> list[Sequence[str]]:
    measured = {
        name: recipe["several_documents"][group]
        for name, recipe in recipes.items()
        if group in recipe["several_documents"]
    }
    claims = max(figures["claims"] for figures in measured.values())
    rows = [
        [name, *(_share(figures[measure]) for measure in MEASURES)]
        for name, figures in measured.items()
    ]
    return [[f"{group}: {claims} claim{'s' * (claims > 1)}", *_HEAD], *rows]


def _share(figure: Mapping[str, Any]) -> str:
    low, high = figure["interval"]
    return f"{100 * figure['mean']:.1f} ({100 * low:.0f} to {100 * high:.0f})"
