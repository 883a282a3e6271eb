from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import DistilBertConfig, DistilBertForSequenceClassification

from research.training.loop import Example, Hyperparameters, classification_loss, labelled, train
from research.training.networks.minilm import pair_tokenizer
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS

RECIPE = Hyperparameters(
    epochs=2,
    batch_size=2,
    learning_rate=1e-4,
    weight_decay=0.01,
    warmup=0.1,
    max_tokens=32,
    seed=7,
)
EXAMPLES = [
    labelled("The pier is long.", "Pier : The pier is long.", SUPPORTS),
    labelled("The pier is short.", "Pier : The pier is long.", REFUTES),
    labelled("The pier is old.", "Pier : The pier is long.", NOT_ENOUGH_INFO),
    Example("The lamp is red.", "Lamp : The lamp is reddish.", (0.6, 0.3, 0.1)),
]


def untrained_classifier() -> DistilBertForSequenceClassification:
    """A small model, from a fixed seed; its dropout draws random numbers in each step."""
    config = DistilBertConfig(
        vocab_size=30522, dim=16, hidden_dim=32, n_layers=1, n_heads=2, num_labels=len(LABELS)
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return DistilBertForSequenceClassification(config)


class Stopped(Exception):
    """What stops a run in these tests."""


def run(
    folder: Path, recipe: Hyperparameters = RECIPE, stop_at: int = 0, moved: float = 0.0
) -> tuple[torch.Tensor, int]:
    """Train, and return a weight of the result and the steps that it took."""
    model, tokenizer = untrained_classifier(), pair_tokenizer()
    with torch.no_grad():
        model.classifier.bias.add_(moved)
    steps = 0

    def counted(*texts: Any, **settings: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps == stop_at:
            raise Stopped
        return tokenizer(*texts, **settings)

    loss_of = classification_loss(model, counted, recipe.max_tokens)  # type: ignore[arg-type]
    train(model, EXAMPLES, loss_of, recipe, folder, lambda model: {}, checkpoint_every=1)
    return model.distilbert.transformer.layer[0].ffn.lin1.weight.detach().clone(), steps


def test_a_run_that_was_stopped_ends_with_the_weights_of_one_that_was_not(tmp_path: Path) -> None:
    undisturbed, steps = run(tmp_path / "undisturbed")
    assert steps == 4  # two epochs of two batches
    with pytest.raises(Stopped):
        run(tmp_path / "stopped", stop_at=4)
    resumed, steps = run(tmp_path / "stopped")
    assert steps == 1
    assert torch.equal(resumed, undisturbed)


def test_a_checkpoint_of_another_recipe_is_not_continued(tmp_path: Path) -> None:
    run(tmp_path)
    _, steps = run(tmp_path, replace(RECIPE, learning_rate=2e-4))
    assert steps == 4


def test_the_learning_rate_falls_from_the_peak_to_the_last_rate(tmp_path: Path) -> None:
    recipe = replace(RECIPE, learning_rate=4e-4, last_rate=2e-4, warmup=0.0)
    run(tmp_path, recipe)
    kept = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    # After four of four steps; the next phase begins here.
    assert kept["schedule"]["_last_lr"] == pytest.approx([2e-4] * 4)


def test_a_phase_that_ends_early_has_the_last_rate_there(tmp_path: Path) -> None:
    recipe = replace(RECIPE, learning_rate=4e-4, last_rate=1e-4, warmup=0.0, steps=3)
    _, steps = run(tmp_path, recipe)
    assert steps == 3  # of four
    kept = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    assert kept["schedule"]["_last_lr"] == pytest.approx([1e-4] * 4)
    _, steps = run(tmp_path, recipe)
    assert steps == 0


def test_with_averaging_the_result_lies_between_the_start_and_the_last_step(tmp_path: Path) -> None:
    start = untrained_classifier().distilbert.transformer.layer[0].ffn.lin1.weight.detach()
    last, _ = run(tmp_path / "last")
    averaged, _ = run(tmp_path / "averaged", replace(RECIPE, averaging=0.9))
    assert 0 < (averaged - start).norm() < (last - start).norm()
    again, steps = run(tmp_path / "averaged", replace(RECIPE, averaging=0.9))
    assert steps == 0
    assert torch.equal(again, averaged)


def test_the_last_layer_may_learn_faster_than_the_body(tmp_path: Path) -> None:
    # The first step of Adam moves each weight by the learning rate, whatever its gradient is.
    recipe = replace(RECIPE, steps=1, warmup=0.0, weight_decay=0.0, last_layer=20.0)
    model = untrained_classifier()
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    loss_of = classification_loss(model, pair_tokenizer(), recipe.max_tokens)
    train(model, EXAMPLES, loss_of, recipe, tmp_path, lambda model: {})
    moved = {
        name: (weight - before[name]).abs().max().item()
        for name, weight in model.named_parameters()
    }
    assert moved["classifier.weight"] == pytest.approx(20 * 1e-4, rel=0.01)
    assert moved["pre_classifier.weight"] == pytest.approx(1e-4, rel=0.01)
    assert moved["distilbert.transformer.layer.0.ffn.lin1.weight"] == pytest.approx(1e-4, rel=0.01)
