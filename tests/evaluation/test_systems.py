"""The variants: each has a name for ``esoteric evaluate`` and changes what it says, no more."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from evaluation.systems import VARIANTS, checked_names, recipe_of, system_names
from retrieval.errors import UnknownRecipe
from retrieval.recipes import RECIPES, Recipe

# What each variant has instead of what its recipe has: fields of the recipe, then settings.
CHANGES: dict[str, dict[str, tuple[Any, Any]]] = {
    "esoteric-ten-a-question": {
        "first": (
            ("spans", "titles", "texts", "questions", "ranking"),
            ("spans", "titles", "texts", "questions", "ranking:each"),
        ),
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
        "hop": (
            (
                "sentences",
                "relevance",
                "semantic",
                "verification",
                "quantities",
                "comparison",
                "selection",
                "verdict",
            ),
            (
                "sentences",
                "relevance",
                "semantic:mpnet",
                "verification",
                "quantities",
                "comparison",
                "selection",
                "verdict",
            ),
        ),
        "relevance_cutoff": (0.05, 0.5),
    },
    "esoteric-one-hop": {"max_hops": (2, 1)},
    "admiral-most-probable": {"independence_cutoff": (0.25, None)},
    "admiral-25-beams": {"generation_beams": (5, 25)},
    "admiral-top-1": {"generation_sentences": (5, 1)},
    "admiral-not-joint": {"generation_joint": (True, False)},
    "admiral-without-named": {"generation_named_beams": (25, 0)},
    "admiral-hyperlinks": {"generation_links": (False, True)},
    "admiral-without-paths": {
        "hop": (
            (
                "sentences",
                "relevance",
                "paths",
                "semantic",
                "fusion",
                "verification",
                "quantities",
                "comparison",
                "completion",
                "selection",
                "proof",
                "verdict",
            ),
            (
                "sentences",
                "relevance",
                "semantic",
                "verification",
                "quantities",
                "comparison",
                "selection",
                "proof",
                "verdict",
            ),
        ),
    },
    "m3-sentences": {
        "hop": (
            (
                "sentences",
                "relevance",
                "paths",
                "semantic",
                "fusion:hybrid",
                "verification",
                "quantities",
                "comparison",
                "completion",
                "selection",
                "verdict",
            ),
            (
                "sentences:dense",
                "relevance",
                "paths",
                "semantic",
                "fusion:hybrid",
                "verification",
                "quantities",
                "comparison",
                "completion",
                "selection",
                "verdict",
            ),
        ),
        "dense_limit": (20, 200),
        "expansion_limit": (12, 600),
        "sentence_limit": (40, 200),
        "expansion_sentence_limit": (24, 200),
    },
    "m3-hybrid": {
        "hop": (
            (
                "sentences",
                "relevance",
                "paths",
                "semantic",
                "fusion:hybrid",
                "verification",
                "quantities",
                "comparison",
                "completion",
                "selection",
                "verdict",
            ),
            (
                "sentences",
                "relevance",
                "paths",
                "semantic",
                "fusion:hybrid",
                "selection",
                "verdict",
            ),
        ),
    },
    "m3-threshold": {
        "hop": (
            (
                "sentences",
                "relevance",
                "paths",
                "semantic",
                "fusion:hybrid",
                "verification",
                "quantities",
                "comparison",
                "completion",
                "selection",
                "verdict",
            ),
            (
                "sentences",
                "relevance",
                "paths",
                "semantic",
                "fusion",
                "selection",
                "verdict",
            ),
        ),
    },
    "m3-scale": {
        "hop": (
            (
                "sentences",
                "relevance",
                "paths",
                "semantic",
                "fusion:hybrid",
                "verification",
                "quantities",
                "comparison",
                "completion",
                "selection",
                "verdict",
            ),
            (
                "sentences",
                "relevance",
                "paths",
                "semantic",
                "fusion",
                "selection",
                "verdict",
            ),
        ),
        "path_threshold": (0.02, 0.0),
        "path_scale": (1.0, 0.9),
    },
    "m3-without-completion": {
        "hop": (
            (
                "sentences",
                "relevance",
                "paths",
                "semantic",
                "fusion:hybrid",
                "verification",
                "quantities",
                "comparison",
                "completion",
                "selection",
                "verdict",
            ),
            (
                "sentences",
                "relevance",
                "paths",
                "semantic",
                "fusion:hybrid",
                "verification",
                "quantities",
                "comparison",
                "selection",
                "verdict",
            ),
        ),
    },
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
    "fer-retriever-alone": {
        "hop": (
            (
                "sentences",
                "relevance",
                "semantic",
                "verification",
                "quantities",
                "comparison",
                "selection:utility",
                "verdict",
            ),
            (
                "sentences",
                "relevance",
                "semantic",
                "selection:utility",
                "verification",
                "quantities",
                "comparison",
                "verdict",
            ),
        ),
    },
    "combined-fer": {
        "hop": (
            RECIPES["combined"].hop,
            tuple(
                "selection:utility" if stage == "selection" else stage
                for stage in RECIPES["combined"].hop
            ),
        ),
    },
}


def values(recipe: Recipe) -> dict[str, Any]:
    fields = asdict(recipe)
    return fields | fields.pop("settings")


def test_every_variant_is_expected_here() -> None:
    assert list(VARIANTS) == list(CHANGES)


@pytest.mark.parametrize("name", CHANGES)
def test_a_variant_changes_the_listed_settings_and_nothing_else(name: str) -> None:
    variant, recipe = values(recipe_of(name)), values(RECIPES[name.partition("-")[0]])
    changed = {key: (recipe[key], variant[key]) for key in recipe if recipe[key] != variant[key]}
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
