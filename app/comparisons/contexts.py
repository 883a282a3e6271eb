"""The data that the templates of comparisons and recipes get: one dataclass per page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from app.api.models import RecipeItem
from app.comparisons.comparison import Comparison
from app.contexts import CorpusChoice, OtherRecipes
from retrieval.errors import Problem
from retrieval.recipes.recipes import Recipe
from retrieval.types import Label
from worker.reports import AskedModel


@dataclass(frozen=True, slots=True)
class CompareForm:
    """The form that checks claims with several recipes.

    ``claim``: the claims, one a line. ``problem``: why they were refused; ``recipe_problem``: why
    these recipes were. ``most_checks``: how many claims times recipes may be compared.
    ``a_minute``: how many checks a visitor may submit within a minute, ``None`` for any number.
    ``left_out``: what of a list is left out, "" if nothing. ``accepted``: the ids of checks that
    were accepted where others were refused. ``ticked``: the names of the recipes that are chosen;
    ``asked``: as on the first page.
    """

    template: ClassVar[str] = "compare.html"
    claim: str
    problem: Problem | None
    offers_anyway: bool
    most_characters: int
    most_checks: int
    a_minute: int | None
    left_out: str
    accepted: tuple[str, ...]
    recipes: tuple[Recipe, ...]
    other_recipes: tuple[OtherRecipes, ...]
    recipe_problem: Problem | None
    usual: str
    ticked: frozenset[str]
    most_recipes: int
    corpora: tuple[CorpusChoice, ...]
    asked: AskedModel | None


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """Checks side by side; one claim shows its sentences, several show their verdicts.

    ``claims``: one a line, "" where they are too long for an address. ``ids``: those that were
    asked for. ``described``: names of recipes that the service has.
    """

    template: ClassVar[str] = "comparison.html"
    comparison: Comparison
    claims: str
    ids: str
    described: frozenset[str]
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class RecipesPage:
    """What each recipe does, and which can run here."""

    template: ClassVar[str] = "recipes.html"
    recipes: tuple[RecipeItem, ...]
