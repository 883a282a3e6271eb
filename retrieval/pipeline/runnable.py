"""Which recipes can run over an index, and why others cannot.

The pages show the reasons to everybody, so these contain no path. The web process asks this too,
so nothing heavy is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from retrieval.errors import ModelUnavailable, Problem
from retrieval.models.document_encoders import DPR_ENCODER, OWN_ENCODER, choice_of
from retrieval.models.folders import ModelFolders
from retrieval.models.papers.report_models import present_models
from retrieval.recipes.recipes import DEFAULT_RECIPE, NO_MODEL, Recipe

_NAMES = {
    "minilm": "MiniLM",
    "static": "the static encoder",
    "dpr": "DPR",
    "own": "another encoder",
}


@dataclass(frozen=True, slots=True)
class Runnable:
    """Which recipes can run.

    ``usual``: the name of the one for claims that name none. ``problems``: why a recipe cannot
    run, by its name; those that can are not in it. Recipes with the same reason have equal ones.
    """

    usual: str
    problems: Mapping[str, Problem]


def runnable(
    recipes: Mapping[str, Recipe], encoder: str, folders: ModelFolders, *, asks: bool
) -> Runnable:
    """Return which of these recipes can run over an index.

    ``encoder`` is whose vectors the index has (``IndexInfo.encoder``). ``asks``: a language model
    is asked here. The usual recipe is the
    default one, or the first for the vectors of the index that can run.
    """
    problems = {
        name: problem
        for name, recipe in recipes.items()
        if (problem := _problem(recipe, encoder, folders, asks)) is not None
    }
    fitting = [name for name, recipe in recipes.items() if _fits(recipe, encoder)]
    choices = [DEFAULT_RECIPE, *(name for name in recipes if name not in problems), *fitting]
    usual = next((name for name in choices if name in fitting), DEFAULT_RECIPE)
    return Runnable(usual, problems)


def _fits(recipe: Recipe, encoder: str) -> bool:
    return (recipe.vectors == "dpr") == (choice_of(encoder) == DPR_ENCODER)


def _problem(recipe: Recipe, encoder: str, folders: ModelFolders, asks: bool) -> Problem | None:
    if recipe.language_model not in (None, NO_MODEL) and not asks:
        return Problem(
            "no_language_model",
            "This recipe asks a language model, and ESOTERIC_LLM names none.",
            "Choose another recipe, or set ESOTERIC_LLM.",
        )
    if recipe.reads_report_models:
        try:
            present_models(folders.report)
        except ModelUnavailable as error:
            return Problem(error.code, *_without_models(error.message, folders.report))
    has = choice_of(encoder)
    vectors = f"vectors of {_NAMES[has]}" if has in _NAMES else "no vectors"
    if not _fits(recipe, encoder):
        option = f" --vectors {DPR_ENCODER}" if recipe.vectors == "dpr" else ""
        return Problem(
            "index_encoder",
            f"Vectors of {_NAMES[recipe.vectors]} are needed, and the index has {vectors}.",
            f"Choose another recipe, or run `esoteric index encode{option}`.",
        )
    if recipe.vectors == "dpr" or not encoder:
        return None
    if has == OWN_ENCODER and folders.encoder is None:
        return Problem(
            "index_encoder",
            "The index has vectors of another encoder, and ESOTERIC_ENCODER names none.",
            "Set ESOTERIC_ENCODER to the encoder of the index, or run `esoteric index encode`.",
        )
    if has != OWN_ENCODER and folders.encoder is not None:
        return Problem(
            "index_encoder",
            f"Vectors of the encoder in ESOTERIC_ENCODER are needed, and the index has {vectors}.",
            f"Run `esoteric index encode --vectors {OWN_ENCODER}`, or unset ESOTERIC_ENCODER.",
        )
    return None


def _without_models(message: str, report: Path | None) -> tuple[str, str]:
    """Return what is wrong with the models of the report, without a path, and how to fix it."""
    fetch = "run `esoteric models fetch report`."
    if report is None:
        return (
            "The models of the ESOTERIC report are needed, and ESOTERIC_REPORT_MODELS is not set.",
            f"Choose another recipe, or set ESOTERIC_REPORT_MODELS to a folder and {fetch}",
        )
    message = message.replace(str(report), "The folder of ESOTERIC_REPORT_MODELS")
    return message, f"Choose another recipe, or {fetch}"
