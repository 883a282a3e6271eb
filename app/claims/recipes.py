"""The recipes that can run over the served index, and why others cannot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from app.api.models import RecipeItem, Recipes
from app.contexts import OtherRecipes, RecipeChoice
from app.documents.corpus import searched_corpus
from app.services import services
from retrieval.errors import IndexUnavailable, Problem, RecipeUnavailable
from retrieval.pipeline.runnable import Runnable
from retrieval.recipes.recipes import DEFAULT_RECIPE, base_and_more_hops, recipe_named

# Until an index is known, claims are accepted and wait.
UNKNOWN = Runnable(DEFAULT_RECIPE, {})
_NO_INDEX = Problem(
    "index_unavailable",
    "There is no index yet that can be searched.",
    "The answer of /readyz says what is missing.",
)


def recipe_to_run(asked: str | None) -> str:
    """Return the name of the recipe that checks a claim: the one that is asked for, or the usual.

    Raises:
        UnknownRecipe: no recipe has this name.
        RecipeUnavailable: it cannot run here.
        StoreUnavailable: the database cannot be read.
    """
    here = runnable_here()
    name = here.usual if asked is None else recipe_named(asked, services().recipes).name
    base = base_and_more_hops(name)[0]
    if base in here.problems:
        problem = here.problems[base]
        message = f"The recipe {name} cannot run here. {problem.message}"
        raise RecipeUnavailable(problem.code, message, problem.hint)
    return name


def runnable_here() -> Runnable:
    """Return which recipes can run; all of them while no index is known.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    return _runnable() or UNKNOWN


def recipe_choice(asked: str | None, problem: Problem | None = None) -> RecipeChoice:
    """Return the recipes that a form offers; ``asked``: the one that was chosen there.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    recipes, here = services().recipes, runnable_here()
    can_run = tuple(recipe for recipe in recipes.values() if recipe.name not in here.problems)
    return RecipeChoice(
        recipes=can_run,
        others=grouped(here.problems),
        usual=here.usual,
        chosen=next((one.name for one in can_run if one.name == asked), here.usual),
        problem=problem,
    )


def grouped(problems: Mapping[str, Problem]) -> tuple[OtherRecipes, ...]:
    """Return the recipes that cannot run, by the reasons."""
    names: dict[Problem, list[str]] = {}
    for name, problem in problems.items():
        names.setdefault(problem, []).append(name)
    return tuple(OtherRecipes(tuple(group), problem) for problem, group in names.items())


def listed_recipes() -> Recipes:
    """Return all recipes; none can run while there is no index.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    recipes = services().recipes
    here = _runnable() or Runnable(DEFAULT_RECIPE, dict.fromkeys(recipes, _NO_INDEX))
    return Recipes(
        recipes=tuple(
            RecipeItem(
                **asdict(recipe),
                default=recipe.name == here.usual,
                can_run=recipe.name not in here.problems,
                problem=here.problems.get(recipe.name),
                digest=recipe.digest,
            )
            for recipe in recipes.values()
        )
    )


def _runnable() -> Runnable | None:
    """Return which recipes can run, or ``None`` if no index is known."""
    try:
        return searched_corpus(services()).recipes
    except IndexUnavailable:
        return None
