"""Recipes: in YAML files, over which index they run, and the stages that they name."""

import re
import shutil
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from research.evaluation.systems import ABLATIONS, VARIANTS
from retrieval.errors import BadRecipe, BadSource, UnknownRecipe
from retrieval.models.folders import ModelFolders, NamedModel
from retrieval.models.papers.report_models import RELEVANCE
from retrieval.pipeline.runnable import runnable
from retrieval.recipes.recipe_files import (
    as_yaml,
    keep_recipe,
    read_recipe,
    recipe_given,
    recipes_with,
)
from retrieval.recipes.recipes import FIRST, HOP, NEXT, RECIPES, Recipe
from settings import CHECKOUT
from tests.retrieval.models.tiny_report import name_models
from tests.support.cases import cases, whole_cases
from tests.support.evidence import ranked
from tests.support.states import state_of

SHORT = (CHECKOUT / "tests" / "cases" / "short_recipe.yaml").read_text(encoding="utf-8")


def written(folder: Path, text: str | bytes, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))
def test_what_is_printed_is_read_as_the_same_recipe(recipe: Recipe, tmp_path: Path) -> None:
    assert read_recipe(written(tmp_path, as_yaml(recipe))) == recipe
    mine = replace(recipe, name="mine", summary="Other words.", max_hops=4)
    assert read_recipe(written(tmp_path, as_yaml(mine))) == mine
    assert replace(mine, max_hops=recipe.max_hops).digest == recipe.digest
    assert replace(recipe, max_hops=recipe.max_hops + 1).digest != recipe.digest
    other = replace(recipe.settings, seconds=recipe.settings.seconds + 1)
    assert replace(recipe, settings=other).digest != recipe.digest


def test_settings_that_are_left_out_have_their_defaults(tmp_path: Path) -> None:
    recipe = read_recipe(written(tmp_path, SHORT))
    assert (recipe.first, recipe.next, recipe.vectors) == (("spans", "titles"), (), "minilm")
    settings = recipe.settings
    assert (settings.document_limit, settings.independence_cutoff) == (3, None)
    assert settings.sentence_limit == 40
    # Results are not mixed with those of a changed recipe.
    keep_recipe(tmp_path / "kept.yaml", recipe)
    keep_recipe(tmp_path / "kept.yaml", replace(recipe, summary="in other words"))
    with pytest.raises(BadSource, match="than the recipe short of now"):
        keep_recipe(tmp_path / "kept.yaml", replace(recipe, max_hops=2))


def test_a_recipe_names_its_own_judge(tmp_path: Path, models: Path) -> None:
    (tmp_path / "judge").mkdir()
    named = written(tmp_path, f"{SHORT}verifier: judge\nlanguage_model: small:1b\n")
    recipe = read_recipe(named)
    assert (recipe.verifier, recipe.language_model) == (str(tmp_path / "judge"), "small:1b")
    assert read_recipe(written(tmp_path, as_yaml(recipe), "again.yaml")) == recipe
    plain = read_recipe(written(tmp_path, SHORT, "plain.yaml"))
    alone = read_recipe(written(tmp_path, f"{SHORT}language_model: none\n", "alone.yaml"))
    assert len({recipe.digest, plain.digest, alone.digest}) == 3
    both = {"mine": recipe, "alone": alone}
    encoder = "all-MiniLM-L6-v2 1a2b"
    without = runnable(both, encoder, having(None), asks=False)
    assert {name: one.code for name, one in without.problems.items()} == {
        "mine": "no_language_model"
    }
    assert runnable(both, encoder, having(None), asks=True).problems == {}


@cases("bad_recipes", "old", "new", "line", "said")
def test_what_is_wrong_has_a_line(old: str, new: str, line: int, said: str, tmp_path: Path) -> None:
    text = SHORT.replace(old, new, 1)
    if "&a" in new:
        text = text.replace("document_limit: 3", "document_limit: *a")
    path = written(tmp_path, text)
    with pytest.raises(BadRecipe) as refused:
        read_recipe(path)
    assert refused.value.message.startswith(f"{path}, line {line}: ")
    assert said in str(refused.value)


@cases("bad_recipes", "content", "said")
def test_what_is_no_recipe_gets_one_clear_message(content: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadRecipe, match=r"mine\.yaml") as refused:
        read_recipe(written(tmp_path, content))
    assert said in refused.value.message


def test_a_file_that_is_missing_too_large_or_not_in_utf8_is_no_recipe(tmp_path: Path) -> None:
    for content, said in (
        ("# " + "x" * 100_000, "larger than any recipe"),
        (b"a: \xff", "in UTF-8"),
    ):
        with pytest.raises(BadRecipe, match=said):
            read_recipe(written(tmp_path, content))
    with pytest.raises(BadRecipe, match=r"cannot be read \(No such file or directory\)"):
        recipe_given(str(tmp_path / "none.yaml"))
    with pytest.raises(UnknownRecipe, match=r"Use one of: combined, .*card\."):
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


# --- over which index they run

DPR = "dpr-ctx_encoder-single-nq-base 3c4d"


def having(report: Path | None, encoder: NamedModel | None = None) -> ModelFolders:
    return ModelFolders(Path("unused"), report=report, encoder=encoder)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return name_models(tmp_path / "models")


@whole_cases("runnable", "encoder", "report", "own", "usual", "problems", "said")
def test_a_recipe_runs_with_the_vectors_and_models_that_it_needs(models: Path, case: Any) -> None:
    mine = NamedModel("ESOTERIC_ENCODER", "org/mine") if case.own else None
    found = runnable(
        RECIPES, case.encoder, having(models if case.report else None, mine), asks=False
    )
    assert (found.usual, sorted(found.problems)) == (case.usual, case.problems)
    for recipe, words in case.said.items():
        assert all(word in f"{found.problems[recipe]}" for word in words)


def test_missing_models_are_told_without_a_path_and_another_recipe_is_usual(models: Path) -> None:
    (models / "models.lock.json").write_text("[]")
    damaged = runnable(RECIPES, DPR, having(models), asks=False).problems["report"]
    shutil.rmtree(models / RELEVANCE.name)
    found = runnable(RECIPES, DPR, having(models), asks=False)
    missing = found.problems["report"]
    assert (found.usual, missing.code) == ("report", "report_models_missing")
    assert RELEVANCE.name in missing.message
    assert "is not a lock of models" in damaged.message
    assert not [one for one in (missing, damaged) if str(models) in f"{one}"]
    # The first recipe that can run is usual where the default cannot.
    recipes = {"combined": RECIPES["combined"], "mine": replace(RECIPES["report"], name="mine")}
    assert runnable(recipes, DPR, having(models), asks=False).usual == "mine"


# --- the names of stages

DOCUMENT = (CHECKOUT / "docs" / "stages.md").read_text(encoding="utf-8")


def test_recipes_name_stages_that_exist_and_every_stage_has_a_record() -> None:
    for recipe in (*RECIPES.values(), *ABLATIONS.values(), *VARIANTS.values()):
        assert set(recipe.first) <= set(FIRST)
        assert set(recipe.hop) <= set(HOP)
        assert set(recipe.next) <= set(NEXT)
    # Every stage that a file makes has a record.
    files = [p for p in (CHECKOUT / "retrieval/stages").glob("*/*.py") if p.stem != "__init__"]
    modules = [import_module(f"retrieval.stages.{p.parent.name}.{p.stem}") for p in files]
    made = {name for module in modules for name in getattr(module, "MAKERS", {})}
    asked = {name for module in modules for name in getattr(module, "EXPANDERS", {})}
    assert (made, asked) == ({*FIRST, *HOP}, set(NEXT))


def test_the_stage_of_the_documentation_drops_short_sentences() -> None:
    (code,) = re.findall(
        r"```python\n(# retrieval/stages/read/length\.py\n.*?)```", DOCUMENT, re.DOTALL
    )
    made: dict[str, Any] = {}
    exec(code, made)
    pier = ranked("Pier", "It is old.", "It was built in 1801.")
    chosen = tuple((pier, sentence) for sentence in pier.document.sentences)
    step = made["LengthFilter"](4).run(state_of("The pier is old.", chosen=chosen))
    assert [sentence.text for _, sentence in step.state.chosen] == ["It was built in 1801."]
    assert step.message == "1 short sentence dropped"
