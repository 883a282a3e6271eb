"""A body is opened in ONNX Runtime, and in PyTorch where that fails."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from retrieval.errors import ModelUnavailable
from retrieval.models.networks import runtime
from retrieval.models.networks.arrays import Array
from retrieval.models.networks.interface import batch
from retrieval.models.networks.network import open_network, word_embeddings
from retrieval.models.networks.torch_network import TorchNetwork
from tests.retrieval.models.networks.tiny import PLACES, TinyBase, tiny_rows

ROWS = tiny_rows(5, 9)


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_kept", tmp_path)


@pytest.mark.models
def test_where_onnx_runtime_fails_pytorch_computes_and_a_warning_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("this processor is unknown")

    base = TinyBase()
    ours = open_network("relevance", base, base.weights, "1", PLACES).states(ROWS)
    with monkeypatch.context() as patched, caplog.at_level(logging.WARNING):
        patched.setattr(onnxruntime, "InferenceSession", fail)
        fallback = open_network("relevance", base, base.weights, "1", PLACES)
    assert isinstance(fallback, TorchNetwork)
    (record,) = caplog.records
    assert "relevance" in record.message
    assert "this processor is unknown" in record.message
    theirs = fallback.states(ROWS)
    assert np.array_equal(ours.mask, theirs.mask)
    read = ours.mask.astype(bool)
    assert np.abs(ours.vectors[read] - theirs.vectors[read]).mean() < 0.06


@pytest.mark.models
def test_weights_that_are_missing_are_not_looked_for_by_pytorch() -> None:
    def missing() -> Mapping[str, Array]:
        raise ModelUnavailable("model_missing", "The package is missing.", "Install it.")

    with pytest.raises(ModelUnavailable, match="The package is missing"):
        open_network("relevance", TinyBase(), missing, "1", PLACES)


def test_word_embeddings_are_those_of_the_base_and_no_copy() -> None:
    base = TinyBase()
    words = word_embeddings(base)
    assert isinstance(words, np.memmap)
    assert np.array_equal(words, base.weights()["embeddings.word_embeddings.weight"])


def test_shorter_rows_are_filled_with_padding() -> None:
    ids, mask = batch([[5, 6, 7], [8]], padding=1)
    assert ids.tolist() == [[5, 6, 7], [8, 1, 1]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0]]
