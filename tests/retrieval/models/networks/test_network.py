"""A body is opened in ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from retrieval.errors import ModelUnavailable
from retrieval.models import runtime
from retrieval.models.networks import batch, open_network, word_embeddings
from tests.retrieval.models.networks.tiny import PLACES, TinyBase


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_kept", tmp_path)


def test_where_onnx_runtime_does_not_work_the_error_says_why_and_how_to_repair_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("this processor is unknown")

    base = TinyBase()
    monkeypatch.setattr(onnxruntime, "InferenceSession", fail)
    with pytest.raises(ModelUnavailable, match="this processor is unknown") as refused:
        open_network("relevance", base, base.weights, "1", PLACES)
    assert "pip install" in refused.value.hint


def test_word_embeddings_are_those_of_the_base_and_no_copy() -> None:
    base = TinyBase()
    words = word_embeddings(base)
    assert isinstance(words, np.memmap)
    assert np.array_equal(words, base.weights()["embeddings.word_embeddings.weight"])


def test_shorter_rows_are_filled_with_padding() -> None:
    ids, mask = batch([[5, 6, 7], [8]], padding=1)
    assert ids.tolist() == [[5, 6, 7], [8, 1, 1]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0]]
