"""``make docs``: writes the tables of the documentation that the code knows.

A page has a table of ours between two comments, of which the first names it:

    <!-- make docs writes this: settings -->
    <!-- to here -->

The rest of the page is written by hand.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

from pydantic.fields import FieldInfo

from research.evaluation.expected import read_expected
from retrieval.recipes.recipes import STAGES, StageRecord
from retrieval.result import ClaimResult
from settings import CHECKOUT, TABLE

_END = "<!-- to here -->\n"
# The table of README: recipes, and for each column its title, its run and the path of its figure.
_IN_README = ("combined", "bm25", "minilm")
_COLUMNS = (
    ("fresh claims, label accuracy", "fresh", "label_accuracy"),
    ("evidence found", "fresh", "evidence_recall@5"),
    ("two-hop, label accuracy", "fresh", "by_kind.two-hop.label_accuracy"),
    ("FEVER, label accuracy", "fever-dev-250", "figures.label_accuracy"),
    ("FEVER score", "fever-dev-250", "figures.fever_score"),
)


def pages() -> dict[Path, str]:
    """Return the text of each page with tables, as it should be."""
    docs = CHECKOUT / "docs"
    runs = {run["name"]: run for run in read_expected()["runs"]}
    tables = {
        CHECKOUT / "README.md": {"results": _overview(runs)},
        docs / "data-model.md": {"claim document": ["| key | contains |", "|---|---|", *_fields()]},
        docs / "results.md": {name: _figures(run) for name, run in runs.items()},
        docs / "settings.md": {"settings": _settings()},
        docs / "stages.md": {"stages": _stages()},
    }
    return {
        page: _with_tables(page.read_text(encoding="utf-8"), of_page)
        for page, of_page in tables.items()
    }


def between(text: str, begin: str, lines: list[str]) -> str:
    """Return the text with these lines between the comment ``begin`` and the next end.

    Raises:
        ValueError: the text has no such comment.
    """
    before, found, rest = text.partition(begin)
    _, ended, after = rest.partition(_END)
    if not (found and ended):
        raise ValueError(f"the page has no {begin.strip()} with {_END.strip()} after it")
    return "\n".join([before + begin, *lines, "", _END + after])


def _with_tables(text: str, tables: Mapping[str, list[str]]) -> str:
    for name, lines in tables.items():
        text = between(text, f"<!-- make docs writes this: {name} -->\n", lines)
    return text


def _settings() -> list[str]:
    meanings = _meanings(CHECKOUT / "settings.py")
    rows = [f"| `{one.variable}` | {one.shown} | {meanings[one.variable]} |" for one in TABLE]
    return ["| variable | default | meaning |", "|---|---|---|", *rows]


def _meanings(code: Path) -> dict[str, str]:
    """Return what each variable means: the text below its declaration."""
    meanings = {}
    for node in ast.walk(ast.parse(code.read_text(encoding="utf-8"))):
        for above, below in pairwise(node.body if isinstance(node, ast.ClassDef) else ()):
            match above, below:
                case (
                    ast.AnnAssign(value=ast.Call(args=[ast.Constant(str(variable)), *_])),
                    ast.Expr(ast.Constant(str(meaning))),
                ):
                    meanings[variable] = " ".join(meaning.split())
                    meanings[f"{variable}_FILE"] = f"File that contains {variable}."
    return meanings


def _stages() -> list[str]:
    """Return a row for each stage, in the order in which a claim passes through them."""
    rows = [
        (_quoted(one.names), f"`{one.path}`", _models(one), one.reads, one.changes)
        for one in STAGES.values()
    ]
    return [
        "| stage | file in `retrieval/` | models | reads | finds or changes |",
        "|---|---|---|---|---|",
        *(f"| {' | '.join(cells)} |" for cells in rows),
    ]


def _models(stage: StageRecord) -> str:
    """Return the models of the usual form, and those of each other form that has some."""
    return "; ".join(
        f"`:{form.name}` {_quoted(form.models)}" if form.name else _quoted(form.models)
        for form in stage.forms
        if form.models
    )


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _fields_of(value: object) -> dict[str, FieldInfo]:
    """Return the fields of a class of the claim document, none of any other class."""
    return getattr(value, "__pydantic_fields__", {})


def _fields(model: type = ClaimResult, place: str = "") -> Iterator[str]:
    """Yield a row for each field of a model, and below it a row for each field of nested models."""
    for name, field in _fields_of(model).items():
        yield f"| `{place}{name}` | {' '.join((field.description or '').split())} |"
        for part in get_args(field.annotation) or [field.annotation]:
            if isinstance(part, type) and _fields_of(part):
                many = "[]" if ... in get_args(field.annotation) else ""
                yield from _fields(part, f"{place}{name}{many}.")


def _figures(run: Mapping[str, Any]) -> list[str]:
    """Return the table of a published run."""
    titles = run["columns"]
    rows = [
        [f"`{row['row']}`", *(_shown(*figure) for figure in row["figures"].items())]
        + [f"{row['seconds']:.2f}" for _ in titles[len(row["figures"]) :]]
        for row in run["rows"]
    ]
    head = ["| | " + " | ".join(titles) + " |", "|---|" + "---|" * len(titles)]
    return [*head, *(f"| {' | '.join(row)} |" for row in rows)]


def _overview(runs: Mapping[str, Any]) -> list[str]:
    """Return some figures of some recipes, from several runs."""
    lines = ["| | " + " | ".join(title for title, *_ in _COLUMNS) + " |"]
    lines.append("|---|" + "---|" * len(_COLUMNS))
    for recipe in _IN_README:
        cells = []
        for _, run, path in _COLUMNS:
            (row,) = (row for row in runs[run]["rows"] if row["row"] == recipe)
            cells.append(_shown(path, row["figures"][path]))
        lines.append(f"| `{recipe}` | {' | '.join(cells)} |")
    return lines


def _shown(path: str, figure: Mapping[str, float]) -> str:
    """Return a calibration error as it is, everything else in per cent."""
    value = figure["value"]
    return f"{value:.3f}" if path.startswith("calibration") else f"{100 * value:.1f}"


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
