"""What the shipped models are known by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrieval import models
from retrieval.models import AddedModels, judge_name, models_digest
from retrieval.recipes import RECIPES


def test_results_of_other_models_have_another_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "MODELS", tmp_path)

    def ship(name: str, sha256: str) -> str:
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "config.json").write_text(json.dumps({"sha256": sha256}))
        return models_digest(AddedModels())

    one, two, other = ship("reader", "aa"), ship("path", "aa"), ship("reader", "bb")
    assert len({one, two, other}) == 3
    assert ship("reader", "aa") == two

    bart = tmp_path / "bart"
    bart.mkdir()
    for name in ("config.json", "pytorch_model.bin", "tokenizer.json"):
        (bart / name).write_text("{}")
    first = models_digest(AddedModels(bart=bart))
    (bart / "pytorch_model.bin").write_text("{ }")
    assert len({two, first, models_digest(AddedModels(bart=bart))}) == 3


def test_a_verdict_names_the_models_that_read_for_it(tmp_path: Path) -> None:
    large = AddedModels(verifier_base=tmp_path)
    alone, combined = RECIPES["esoteric"], RECIPES["combined"]
    assert judge_name(alone, AddedModels()) == "MiniLM reader 2"
    assert judge_name(alone, large) == "MiniLM reader 2 and MPNet verifier 2"
    assert judge_name(combined, large) == (
        "MiniLM reader 2, MiniLM path reader 1, MPNet verifier 2 and MiniLM prover 1"
    )
