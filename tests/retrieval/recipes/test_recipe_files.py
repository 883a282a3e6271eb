"""Recipes in YAML files: what is printed can be read, and what is wrong is named with its line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.errors import BadRecipe, BadSource, UnknownRecipe
from retrieval.recipes.recipe_files import (
    as_yaml,
    keep_recipe,
    read_recipe,
    recipe_given,
    recipes_with,
)
from retrieval.recipes.recipes import RECIPES, Recipe

SHORT = """\
name: short
summary: one hop by titles
first:
- spans
- titles
hop:
- sentences
- relevance
- semantic
- verification
- selection
- verdict
next: []
ending: decided
max_hops: 1
settings:
  document_limit: 3
  independence_cutoff: null
"""


def written(folder: Path, text: str | bytes, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))
def test_what_is_printed_is_read_as_the_same_recipe(recipe: Recipe, tmp_path: Path) -> None:
    assert read_recipe(written(tmp_path, as_yaml(recipe))) == recipe
    mine = replace(recipe, name="mine", max_hops=4)
    assert read_recipe(written(tmp_path, as_yaml(mine))) == mine


def test_settings_that_are_left_out_have_their_defaults(tmp_path: Path) -> None:
    recipe = read_recipe(written(tmp_path, SHORT))
    assert (recipe.first, recipe.next, recipe.vectors) == (("spans", "titles"), (), "minilm")
    assert recipe.settings.document_limit == 3
    assert recipe.settings.independence_cutoff is None
    assert recipe.settings.sentence_limit == 40


def test_a_digest_tells_recipes_apart_by_what_they_do() -> None:
    recipe = RECIPES["m3"]
    assert replace(recipe, name="mine", summary="Other words.").digest == recipe.digest
    assert replace(recipe, max_hops=recipe.max_hops + 1).digest != recipe.digest
    other = replace(recipe.settings, seconds=recipe.settings.seconds + 1)
    assert replace(recipe, settings=other).digest != recipe.digest


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("- relevance", "- relevence", 8, "Do you mean relevance?"),
        ("- titles", "- verdict", 5, "'first' cannot have the stage 'verdict'"),
        ("next: []", "next: [soup]", 13, "Write one of: dense, mentions, generation."),
        ("next: []", "next: none", 13, "'next' is not a list."),
        ("- titles", "- ranking", 5, "The stage ranking needs questions before it."),
        ("- selection", "- selection:proved", 11, "selection:proved needs proof before it."),
        ("- verdict\n", "", 11, "do not end with verdict"),
        ("- sentences", "- sentences:dpr", 7, "searches vectors of dpr"),
        ("ending: decided", "ending: soon", 14, "one of: decided, proved, unchanged, never"),
        ("max_hops: 1", "max_hops: 0", 15, "There is no hop."),
        ("max_hops: 1", "max_hops: yes", 15, "'max_hops' is 'yes'. Write a whole number from 0"),
        ("document_limit: 3", "document_limit: -3", 17, "Write a whole number from 0 to"),
        ("max_hops: 1", "max_hops: !!bool maybe", 15, "'max_hops' is 'maybe'."),
        ("max_hops: 1", "max_hops: !!int ''", 15, "'max_hops' is ''."),
        ("max_hops: 1", "max_hops: !!timestamp soon", 15, "'max_hops' is 'soon'."),
        ("max_hops: 1", "max_hops: {a: 1}", 15, "'max_hops' is a mapping."),
        ("document_limit: 3", f"text_limit: {'9' * 400}", 17, "to 1000000000."),
        ("document_limit: 3", "document_limt: 3", 17, "Do you mean document_limit?"),
        ("document_limit: 3", "relevance_cutoff: 1e-3", 17, "a number such as 0.001"),
        ("document_limit: 3", "relevance_cutoff: .nan", 17, "a number such as 0.001"),
        ("independence_cutoff: null", "document_limit: 4", 18, "is there twice"),
        ("name: short", "name: no", 1, "'name' is 'no'. Write a text"),
        ("name: short", "name: ../short", 1, "The name '../short' cannot be used."),
        ("name: short", "name: esoteric", 1, "that is shipped has other stages or settings."),
        ("name: short\n", "", 1, "The key 'name' is missing."),
        ("ending: decided", "ends: decided", 14, "There is no key 'ends' in a recipe."),
        ("ending: decided", "ending: ]", 14, "This is not one YAML document: "),
        ("first:", "first: &a", 17, "Aliases"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(
    old: str, new: str, line: int, said: str, tmp_path: Path
) -> None:
    text = SHORT.replace(old, new, 1)
    if "&a" in new:
        text = text.replace("document_limit: 3", "document_limit: *a")
    path = written(tmp_path, text)
    with pytest.raises(BadRecipe) as refused:
        read_recipe(path)
    assert refused.value.message.startswith(f"{path}, line {line}: ")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "line 1: The file is empty."),
        ("- a", "line 1: Here a recipe must begin."),
        ("a: \x07", "line 1: There is a control character."),
        ("a: 1\n---\nb: 2", "a single document in the stream, but found another document."),
        (b"name: \xff", "is not in UTF-8."),
        ("# " + "x" * 100_000, "is larger than any recipe."),
        ("name: !!python/object:os.system x\n", "line 1: The key 'summary' is missing."),
    ],
)
def test_a_file_that_is_no_recipe_gets_one_clear_message(
    content: str | bytes, said: str, tmp_path: Path
) -> None:
    with pytest.raises(BadRecipe, match=r"mine\.yaml") as refused:
        read_recipe(written(tmp_path, content))
    assert said in refused.value.message


def test_a_missing_file_and_an_unknown_name_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadRecipe, match=r"cannot be read \(No such file or directory\)"):
        recipe_given(str(tmp_path / "none.yaml"))
    with pytest.raises(UnknownRecipe, match=r"Use one of: combined, .*report\."):
        recipe_given("soup")
    assert recipe_given("m3") == RECIPES["m3"]


def test_a_folder_adds_its_recipes_to_the_shipped_ones(tmp_path: Path) -> None:
    written(tmp_path, SHORT)
    written(tmp_path, "no recipe", "notes.txt")
    written(tmp_path, "no recipe", ".hidden.yaml")
    assert list(recipes_with(tmp_path)) == [*RECIPES, "short"]
    assert recipes_with(None) == RECIPES
    written(tmp_path, SHORT, "other.yml")
    with pytest.raises(BadRecipe, match=r"other\.yml and .*mine\.yaml have the same name, short\."):
        recipes_with(tmp_path)


def test_results_are_not_mixed_with_those_of_a_changed_recipe(tmp_path: Path) -> None:
    short = read_recipe(written(tmp_path, SHORT))
    keep_recipe(tmp_path / "kept.yaml", short)
    keep_recipe(tmp_path / "kept.yaml", replace(short, summary="in other words"))
    with pytest.raises(BadSource, match="than the recipe short of now"):
        keep_recipe(tmp_path / "kept.yaml", replace(short, max_hops=2))
