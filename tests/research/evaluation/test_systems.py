"""The variants: each has a name for ``esoteric evaluate`` and changes what it says, no more."""

from __future__ import annotations

from dataclasses import asdict
from difflib import ndiff
from typing import Any

import pytest

from research.evaluation.systems import VARIANTS, checked_names, recipe_of, system_names
from retrieval.errors import UnknownRecipe
from retrieval.recipes.recipes import RECIPES, Recipe

# What each variant changes in its recipe: stages that are left out (-) or added (+), and settings
# (from, to). A stage that runs at another place is left out and added.
CHANGES: dict[str, dict[str, Any]] = {
    "esoteric-ten-a-question": {
        "first": {"- ranking", "+ ranking:each"},
        "document_limit": (6, 10),
    },
    "esoteric-all-titles": {"keep_exact_titles": (False, True)},
    "esoteric-thousand-texts": {"text_limit": (200, 1000)},
    "esoteric-without-words": {"word_limit": (4, 0)},
    "esoteric-every-sentence": {
        "sentence_limit": (40, 1000),
        "expansion_sentence_limit": (24, 1000),
    },
    "esoteric-by-similarity": {
        "hop": {"- semantic", "+ semantic:mpnet"},
        "relevance_cutoff": (0.05, 0.5),
    },
    "esoteric-one-hop": {"max_hops": (2, 1)},
    "admiral-most-probable": {"independence_cutoff": (0.25, None)},
    "admiral-25-beams": {"generation_beams": (5, 25)},
    "admiral-top-1": {"generation_sentences": (5, 1)},
    "admiral-not-joint": {"generation_joint": (True, False)},
    "admiral-without-named": {"generation_named_beams": (25, 0)},
    "admiral-hyperlinks": {"generation_links": (False, True)},
    "admiral-without-paths": {"hop": {"- paths", "- fusion", "- completion"}},
    "m3-sentences": {
        "hop": {"- sentences", "+ sentences:dense"},
        "dense_limit": (20, 200),
        "expansion_limit": (12, 600),
        "sentence_limit": (40, 200),
        "expansion_sentence_limit": (24, 200),
    },
    "m3-hybrid": {"hop": {"- verification", "- quantities", "- comparison", "- completion"}},
    "m3-threshold": {
        "hop": {
            *("- verification", "- quantities", "- comparison", "- completion"),
            *("- fusion:hybrid", "+ fusion"),
        },
    },
    "m3-scale": {
        "hop": {
            *("- verification", "- quantities", "- comparison", "- completion"),
            *("- fusion:hybrid", "+ fusion"),
        },
        "path_threshold": (0.02, 0.0),
        "path_scale": (1.0, 0.9),
    },
    "m3-without-completion": {"hop": {"- completion"}},
    "fer-25": {
        "utility_candidates": (5, 25),
        "verified_sentences": (7, 25),
        "semantic_limit": (15, 25),
        "relevance_cutoff": (0.05, 0.0),
        "semantic_cutoff": (0.1, -1.0),
    },
    "fer-10": {
        "utility_candidates": (5, 10),
        "verified_sentences": (7, 10),
    },
    "fer-retriever-alone": {"hop": {"- selection:utility", "+ selection:utility"}},
    "combined-fer": {"hop": {"- selection", "+ selection:utility"}},
}


def values(recipe: Recipe) -> dict[str, Any]:
    fields = asdict(recipe)
    return fields | fields.pop("settings")


def change(before: Any, after: Any) -> Any:
    """Return both values, or for stages the lines that differ."""
    if not isinstance(before, tuple):
        return before, after
    return {line for line in ndiff(before, after) if line.startswith(("-", "+"))}


def test_every_variant_is_expected_here() -> None:
    assert list(VARIANTS) == list(CHANGES)


@pytest.mark.parametrize("name", CHANGES)
def test_a_variant_changes_the_listed_settings_and_nothing_else(name: str) -> None:
    variant, recipe = values(recipe_of(name)), values(RECIPES[name.partition("-")[0]])
    changed = {
        key: change(recipe[key], variant[key]) for key in recipe if recipe[key] != variant[key]
    }
    assert changed.pop("name") == (name.partition("-")[0], name)
    assert changed.pop("summary")[1]
    assert changed == CHANGES[name]


def test_variants_are_named_one_by_one_or_all_together() -> None:
    assert checked_names("fer, fer-25") == ["fer", "fer-25"]
    assert checked_names("variants") == list(CHANGES)
    assert set(CHANGES) <= set(system_names())


def test_an_unknown_name_lists_those_of_variants() -> None:
    with pytest.raises(UnknownRecipe) as caught:
        checked_names("fer-26")
    assert "fer-25" in caught.value.hint
    assert caught.value.hint.endswith("or all, ablations or variants.")
