"""The recipes: which published system a claim is checked with."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.errors import UnknownRecipe


@dataclass(frozen=True, slots=True)
class Recipe:
    """A named way through the stages."""

    name: str
    summary: str


RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "esoteric",
            "spans, title and text match, questions, dense ranking, relevance, verdict"
            " (ESOTERIC report, section 3.3)",
        ),
    )
}
DEFAULT_RECIPE = "esoteric"


def recipe_named(name: str) -> Recipe:
    """Return the recipe of this name.

    Raises:
        UnknownRecipe: there is none.
    """
    try:
        return RECIPES[name]
    except KeyError:
        raise UnknownRecipe(
            "unknown_recipe",
            f"There is no recipe named {name!r}.",
            f"Use one of: {', '.join(RECIPES)}.",
        ) from None
