"""Recipes from files, measured like any other system.

Each is kept beside its predictions, so that results say what they are of, stay in later reports,
and are not mixed with those of a changed file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from research.evaluation.provenance import PAIRS
from research.evaluation.systems import checked_names, system_names
from retrieval.errors import BadRecipe
from retrieval.recipes.recipe_files import is_recipe_file, keep_recipe, read_recipe
from retrieval.recipes.recipes import RECIPES, Recipe

_KEPT = "recipe.yaml"


def named_systems(names: str) -> tuple[list[str], dict[str, Recipe]]:
    """Return the names in a comma-separated list of names and files, and the files' recipes.

    Raises:
        UnknownRecipe: a name is not known.
        BadRecipe: a file cannot be used, or its recipe has the name of another system.
    """
    own: dict[str, Recipe] = {}
    systems: list[str] = []
    for given in (name.strip() for name in names.split(",")):
        if not is_recipe_file(given):
            systems += checked_names(given)
            continue
        recipe = read_recipe(Path(given))
        taken = own.get(recipe.name, RECIPES.get(recipe.name))
        reserved = recipe.name in (*system_names(), PAIRS) and taken is None
        if reserved or taken not in (None, recipe):
            raise BadRecipe(
                "recipe_twice",
                f"{given}: {recipe.name} is the name of another recipe or baseline.",
                "Choose another name in the file.",
            )
        own[recipe.name] = recipe
        systems.append(recipe.name)
    return list(dict.fromkeys(systems)), own


def with_kept(out: Path, own: Mapping[str, Recipe], systems: Sequence[str]) -> dict[str, Recipe]:
    """Keep these recipes below ``out``, and return them with those that are there from before.

    Raises:
        BadSource: results of another recipe with the same name are there.
        BadRecipe: a kept file cannot be used.
    """
    for name, recipe in own.items():
        (out / name).mkdir(parents=True, exist_ok=True)
        keep_recipe(out / name / _KEPT, recipe)
    files = (path for path in sorted(out.glob(f"*/{_KEPT}")) if path.parent.name not in systems)
    return {**own, **{recipe.name: recipe for recipe in map(read_recipe, files)}}
