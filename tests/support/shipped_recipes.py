"""The recipes that need nothing but the shipped models."""

from retrieval.recipes.recipes import RECIPES

SHIPPED = {name: recipe for name, recipe in RECIPES.items() if recipe.vectors == "minilm"}
