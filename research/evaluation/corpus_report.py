"""``report.md`` of an evaluation against the served corpus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from research.evaluation import several_documents_table
from research.evaluation.measures.corpus import FIRST
from research.evaluation.table_8 import MEANING, as_markdown


def corpus_report(results: Mapping[str, Any]) -> str:
    """Return the report, Markdown."""
    about = (
        f"{results['claims']:,} claims of `{results['file']}` over `{results['corpus']['name']}`,"
        f" {results['corpus']['documents']:,} documents. A corpus of this size is easier to search"
        f" than all of Wikipedia. Evidence was labelled by {results['verifier']}. Shares in %,"
        " expected calibration error 0 to 1."
    )
    lines = ["# Evaluation over the served corpus", "", f"    {results['command']}", "", about]
    lines += ["", results["choice"]] if results["choice"] else []
    for name, recipe in results["recipes"].items():
        lines += ["", f"## {name}", "", _HEAD, "|---|---|---|---|---|---|---|", _row("all", recipe)]
        for key in ("by_label", "by_kind"):
            lines += [_row(group, row) for group, row in recipe[key].items()]
        lines += [
            "",
            f"Seconds a claim: {recipe['seconds']['p50']:.2f} at the median,"
            f" {recipe['seconds']['p95']:.2f} at the 95th percentile."
            if recipe["seconds"]["p50"] is not None
            else "No claim was checked.",
        ]
        lines += (
            language_model_lines(recipe["language_model"]) if "language_model" in recipe else []
        )
    recipes = results["recipes"]
    return "\n".join([*lines, *_several_documents(recipes), *_esoteric_tables(recipes)])


def _several_documents(recipes: Mapping[str, Any]) -> list[str]:
    groups = several_documents_table.groups_of(recipes)
    if not groups:
        return []
    lines = ["", "## Claims that need several documents", "", several_documents_table.MEANING]
    for group in groups:
        lines += ["", several_documents_table.as_markdown(recipes, group)]
    return lines


def _esoteric_tables(recipes: Mapping[str, Any]) -> list[str]:
    tables = {name: r["esoteric_table"] for name, r in recipes.items() if r["esoteric_table"]}
    if not tables:
        return []
    lines = ["", "## The ESOTERIC report's table", "", MEANING]
    for name, table in tables.items():
        lines += ["", f"### {name}", "", as_markdown(table)]
    return lines


def language_model_lines(results: Mapping[str, Any]) -> list[str]:
    """Return the lines of the report about ``language_model_results``."""
    decides = "gives the verdict" if results["decides"] else "adds its opinion"
    if results["together"]:
        decides = "decides with the verifier"
    cost = (
        "" if results["cost"] is None else f", {results['cost']:.4f} by the prices of the settings"
    )
    seconds = "" if results["seconds"] is None else f"; {results['seconds']:.1f} s at the median"
    kept = f", {results['kept']} answers kept from before" if results["kept"] else ""
    both, agreement = results["opinions"], _percent(results["agreement"])
    about = (
        f"{results['model']} {decides}. On the {both} claims on which both judges gave an opinion:"
    )
    asked = f"{results['without_answer']} claims got no usable answer,"
    asked += f" {results['not_asked']} had no evidence to ask about."
    took = f"{results['calls']} calls{kept}, {results['prompt_tokens']:,} tokens read,"
    took += f" {results['answer_tokens']:,} written{cost}{seconds}."
    return [
        "",
        f"The language model {about}",
        "",
        "| label accuracy of | % |",
        "|---|---|",
        f"| the language model | {_percent(results['accuracy'])} |",
        f"| the verifier | {_percent(results['verifier_accuracy'])} |",
        f"| both, where they agree ({agreement} %) | {_percent(results['when_they_agree'])} |",
        f"| the model, where they differ | {_percent(results['when_they_differ'])} |",
        "",
        asked,
        took,
    ]


_HEAD = (
    "| claims | number | label accuracy | evidence recall, first 5 | opposite stance among the"
    " first 3 | contradicted verdicts | calibration error |"
)


def _row(group: str, row: Mapping[str, Any]) -> str:
    shares = (
        _percent(row[key])
        for key in ("label_accuracy", f"evidence_recall@{FIRST}", "opposite_stances")
    )
    error = row["calibration_error"]
    return (
        f"| {group} | {row['claims']} | {' | '.join(shares)} | {row['contradicted']} |"
        f" {'-' if error is None else f'{error:.3f}'} |"
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"
