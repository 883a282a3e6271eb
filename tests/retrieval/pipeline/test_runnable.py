"""Which recipes can run over which index."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.models.folders import ModelFolders, NamedModel
from retrieval.models.papers.report_models import RELEVANCE
from retrieval.pipeline.runnable import runnable
from retrieval.recipes.recipes import RECIPES
from tests.retrieval.models.tiny_report import name_models

MINILM, DPR = "all-MiniLM-L6-v2 1a2b", "dpr-ctx_encoder-single-nq-base 3c4d"
SHIPPED = {"combined", "esoteric", "admiral", "m3", "fer"}


def having(report: Path | None, encoder: NamedModel | None = None) -> ModelFolders:
    return ModelFolders(Path("unused"), report=report, encoder=encoder)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return name_models(tmp_path / "models")


@pytest.mark.parametrize("encoder", [MINILM, "static 5e6f", ""])
def test_vectors_of_the_shipped_encoders_and_none_run_every_recipe_but_report(
    encoder: str, models: Path
) -> None:
    for report in (None, models):
        found = runnable(RECIPES, encoder, having(report))
        assert found.usual == "combined"
        assert set(found.problems) == {"report"}


def test_vectors_of_dpr_run_report_alone_which_is_then_the_usual_recipe(models: Path) -> None:
    found = runnable(RECIPES, DPR, having(models))
    assert found.usual == "report"
    assert set(found.problems) == SHIPPED
    assert "`esoteric index encode`" in found.problems["combined"].hint


@pytest.mark.parametrize("encoder", [MINILM, ""])
def test_models_without_vectors_of_dpr_are_not_enough(encoder: str, models: Path) -> None:
    problem = runnable(RECIPES, encoder, having(models)).problems["report"]
    assert problem.code == "index_encoder"
    assert "`esoteric index encode --vectors dpr`" in problem.hint


def test_missing_models_a_damaged_lock_and_no_setting_are_told_without_a_path(models: Path) -> None:
    unset = runnable(RECIPES, DPR, having(None)).problems["report"]
    (models / "models.lock.json").write_text("[]")
    damaged = runnable(RECIPES, DPR, having(models)).problems["report"]
    shutil.rmtree(models / RELEVANCE.name)
    found = runnable(RECIPES, DPR, having(models))
    missing = found.problems["report"]
    assert (found.usual, missing.code) == ("report", "report_models_missing")
    assert RELEVANCE.name in missing.message
    assert unset.code == "report_models_unset"
    assert "`esoteric models fetch report`" in unset.hint
    assert "is not a lock of models" in damaged.message
    assert not [one for one in (missing, damaged) if str(models) in f"{one}"]


def test_the_first_recipe_that_can_run_is_usual_where_the_default_cannot(models: Path) -> None:
    mine = replace(RECIPES["report"], name="mine")
    found = runnable({"combined": RECIPES["combined"], "mine": mine}, DPR, having(models))
    assert found.usual == "mine"


def test_vectors_of_another_encoder_and_the_encoder_that_is_set_must_agree() -> None:
    mine = NamedModel("ESOTERIC_ENCODER", "org/mine")
    unset = runnable(RECIPES, "own mine 7a8b", having(None)).problems["combined"]
    assert "ESOTERIC_ENCODER names none" in unset.message
    other = runnable(RECIPES, MINILM, having(None, mine)).problems["combined"]
    assert "`esoteric index encode --vectors own`" in other.hint
    agreed = runnable(RECIPES, "own mine 7a8b", having(None, mine))
    assert set(agreed.problems) == {"report"}
