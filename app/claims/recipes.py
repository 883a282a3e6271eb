"""The recipes that can run over the served index, why others cannot, and the model they ask."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from app.api.models import RecipeItem, Recipes
from app.documents.corpus import searched_corpus
from app.services import services
from retrieval.errors import IndexUnavailable, Problem, RecipeUnavailable
from retrieval.pipeline.runnable import Runnable
from retrieval.recipes.recipes import DEFAULT_RECIPE, Recipe, base_and_more_hops, recipe_named
from worker.health import WorkerHealth, worker_health
from worker.reports import AskedModel

# Until an index is known, claims are accepted and wait.
_UNKNOWN = Runnable(DEFAULT_RECIPE, {})
_NO_INDEX = Problem(
    "index_unavailable",
    "There is no index yet that can be searched.",
    "The answer of /readyz says what is missing.",
)


@dataclass(frozen=True, slots=True)
class OtherRecipes:
    """Recipes that cannot run here, for the same reason."""

    names: tuple[str, ...]
    problem: Problem


@dataclass(frozen=True, slots=True)
class RecipeChoice:
    """The recipes that a form offers; ``others`` cannot run here.

    ``usual``: the name of the one that a claim without a recipe is checked by; ``chosen``: of the
    one that is selected. ``problem``: why the one that was asked for cannot run.
    """

    recipes: tuple[Recipe, ...]
    others: tuple[OtherRecipes, ...]
    usual: str
    chosen: str
    problem: Problem | None


def recipe_to_run(asked: str | None) -> str:
    """Return the name of the recipe that checks a claim: the one that is asked for, or the usual.

    Raises:
        UnknownRecipe: no recipe has this name.
        RecipeUnavailable: it cannot run here.
        StoreUnavailable: the database cannot be read.
    """
    here = _runnable() or _UNKNOWN
    name = here.usual if asked is None else recipe_named(asked, services().recipes).name
    base = base_and_more_hops(name)[0]
    if base in here.problems:
        problem = here.problems[base]
        message = f"The recipe {name} cannot run here. {problem.message}"
        raise RecipeUnavailable(problem.code, message, problem.hint)
    return name


def recipe_choice(asked: str | None, problem: Problem | None = None) -> RecipeChoice:
    """Return the recipes that a form offers; ``asked``: the one that was chosen there.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    recipes, here = services().recipes, _runnable() or _UNKNOWN
    can_run = tuple(recipe for recipe in recipes.values() if recipe.name not in here.problems)
    reasons: dict[Problem, list[str]] = {}
    for name, reason in here.problems.items():
        reasons.setdefault(reason, []).append(name)
    return RecipeChoice(
        recipes=can_run,
        others=tuple(OtherRecipes(tuple(names), reason) for reason, names in reasons.items()),
        usual=here.usual,
        chosen=next((one.name for one in can_run if one.name == asked), here.usual),
        problem=problem,
    )


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
                # Of a folder its name: pages show no path of the server.
                **asdict(recipe) | {"verifier": recipe.verifier and Path(recipe.verifier).name},
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
        return searched_corpus().recipes
    except IndexUnavailable:
        return None


def asked_model(health: WorkerHealth | None = None) -> AskedModel | None:
    """Return the language model that gets the claims, or ``None`` where there is none.

    The workers report it. While no worker is alive, it is read from the settings of this process.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    health, llm = health or worker_health(services().workers), services().settings.llm
    if health.language_model is None and health.workers == 0 and llm is not None:
        return AskedModel(llm.model, llm.host, llm.decides, problem=None)
    return health.language_model
