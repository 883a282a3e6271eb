"""The variants: each has a name for ``esoteric evaluate`` and changes its recipe."""

from __future__ import annotations

from dataclasses import replace

import pytest

from research.evaluation.systems import VARIANTS, checked_names, recipe_of, system_names
from retrieval.errors import UnknownRecipe
from retrieval.recipes.recipes import RECIPES


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_says_what_it_changes_in_the_recipe_that_it_is_named_for(name: str) -> None:
    variant, recipe = recipe_of(name), RECIPES[name.partition("-")[0]]
    assert variant.name == name
    assert variant.summary not in ("", recipe.summary)
    assert replace(variant, name=recipe.name, summary=recipe.summary) != recipe


def test_variants_are_named_one_by_one_or_all_together() -> None:
    assert checked_names("fer, fer-25") == ["fer", "fer-25"]
    assert checked_names("variants") == list(VARIANTS)
    assert set(VARIANTS) <= set(system_names())


def test_an_unknown_name_lists_those_of_variants() -> None:
    with pytest.raises(UnknownRecipe) as caught:
        checked_names("fer-26")
    assert "fer-25" in caught.value.hint
    assert caught.value.hint.endswith("or all, ablations or variants.")
