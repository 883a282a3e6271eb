"""A search in more documents than it reads: their signs decide which it reads."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from retrieval.index.embedded import vectors as searched
from retrieval.index.embedded.vectors import EncodedDocuments, NewVectors, Vectors
from retrieval.index.formats.codes import as_bytes, codes, rotation, signs
from tests.retrieval.index.test_codes import units

COUNT = 10_000
NONE = np.zeros(0, dtype=np.int64)


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


def test_new_vectors_are_numbered_from_their_first_and_keep_their_signs(
    whole: NDArray[np.float32], tmp_path_factory: pytest.TempPathFactory
) -> None:
    bits = signs(whole[:3])
    new = NewVectors(tmp_path_factory.mktemp("vectors") / "vectors", 7)
    new.add(EncodedDocuments(as_bytes(whole[:3]), bits, codes(whole[:4]), [1, 0, 3]))
    assert new.end == 10
    assert new.signs().tolist() == bits.tolist()


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


def test_what_is_left_out_is_not_found_and_the_rest_is(
    vectors: Vectors, whole: NDArray[np.float32]
) -> None:
    query = near(whole, 42)
    (found,) = vectors.nearest(query, 3, np.array([42]))
    assert 42 not in found.documents
    assert len(found.documents) == 3


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
