"""The pictures of a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from research.evaluation.measures.scores import PAGE_RANKS, SENTENCE_RANKS
from retrieval.types import LABELS

_SHORT = {"SUPPORTS": "supports", "REFUTES": "refutes", "NOT ENOUGH INFO": "not enough"}
_ON_CALIBRATION = (
    "Accuracy of the answers by their confidence: on the dashed line both are equal. The larger"
    " the dot, the more answers"
)


def draw(results: dict[str, Any], folder: Path) -> dict[str, str]:
    """Write the plots and return their file names with what they show, in order of the report."""
    recipes = {name: r for name, r in results["recipes"].items() if r.get("figures")}
    if not recipes:
        return {}
    drawn = (
        ("recall.png", _recall, "Recall at k of pages (left) and sentences (right)"),
        ("confusion.png", _confusion, "Gold labels (rows) and predicted labels (columns), claims"),
        ("calibration.png", _calibration, _ON_CALIBRATION),
        ("seconds.png", _seconds, "Mean seconds per claim by stage"),
    )
    for name, make, _ in drawn:
        make(recipes).savefig(folder / name, dpi=110)
    return {name: shows for name, _, shows in drawn}


def _recall(recipes: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    for axes, kind, ranks in zip(
        figure.subplots(1, 2, sharey=True),
        ("page", "sentence"),
        (PAGE_RANKS, SENTENCE_RANKS),
        strict=True,
    ):
        for name, recipe in recipes.items():
            values = [recipe["figures"][f"{kind}_recall@{k}"] for k in ranks]
            axes.plot(ranks, [_percent(v) for v in values], marker="o", label=name)
        axes.set_xticks(ranks)
        axes.set_xlabel(f"first k {kind}s")
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("claims with a whole evidence set, %")
    figure.axes[1].legend()
    return figure


def _confusion(recipes: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(3.6 * len(recipes), 4.2), layout="compressed")
    for axes, (name, recipe) in zip(
        np.atleast_1d(figure.subplots(1, len(recipes))), recipes.items(), strict=True
    ):
        counts = np.array([[recipe["confusion"][g][p] for p in LABELS] for g in LABELS])
        axes.imshow(counts, cmap="Blues")
        for row, column in np.ndindex(counts.shape):
            dark = counts[row, column] > counts.max() / 2
            axes.text(
                column,
                row,
                str(counts[row, column]),
                ha="center",
                va="center",
                color="white" if dark else "black",
            )
        words = [_SHORT[label] for label in LABELS]
        axes.set_xticks(range(len(LABELS)), words)
        axes.set_yticks(range(len(LABELS)), words, rotation=90, va="center")
        axes.set_xlabel("predicted")
        axes.set_ylabel("gold")
        axes.set_title(name)
    return figure


def _calibration(recipes: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(3.6 * len(recipes), 3.8), layout="constrained")
    for axes, (name, recipe) in zip(
        np.atleast_1d(figure.subplots(1, len(recipes))), recipes.items(), strict=True
    ):
        bins = recipe["calibration"]["bins"]
        most = max(part["answers"] for part in bins)
        axes.plot([0, 1], [0, 1], color="gray", linestyle="dashed", linewidth=1)
        confidence = [part["confidence"] for part in bins]
        axes.plot(confidence, [part["accuracy"] for part in bins], linewidth=1)
        axes.scatter(
            confidence,
            [part["accuracy"] for part in bins],
            s=[12 + 120 * part["answers"] / most for part in bins],
        )
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("confidence")
        axes.set_ylabel("accuracy")
        axes.set_title(f"{name} (ECE {recipe['calibration']['error']:.3f})")
        axes.grid(alpha=0.3)
    return figure


def _seconds(recipes: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(9, 1.8 + 0.5 * len(recipes)), layout="constrained")
    axes = figure.subplots()
    stages = dict.fromkeys(
        stage for recipe in recipes.values() for stage in recipe["seconds"] if stage != "total"
    )
    names = list(recipes)
    before = np.zeros(len(names))
    for number, stage in enumerate(stages):
        spent = np.array(
            [recipes[name]["seconds"].get(stage, {"mean": 0.0})["mean"] for name in names]
        )
        colour = colormaps["tab20"](number)
        axes.barh(names, spent, left=before, label=stage, color=colour)
        before += spent
    axes.invert_yaxis()
    axes.set_xlabel("seconds per claim, mean")
    figure.legend(ncols=5, fontsize="small", loc="outside lower center")
    return figure


def _percent(value: float | None) -> float:
    return float("nan") if value is None else 100 * value
