"""What the shipped models are known by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrieval import models
from retrieval.models import (
    PATH,
    PROVER,
    READER,
    SELECTOR,
    VERIFIER,
    ModelFolders,
    judge_name,
    models_digest,
    reading_models,
)
from retrieval.recipes import RECIPES
from retrieval.trained.trained_model import read_config, version_of


def test_results_of_other_models_have_another_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "MODELS", tmp_path)

    def ship(name: str, sha256: str) -> str:
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "config.json").write_text(json.dumps({"sha256": sha256}))
        return models_digest(ModelFolders(tmp_path))

    one, two, other = ship("reader", "aa"), ship("path", "aa"), ship("reader", "bb")
    assert len({one, two, other}) == 3
    assert ship("reader", "aa") == two

    bart = tmp_path / "bart"
    bart.mkdir()
    for name in ("config.json", "pytorch_model.bin", "tokenizer.json"):
        (bart / name).write_text("{}")
    first = models_digest(ModelFolders(tmp_path, bart=bart))
    (bart / "pytorch_model.bin").write_text("{ }")
    assert len({two, first, models_digest(ModelFolders(tmp_path, bart=bart))}) == 3


def test_a_verdict_names_the_verifier_with_its_version() -> None:
    assert judge_name() == version_of(read_config(VERIFIER))
    assert judge_name().startswith("MPNet verifier ")


@pytest.mark.parametrize(
    ("recipe", "folders"),
    [
        ("esoteric", [READER, VERIFIER]),
        ("m3", [READER, PATH, VERIFIER]),
        ("combined", [READER, PATH, VERIFIER, PROVER]),
        ("fer", [READER, VERIFIER, SELECTOR]),
        ("report", [VERIFIER]),
    ],
)
def test_the_models_that_read_for_a_recipe_are_those_of_its_stages(
    recipe: str, folders: list[Path]
) -> None:
    assert reading_models(RECIPES[recipe]) == folders
