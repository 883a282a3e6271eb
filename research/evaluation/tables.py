"""Tables: Markdown, columns for a terminal, LaTeX with booktabs for a paper (``table.tex``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from research.evaluation.measures.corpus import FIRST
from research.evaluation.measures.scores import FIGURES

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


_FIGURES = FIGURES[:6]
_HEADS = ("Label acc.", "FEVER score", "Ev. prec.", "Ev. recall", "Ev. F1", "OFEVER")
_CORPUS_FIGURES = ("label_accuracy", f"evidence_recall@{FIRST}", "opposite_stances")
_CORPUS_HEADS = ("Label acc.", f"Ev. recall@{FIRST}", "Opp. stances")
_CHANCE = 0.05


def latex_of(results: Mapping[str, Any]) -> str:
    """Return the table of an evaluation over wiki pages.

    A star marks figures that differ from those of the first recipe by more than chance.
    """
    recipes = {name: one for name, one in results["recipes"].items() if one.get("figures")}
    first = next(iter(recipes), "")
    differ = {
        (one["second"], figure)
        for one in results["comparisons"]
        if one["first"] == first
        for figure, chance in one.get("p_values", {}).items()
        if chance is not None and chance < _CHANCE
    }
    rows = [
        [
            name,
            *(
                _percent(one["figures"][figure]) + ("$^{*}$" if (name, figure) in differ else "")
                for figure in _FIGURES
            ),
            f"{one['seconds']['total']['median']:.2f}",
        ]
        for name, one in recipes.items()
    ]
    data = results["data"]
    about = (
        f"{data['claims']['count']:,} claims of {data['claims']['file']} over"
        f" {data['wiki_pages']['documents']:,} pages; * differs from {first}, p < {_CHANCE}"
    )
    return _table(data["command"], about, _HEADS, rows)


def corpus_latex_of(results: Mapping[str, Any]) -> str:
    """Return the table of an evaluation over the served corpus."""
    rows = [
        [
            name,
            *(_percent(one[figure]) for figure in _CORPUS_FIGURES),
            "--" if one["seconds"]["p50"] is None else f"{one['seconds']['p50']:.2f}",
        ]
        for name, one in results["recipes"].items()
    ]
    about = (
        f"{results['claims']:,} claims of {results['file']} over"
        f" {results['corpus']['documents']:,} documents"
    )
    return _table(results["command"], about, _CORPUS_HEADS, rows)


def _table(command: str, about: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the table; shares are per cent, seconds are the median of a claim."""
    lines = [("", *heads, "s per claim"), *rows]
    head, *body = (" & ".join([_plain(name), *cells]) + r" \\" for name, *cells in lines)
    return "\n".join(
        [
            f"% {_line(command)}",
            f"% {_line(about)}; needs booktabs",
            rf"\begin{{tabular}}{{l{'r' * (len(heads) + 1)}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _plain(name: str) -> str:
    return name.replace("_", r"\_")


def _line(text: str) -> str:
    return " ".join(text.split())


def _percent(share: float | None) -> str:
    return "--" if share is None else f"{100 * share:.1f}"
