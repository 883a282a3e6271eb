from __future__ import annotations

import numpy as np
import pytest

from retrieval.index import inner_products
from retrieval.index.inner_products import nearest_rows

AXES = np.eye(4, dtype=np.float32)


def test_the_best_rows_come_first_with_their_products() -> None:
    vectors = np.array(
        [[0.5, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [-1, 0.25, 0, 0]], dtype=np.float16
    )
    (one, two) = nearest_rows(vectors, AXES[:2], 2)
    assert (one[0].tolist(), one[1].tolist()) == ([2, 0], [1.0, 0.5])
    assert (two[0].tolist(), two[1].tolist()) == ([1, 3], [1.0, 0.25])


def test_all_that_equal_the_last_are_found_wherever_they_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inner_products, "_STEP", 3)
    monkeypatch.setattr(inner_products, "_BLOCK", 6)
    random = np.random.default_rng(5)
    vectors = random.normal(size=(50, 384)) / 100
    vectors[[4, 17, 33, 49]] = vectors[11] + 1
    vectors[11] += 1
    vectors[20] += 2
    query = np.full((1, 384), 384**-0.5, dtype=np.float32)
    ((rows, products),) = nearest_rows(vectors.astype(np.float16), query, 3)
    assert rows.tolist() == [20, 4, 11, 17, 33, 49]
    assert len(set(products[1:].tolist())) == 1


def test_rows_that_are_left_out_make_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inner_products, "_STEP", 1)
    monkeypatch.setattr(inner_products, "_BLOCK", 2)
    vectors = np.array([[0.5], [1], [0.25], [0.75]], dtype=np.float16)
    query, left_out = np.ones((1, 1), dtype=np.float32), np.array([3, 1])
    ((rows, products),) = nearest_rows(vectors, query, 2, left_out)
    assert (rows.tolist(), products.tolist()) == ([0, 2], [0.5, 0.25])
    ((rows, _),) = nearest_rows(vectors, query, 3, left_out)
    assert rows.tolist() == [0, 2]


def test_blocks_do_not_change_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(6)
    vectors = random.normal(size=(1000, 8)).astype(np.float16)
    queries = random.normal(size=(5, 8)).astype(np.float32)
    exact = vectors.astype(np.float64) @ queries.T
    whole = nearest_rows(vectors, queries, 10)
    monkeypatch.setattr(inner_products, "_STEP", 64)
    monkeypatch.setattr(inner_products, "_BLOCK", 128)
    blocks = nearest_rows(vectors, queries, 10)
    for number in range(5):
        expected = np.argsort(-exact[:, number])[:10].tolist()
        assert whole[number][0].tolist() == blocks[number][0].tolist() == expected


def test_without_rows_queries_or_a_limit_nothing_is_found() -> None:
    vectors = AXES.astype(np.float16)
    for found in (nearest_rows(vectors, AXES[:1], 0), nearest_rows(vectors[:0], AXES[:1], 3)):
        assert [(rows.tolist(), products.tolist()) for rows, products in found] == [([], [])]
    assert nearest_rows(vectors, AXES[:0], 3) == []
