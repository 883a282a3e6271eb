"""What the shipped models are known by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrieval.models import shipped
from retrieval.models.folders import ModelFolders
from retrieval.models.own_verifier import read_classifier, write_calibration
from retrieval.models.shipped import (
    PATH,
    PROVER,
    RELEVANCE_MODEL,
    SELECTOR,
    VERIFIER,
    judge_name,
    models_digest,
    reading_models,
)
from retrieval.models.trained_model import read_config, version_of
from retrieval.recipes.recipes import RECIPES
from tests.retrieval.models.cross_encoders.tiny_classifiers import write_tiny_classifier


def test_results_of_other_models_have_another_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "MODELS", tmp_path)

    def ship(name: str, sha256: str) -> str:
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "config.json").write_text(json.dumps({"sha256": sha256}))
        return models_digest(ModelFolders(tmp_path))

    one, two, other = ship("relevance", "aa"), ship("path", "aa"), ship("relevance", "bb")
    assert len({one, two, other}) == 3
    assert ship("relevance", "aa") == two

    bart = tmp_path / "bart"
    bart.mkdir()
    for name in ("config.json", "pytorch_model.bin", "tokenizer.json"):
        (bart / name).write_text("{}")
    first = models_digest(ModelFolders(tmp_path, bart=bart))
    (bart / "pytorch_model.bin").write_text("{ }")
    assert len({two, first, models_digest(ModelFolders(tmp_path, bart=bart))}) == 3


def test_results_of_another_verifier_or_calibration_have_another_digest(tmp_path: Path) -> None:
    def digest(verifier: Path | None) -> str:
        return models_digest(ModelFolders(tmp_path, verifier=verifier))

    folder = write_tiny_classifier(tmp_path / "nli")
    shipped, own = digest(None), digest(folder)
    other = digest(write_tiny_classifier(tmp_path / "other", seed=1))
    write_calibration(read_classifier(folder), {"temperature": 1.5})
    assert len({shipped, own, other, digest(folder)}) == 4


def test_a_verdict_names_the_verifier_with_its_version(tmp_path: Path) -> None:
    name = judge_name(ModelFolders(tmp_path))
    assert name == version_of(read_config(VERIFIER))
    assert name.startswith("MPNet verifier ")


@pytest.mark.parametrize(
    ("recipe", "folders"),
    [
        ("esoteric", [RELEVANCE_MODEL, VERIFIER]),
        ("m3", [RELEVANCE_MODEL, PATH, VERIFIER]),
        ("combined", [RELEVANCE_MODEL, PATH, VERIFIER, PROVER]),
        ("fer", [RELEVANCE_MODEL, VERIFIER, SELECTOR]),
        ("report", [VERIFIER]),
    ],
)
def test_the_models_that_read_for_a_recipe_are_those_of_its_stages(
    recipe: str, folders: list[Path]
) -> None:
    assert reading_models(RECIPES[recipe]) == folders
