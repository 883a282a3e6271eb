"""Codes tell inner products nearly; in many documents, signs decide which a search reads."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from retrieval.index.embedded import vectors as searched
from retrieval.index.embedded.vectors import EncodedDocuments, NewVectors, Vectors
from retrieval.index.formats.codes import as_bytes, codes, products, rotation, signs

COUNT = 10_000
NONE = np.zeros(0, dtype=np.int64)


def units(count: int, dimension: int, seed: int) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).standard_normal((count, dimension))
    unit: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit.astype(np.float32)


@pytest.fixture(scope="module")
def whole() -> NDArray[np.float32]:
    """A vector for each document, which is that of its only sentence too."""
    return units(COUNT, 384, seed=6)


@pytest.fixture(scope="module")
def vectors(whole: NDArray[np.float32], tmp_path_factory: pytest.TempPathFactory) -> Vectors:
    path = tmp_path_factory.mktemp("vectors") / "vectors"
    turn = rotation(384)
    # In two parts, as a build adds them, of which the second goes on after the first.
    for some in (whole[:1234], whole[1234:]):
        new = NewVectors(path, 0)
        turned = some @ turn
        new.add(EncodedDocuments(as_bytes(some), signs(turned), codes(turned), [1] * len(some)))
        new.close()
    return Vectors(path, turn, signs(whole @ turn))


def near(whole: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    """A query whose inner product with one document is about 0.7."""
    query = whole[number] + units(1, 384, seed=number)[0]
    found: NDArray[np.float32] = (query / np.linalg.norm(query))[None]
    return found


def test_the_nearest_of_many_is_found(vectors: Vectors, whole: NDArray[np.float32]) -> None:
    for number in range(0, COUNT, 400):
        (found,) = vectors.nearest(near(whole, number), 3, NONE)
        assert found.documents[0] == number
        assert found.similarities[0] == pytest.approx(
            near(whole, number)[0] @ whole[number], abs=0.15
        )
        assert len(found.documents) == 3


def test_a_search_leaves_the_models_their_threads(
    vectors: Vectors, whole: NDArray[np.float32]
) -> None:
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        vectors.nearest(near(whole, 42), 3, NONE)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def test_a_search_looks_further_where_most_of_the_nearest_are_gone(
    vectors: Vectors, whole: NDArray[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searched, "_BY_SIGNS", 200)
    monkeypatch.setattr(searched, "_BY_SENTENCES", 50)
    query = near(whole, 42)
    turn = rotation(384)
    apart = np.bitwise_count(signs(whole @ turn) ^ signs(query @ turn)).sum(axis=1)
    order = np.argsort(apart, kind="stable")
    (found,) = vectors.nearest(query, 3, np.sort(order[:3000]))
    # The nearest 200 are gone, and so are the nearest 800; of 3200 there are 200 left.
    assert len(found.documents) == 3
    assert not np.isin(found.documents, order[:3000]).any()
    assert apart[found.documents].max() <= apart[order[3199]]


def test_the_last_few_of_many_that_are_gone_are_found(
    vectors: Vectors, whole: NDArray[np.float32]
) -> None:
    gone = np.arange(COUNT - 10)
    (found,) = vectors.nearest(near(whole, 42), 30, gone)
    assert sorted(found.documents.tolist()) == list(range(COUNT - 10, COUNT))


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
