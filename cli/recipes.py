"""``esoteric recipes``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

import click

from cli.errors import reports_errors
from cli.options import json_option
from retrieval.recipes.recipe_files import as_yaml, recipe_given, recipes_with
from retrieval.recipes.recipes import DEFAULT_RECIPE, Recipe, RetrievalConfig
from settings import Settings


@click.command("recipes", epilog="Example: esoteric recipes combined --yaml > mine.yaml")
@click.argument("name", required=False)
@click.option("--yaml", "with_yaml", is_flag=True, help="Print NAME as a file for --recipe.")
@json_option
@reports_errors
def command(name: str | None, with_yaml: bool, as_json: bool) -> None:
    """List the recipes, one line each, or show the stages and settings of the recipe NAME.

    NAME may also be a recipe's file. Those of ESOTERIC_RECIPES are listed too.
    """
    if with_yaml and (name is None or as_json):
        raise click.UsageError("--yaml needs a NAME, and cannot be used with --json.")
    recipes = recipes_with(Settings.from_environment().recipes)
    chosen = [recipe_given(name, recipes)] if name else list(recipes.values())
    if with_yaml:
        click.echo(as_yaml(chosen[0]), nl=False)
    elif as_json:
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
