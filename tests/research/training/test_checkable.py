"""How the checkable sentences and the references are measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.training.checkable import found, read_sentences, resolved_in, train_checkable
from retrieval.checkable.kind_rules import WEIGHTS, read_model
from retrieval.text.english import EnglishParser


def test_precision_and_recall_are_those_of_the_facts() -> None:
    figures = found(
        ["fact", "fact", "fact", "opinion", "vague"], ["fact", "fact", "opinion", "fact", "vague"]
    )
    assert figures.precision == pytest.approx(2 / 3)
    assert figures.recall == pytest.approx(2 / 3)
    assert figures.f1 == pytest.approx(2 / 3)
    assert figures.kinds == pytest.approx(3 / 5)


def test_no_sentence_is_in_both_parts_and_no_wording_either() -> None:
    train, held_out = read_sentences("train"), read_sentences("held-out")
    assert len(train) + len(held_out) > 500
    assert not {one.text for one in train} & {one.text for one in held_out}
    assert not {one.wording for one in train} & {one.wording for one in held_out}


@pytest.mark.models
def test_the_shipped_model_is_what_training_makes(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    train_checkable(tmp_path)
    made, shipped = read_model(tmp_path), read_model()
    assert made.kinds == shipped.kinds
    assert made.weights == pytest.approx(shipped.weights, abs=0.02)
    assert "| rules and model |" in (tmp_path / "README.md").read_text(encoding="utf-8")
    assert (tmp_path / WEIGHTS).stat().st_size < 100_000


@pytest.mark.models
def test_the_references_of_the_passages_are_resolved_without_an_error() -> None:
    parser = EnglishParser()
    resolved = resolved_in("held-out", parser)
    assert resolved.wrong == 0
    assert resolved.right > 30
    traps = resolved_in("traps-held-out", parser)
    assert traps.wrong == 0
    assert traps.unclear > traps.right
