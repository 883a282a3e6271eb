"""A search of more documents than it looks into: their signs decide which it looks into."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from retrieval.files import write_array
from retrieval.index import vectors as searched
from retrieval.index.array_file import ArrayFile
from retrieval.index.codes import codes, rotation, signs
from retrieval.index.vectors import (
    DOCUMENT_SIGNS,
    DOCUMENTS,
    ROTATION,
    SENTENCE_CODES,
    Vectors,
    as_bytes,
)
from tests.index.test_codes import units

COUNT = 10_000
NONE = np.zeros(0, dtype=np.int64)


@pytest.fixture(scope="module")
def whole() -> NDArray[np.float32]:
    """A vector for each document, which is its only sentence's too."""
    return units(COUNT, 384, seed=6)


@pytest.fixture(scope="module")
def vectors(whole: NDArray[np.float32], tmp_path_factory: pytest.TempPathFactory) -> Vectors:
    folder = tmp_path_factory.mktemp("vectors")
    turn = rotation(384)
    write_array(folder / ROTATION, turn)
    for name, rows in (
        (DOCUMENTS, as_bytes(whole)),
        (DOCUMENT_SIGNS, signs(whole @ turn)),
        (SENTENCE_CODES, codes(whole @ turn)),
    ):
        # In two pieces, as a build writes them.
        with ArrayFile(folder / name, rows.shape[1], rows.dtype.type) as file:
            file.append(rows[:1234])
            file.append(rows[1234:])
    return Vectors(folder, np.arange(COUNT + 1))


def near(whole: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    """A query whose inner product with one document is about 0.7."""
    query = whole[number] + units(1, 384, seed=number)[0]
    found: NDArray[np.float32] = (query / np.linalg.norm(query))[None]
    return found


def test_the_vectors_come_back_as_exact_as_a_byte_makes_them(
    vectors: Vectors, whole: NDArray[np.float32]
) -> None:
    found = vectors.of([9999, 0, 0])
    assert found == pytest.approx(whole[[9999, 0, 0]], abs=0.002)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1)


def test_the_nearest_of_many_is_found(vectors: Vectors, whole: NDArray[np.float32]) -> None:
    for number in range(0, COUNT, 400):
        ((rows, similar),) = vectors.nearest(near(whole, number), 3, NONE)
        assert rows[0] == number
        assert similar[0] == pytest.approx(near(whole, number)[0] @ whole[number], abs=0.15)
        assert len(rows) == 3


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


def test_what_is_left_out_is_not_found_and_the_rest_is(
    vectors: Vectors, whole: NDArray[np.float32]
) -> None:
    query = near(whole, 42)
    ((rows, _),) = vectors.nearest(query, 3, np.array([42]))
    assert 42 not in rows
    assert len(rows) == 3


def test_a_search_looks_further_where_most_of_the_nearest_are_gone(
    vectors: Vectors, whole: NDArray[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searched, "_BY_SIGNS", 200)
    monkeypatch.setattr(searched, "_BY_SENTENCES", 50)
    query = near(whole, 42)
    turn = rotation(384)
    apart = np.bitwise_count(signs(whole @ turn) ^ signs(query @ turn)).sum(axis=1)
    order = np.argsort(apart, kind="stable")
    ((rows, _),) = vectors.nearest(query, 3, np.sort(order[:3000]))
    # The nearest 200 are gone, and so are the nearest 800; of 3200 there are 200 left.
    assert len(rows) == 3
    assert not np.isin(rows, order[:3000]).any()
    assert apart[rows].max() <= apart[order[3199]]


def test_the_last_few_of_many_that_are_gone_are_found(
    vectors: Vectors, whole: NDArray[np.float32]
) -> None:
    gone = np.arange(COUNT - 10)
    ((rows, _),) = vectors.nearest(near(whole, 42), 30, gone)
    assert sorted(rows.tolist()) == list(range(COUNT - 10, COUNT))
