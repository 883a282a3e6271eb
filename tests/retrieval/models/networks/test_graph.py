"""What the 8-bit graph computes, beside what PyTorch does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from research.benchmarks.torch_network import TorchNetwork
from retrieval.models.arrays import Array, Body
from retrieval.models.graph import body_graph
from retrieval.models.networks import Network, States, Tokenizer, open_network
from retrieval.models.packaged import MiniLM, MPNet
from tests.retrieval.models.networks.tiny import HEADS, PLACES, TinyBase, tiny_rows

TEXTS = [
    "The lighthouse was painted red in 1884, and storms broke its lamp twice.",
    "Short.",
    "Ann Lee designed the pier. " * 12,
]
ROWS = tiny_rows(7, 1, PLACES, 12)


def opened(body: Body, folder: Path, first_only: bool = False) -> Network:
    layers = folder / f"{first_only}.onnx"
    layers.write_bytes(body_graph(body, first_only).SerializeToString())
    return Network(layers, body.words, padding=0)


def of_tokens(states: States) -> Array:
    """The states of all tokens that are no padding, ``(tokens, width)``."""
    found: Array = states.vectors[states.mask.astype(bool)]
    return found


def biased(body: Body) -> Body:
    """The body with something added to the attention between every two places."""
    bias = np.random.default_rng(2).normal(size=(HEADS, PLACES, PLACES))
    return replace(body, attention_bias=bias.astype(np.float32))


def tiny_body() -> Body:
    base = TinyBase()
    return base.body(base.weights(), PLACES)


@pytest.mark.models
def test_minilm_gives_the_states_that_pytorch_gives() -> None:
    base = MiniLM()
    weights = base.weights()
    rows = Tokenizer(base.tokenizer_file(), 128).texts(TEXTS)
    network = open_network("compared", base, lambda: weights, "packaged", 128)
    ours = of_tokens(network.states(rows))
    theirs = of_tokens(TorchNetwork(base.torch_body(weights), base.padding).states(rows))
    assert ours.shape == (sum(map(len, rows)), 384)
    assert np.abs(ours - theirs).mean() < 0.03
    assert cosines(ours, theirs).min() > 0.97


@pytest.mark.models
def test_mpnet_gives_the_states_that_pytorch_gives(unpacked: Path) -> None:
    base = MPNet(unpacked)
    weights = base.weights()
    rows = Tokenizer(base.tokenizer_file(), 128).texts(TEXTS)
    network = open_network("compared", base, lambda: weights, "packaged", 128)
    ours = of_tokens(network.states(rows))
    theirs = of_tokens(TorchNetwork(base.torch_body(weights), base.padding).states(rows))
    assert np.abs(ours - theirs).mean() < 0.02
    assert cosines(ours, theirs).min() > 0.97


def cosines(some: Array, others: Array) -> Array:
    lengths = np.linalg.norm(some, axis=1) * np.linalg.norm(others, axis=1)
    found: Array = (some * others).sum(axis=1) / lengths
    return found


def test_a_small_body_gives_the_states_that_pytorch_gives(tmp_path: Path) -> None:
    base = TinyBase()
    ours = of_tokens(opened(tiny_body(), tmp_path).states(ROWS))
    theirs = of_tokens(TorchNetwork(base.torch_body(base.weights()), 0).states(ROWS))
    # Random numbers in every weight are harder to round than those of a trained body.
    assert np.abs(ours - theirs).mean() < 0.06
    assert cosines(ours, theirs).min() > 0.99


def test_what_is_added_to_the_attention_counts(tmp_path: Path) -> None:
    (tmp_path / "biased").mkdir()
    plain = of_tokens(opened(tiny_body(), tmp_path).states(ROWS))
    added = of_tokens(opened(biased(tiny_body()), tmp_path / "biased").states(ROWS))
    assert np.abs(plain - added).mean() > 0.1


@pytest.mark.parametrize("with_bias", [False, True])
def test_the_first_states_are_the_same_where_no_others_are_computed(
    tmp_path: Path, with_bias: bool
) -> None:
    body = biased(tiny_body()) if with_bias else tiny_body()
    whole = opened(body, tmp_path).states(ROWS)
    first = opened(body, tmp_path, first_only=True).states(ROWS)
    assert first.vectors.shape == (len(ROWS), 1, whole.vectors.shape[2])
    assert np.allclose(first.first, whole.first, atol=1e-5)


@pytest.mark.parametrize("with_bias", [False, True])
def test_the_states_of_a_row_do_not_depend_on_other_rows_of_its_batch(
    tmp_path: Path, with_bias: bool
) -> None:
    network = opened(biased(tiny_body()) if with_bias else tiny_body(), tmp_path)
    together = network.states(ROWS)
    for number, row in enumerate(ROWS):
        alone = network.states([row])
        assert np.allclose(together.vectors[number, : len(row)], alone.vectors[0], atol=1e-4)
        assert np.allclose(together.mean[number], alone.mean[0], atol=1e-4)


def test_tokens_whose_numbers_are_all_zero_are_computed_as_by_pytorch(tmp_path: Path) -> None:
    width = tiny_body().words.shape[1]
    nothing = np.zeros(width, np.float32)
    # Every token enters the first layer as zeros.
    base = TinyBase(
        changed={"embeddings.LayerNorm.weight": nothing, "embeddings.LayerNorm.bias": nothing}
    )
    weights = base.weights()
    ours = of_tokens(opened(base.body(weights, PLACES), tmp_path).states(ROWS))
    theirs = of_tokens(TorchNetwork(base.torch_body(weights), 0).states(ROWS))
    assert np.isfinite(ours).all()
    assert np.abs(ours - theirs).max() < 0.2
