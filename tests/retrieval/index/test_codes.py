"""Codes of a bit for each dimension tell inner products to a few hundredths."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.index.formats.codes import codes, products, rotation, signs


def units(count: int, dimension: int, seed: int) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).standard_normal((count, dimension))
    unit: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit.astype(np.float32)


def test_the_turn_leaves_inner_products_as_they_are() -> None:
    turn = rotation(384)
    assert turn @ turn.T == pytest.approx(np.eye(384), abs=1e-5)


def test_eight_signs_lie_in_a_byte() -> None:
    row = np.array([[1, -1, -1, 2, 0, -3, 4, 5, -1, 1]], dtype=np.float32)
    # 1 0 0 1 0 0 1 1 and 0 1, filled up with zeros; what is zero counts as negative.
    assert signs(row).tolist() == [[0b10010011, 0b01000000]]


def test_estimates_lie_near_the_inner_products_and_to_neither_side_of_them() -> None:
    turn = rotation(384)
    (query,) = units(1, 384, seed=1)
    vectors = units(2000, 384, seed=2)
    # From nearly the query to nearly its opposite, as words of one kind or another would lie.
    shares = np.linspace(-1, 1, 2000, dtype=np.float32)[:, None]
    mixed = shares * query + (1 - np.abs(shares)) * vectors
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    errors = products(query @ turn, codes(mixed @ turn)) - mixed @ query
    assert np.abs(errors).max() < 0.2
    assert np.sqrt((errors**2).mean()) < 0.05
    assert abs(errors.mean()) < 0.01


def test_what_is_equally_coded_is_equally_near_wherever_it_stands() -> None:
    vectors = np.repeat(units(1, 384, seed=3), 50, axis=0)
    (query,) = units(1, 384, seed=4)
    assert len(set(products(query, codes(vectors)).tolist())) == 1


def test_a_vector_of_zeros_is_near_to_nothing() -> None:
    zeros = np.zeros((2, 384), dtype=np.float32)
    assert products(units(1, 384, seed=5)[0], codes(zeros)).tolist() == [0, 0]
