"""``esoteric recipes``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

import click

from cli.errors import reports_errors
from retrieval.config import RetrievalConfig
from retrieval.recipes import DEFAULT_RECIPE, RECIPES, Recipe, recipe_named


@click.command("recipes", epilog="Example: esoteric recipes combined")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@reports_errors
def command(name: str | None, as_json: bool) -> None:
    """List the recipes, one line each, or show the stages and settings of the recipe NAME."""
    chosen = [recipe_named(name)] if name else list(RECIPES.values())
    if as_json:
        click.echo(json.dumps({"recipes": [_document(recipe) for recipe in chosen]}))
    elif name:
        click.echo("\n".join(_described(chosen[0])))
    else:
        for recipe in chosen:
            default = " (default)" if recipe.name == DEFAULT_RECIPE else ""
            click.echo(f"{recipe.name}{default}: {recipe.summary}")


def _document(recipe: Recipe) -> dict[str, object]:
    return asdict(recipe) | {
        "stages_first": recipe.stages_first,
        "stages_per_hop": recipe.stages_per_hop,
        "default": recipe.name == DEFAULT_RECIPE,
    }


def _described(recipe: Recipe) -> Iterator[str]:
    """Yield the lines that show a recipe; settings that are as in most recipes come last."""
    yield f"{recipe.name}: {recipe.summary}"
    yield f"  first:    {', '.join(recipe.first)}"
    yield f"  each hop: {', '.join(recipe.hop)}"
    yield f"  next hop: {', '.join(recipe.next) or 'none'}"
    hops = "1 hop" if recipe.max_hops == 1 else f"{recipe.max_hops} hops"
    yield f"  ends:     {recipe.ending}, after {hops} at most"
    yield f"  vectors:  {recipe.vectors}"
    yield "  settings (* not the default):"
    usual = asdict(RetrievalConfig())
    for setting, value in asdict(recipe.settings).items():
        yield f"  {'*' if value != usual[setting] else ' '} {setting} = {value}"
