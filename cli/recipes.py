"""``esoteric recipes``."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from retrieval.recipes import DEFAULT_RECIPE, RECIPES


@click.command("recipes", epilog="Example: esoteric recipes")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(as_json: bool) -> None:
    """List the recipes, one line each."""
    if as_json:
        recipes = [
            asdict(recipe)
            | {
                "stages_first": recipe.stages_first,
                "stages_per_hop": recipe.stages_per_hop,
                "default": name == DEFAULT_RECIPE,
            }
            for name, recipe in RECIPES.items()
        ]
        click.echo(json.dumps({"recipes": recipes}))
        return
    for name, recipe in RECIPES.items():
        default = " (default)" if name == DEFAULT_RECIPE else ""
        once, hop = ", ".join(recipe.stages_first), ", ".join(recipe.stages_per_hop)
        rounds = f"at most {recipe.max_hops} rounds of" if recipe.max_hops > 1 else "one round of"
        click.echo(f"{name}{default}: {recipe.summary}. Stages: {once}; {rounds} {hop}.")
