"""Which recipes can run over which index."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.models.folders import ModelFolders
from retrieval.models.named_model import NamedModel
from retrieval.models.report.models import RELEVANCE
from retrieval.pipeline.runnable import runnable
from retrieval.recipes.recipes import RECIPES
from tests.retrieval.models.report.named_models import name_models

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
    problem = found.problems["combined"]
    assert problem.message == "Vectors of MiniLM are needed, and the index has vectors of DPR."
    assert problem.hint == "Choose another recipe, or run `esoteric index encode`."


def test_models_without_vectors_of_dpr_are_not_enough(models: Path) -> None:
    for encoder, has in ((MINILM, "vectors of MiniLM"), ("", "no vectors")):
        problem = runnable(RECIPES, encoder, having(models)).problems["report"]
        assert problem.code == "index_encoder"
        assert problem.message == f"Vectors of DPR are needed, and the index has {has}."
        assert "`esoteric index encode --vectors dpr`" in problem.hint


def test_missing_models_are_named_without_the_path_of_their_folder(models: Path) -> None:
    shutil.rmtree(models / RELEVANCE.name)
    found = runnable(RECIPES, DPR, having(models))
    problem = found.problems["report"]
    assert (found.usual, problem.code) == ("report", "report_models_missing")
    assert problem.message == (
        "The folder of ESOTERIC_REPORT_MODELS lacks models of the report: distilbert-relevance."
    )
    assert str(models) not in f"{found.problems}"


def test_a_damaged_lock_is_a_reason_without_a_path(models: Path) -> None:
    (models / "models.lock.json").write_text("[]")
    problem = runnable(RECIPES, DPR, having(models)).problems["report"]
    assert problem.message.endswith("is not a lock of models.")
    assert str(models) not in problem.message


def test_without_the_setting_the_reason_says_what_to_set() -> None:
    problem = runnable(RECIPES, DPR, having(None)).problems["report"]
    assert problem.code == "report_models_unset"
    assert problem.hint == (
        "Choose another recipe, or set ESOTERIC_REPORT_MODELS to a folder and run"
        " `esoteric models fetch report`."
    )


def test_the_first_recipe_that_can_run_is_usual_where_the_default_cannot(models: Path) -> None:
    mine = replace(RECIPES["report"], name="mine")
    found = runnable({"combined": RECIPES["combined"], "mine": mine}, DPR, having(models))
    assert found.usual == "mine"


def test_vectors_of_another_encoder_and_the_encoder_that_is_set_must_agree() -> None:
    mine = NamedModel("ESOTERIC_ENCODER", "org/mine")
    unset = runnable(RECIPES, "own mine 7a8b", having(None)).problems["combined"]
    assert unset.message == (
        "The index has vectors of another encoder, and ESOTERIC_ENCODER names none."
    )
    other = runnable(RECIPES, MINILM, having(None, mine)).problems["combined"]
    assert "the index has vectors of MiniLM" in other.message
    assert "`esoteric index encode --vectors own`" in other.hint
    agreed = runnable(RECIPES, "own mine 7a8b", having(None, mine))
    assert set(agreed.problems) == {"report"}
