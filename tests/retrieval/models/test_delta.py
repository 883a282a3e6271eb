from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from retrieval.errors import ModelUnavailable
from retrieval.models.trained_model import heads, read_difference, trained_body
from retrieval.system.files import digest_of

MATRIX = "distilbert.transformer.layer.0.ffn.lin1.weight"
VECTOR = "distilbert.transformer.layer.0.ffn.lin1.bias"
BASE = {
    MATRIX: np.ones((3, 2), np.float32),
    VECTOR: np.ones(3, np.float32),
    "distilbert.embeddings.word_embeddings.weight": np.ones((2, 2), np.float32),
}
EIGHT_BITS = {
    f"{MATRIX}@left": np.array([[1], [2], [-4]], np.int8),
    f"{MATRIX}@right": np.array([[10, 20]], np.int8),
    f"{MATRIX}@scale": np.array([0.5], np.float32),
    VECTOR: np.array([0.5, 0, -1], np.float16),
    "classifier.weight": np.array([[7.0]], np.float16),
}


def test_matrices_change_by_the_product_of_two_thin_ones_and_vectors_by_what_is_kept() -> None:
    trained = trained_body(BASE, EIGHT_BITS, Path("models/relevance"))
    # 1 + 0.5 * (1, 2, -4) * (10, 20)
    assert trained[MATRIX].tolist() == [[6, 11], [11, 21], [-19, -39]]
    assert trained[VECTOR].tolist() == [1.5, 1, 0]
    assert trained.keys() == BASE.keys()
    assert BASE[MATRIX].tolist() == [[1, 1]] * 3


def test_thin_matrices_without_a_scale_are_multiplied_as_they_are() -> None:
    before = {
        f"{MATRIX}@left": np.array([[1], [2], [-4]], np.float16),
        f"{MATRIX}@right": np.array([[0.5, 1]], np.float16),
    }
    trained = trained_body(BASE, before, Path("models/relevance"))
    assert trained[MATRIX].tolist() == [[1.5, 2], [2, 3], [-1, -3]]


def test_heads_are_what_has_no_base() -> None:
    found = heads(EIGHT_BITS)
    assert found.keys() == {"classifier.weight"}
    assert found["classifier.weight"].dtype == np.float32


def test_a_difference_is_read_if_it_is_the_one_that_was_trained(tmp_path: Path) -> None:
    path = tmp_path / "delta.safetensors"
    save_file(EIGHT_BITS, path)
    read = read_difference(tmp_path, digest_of(path))
    assert {name: array.tolist() for name, array in read.items()} == {
        name: array.tolist() for name, array in EIGHT_BITS.items()
    }
    with pytest.raises(ModelUnavailable, match="not the expected one"):
        read_difference(tmp_path, "0" * 64)
    with pytest.raises(ModelUnavailable, match="is missing"):
        read_difference(tmp_path / "relevance", "0" * 64)


def test_a_difference_of_other_base_weights_is_refused() -> None:
    other = {"distilbert.transformer.layer.9.ffn.lin1.bias": np.zeros(3, np.float16)}
    with pytest.raises(ModelUnavailable, match="belongs to other base weights"):
        trained_body(BASE, other, Path("models/relevance"))
