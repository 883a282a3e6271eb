"""Makes the stages that a recipe names."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from retrieval.errors import UnknownRecipe
from retrieval.recipes.recipes import Recipe
from retrieval.recipes.stage_records import FIRST, HOP, NEXT, Form, record_of
from retrieval.stages.find.next import ExpanderMakers, NextHop
from retrieval.stages.resources import Resources
from retrieval.stages.stage import Makers, Stage


def _all(makers: str, of: Mapping[str, Form]) -> dict[str, Any]:
    """Return what makes the stages of these names: the mapping ``makers`` of each one's file."""
    modules = {name: import_module(record_of(name).module) for name in of}
    return {name: getattr(module, makers)[name] for name, module in modules.items()}


MAKERS: Makers = _all("MAKERS", {**FIRST, **HOP})
EXPANDERS: ExpanderMakers = _all("EXPANDERS", NEXT)


def stages_of(recipe: Recipe, resources: Resources) -> dict[str, Stage]:
    """Return the stages that a recipe names, and "next".

    Raises:
        UnknownRecipe: it names a stage that does not exist.
        ModelUnavailable: a model is missing or damaged.
    """
    unknown = [name for name in (*recipe.first, *recipe.hop) if name not in MAKERS]
    unknown += [name for name in recipe.next if name not in EXPANDERS]
    if unknown:
        raise UnknownRecipe(
            "unknown_stage",
            f"The recipe {recipe.name!r} names unknown stages: {', '.join(unknown)}.",
            "Add each to retrieval/recipes/stage_records.py, or name one that is listed there.",
        )
    settings = recipe.settings
    expanders = [EXPANDERS[name](resources, settings) for name in recipe.next]
    return {
        **{name: MAKERS[name](resources, settings) for name in (*recipe.first, *recipe.hop)},
        "next": NextHop(expanders, settings.expansion_limit),
    }
