"""Exact search for the stored vectors with the largest inner products."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# So many rows are turned into float32 at a time that they stay in the processor's cache,
# which takes about a quarter of the time that turning 40,000 at once takes.
_STEP = 2048
_BLOCK = 32 * _STEP
# How far two sums of the same float32 products in different orders may lie apart.
_SLACK = 1e-5

_NO_ROWS = np.zeros(0, dtype=np.int64)


def nearest_rows(
    vectors: NDArray[np.float16],
    queries: NDArray[np.float32],
    limit: int,
    left_out: NDArray[np.int64] = _NO_ROWS,
) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Return for each query the rows of ``vectors`` nearest to it, with their inner products.

    Best first: the ``limit`` best, and all that equal the last of them, of all rows
    but those ``left_out``. ``vectors``
    has shape (rows, dimension) and may be mapped: what is held of it in memory does
    not grow with its length. Equal rows have equal products wherever they stand.
    """
    if limit < 1 or not len(vectors) or not len(queries):
        return [(np.zeros(0, np.int64), np.zeros(0)) for _ in queries]
    kept = [(np.zeros(0, np.float32), np.zeros(0, np.int64)) for _ in queries]
    for start in range(0, len(vectors), _BLOCK):
        products = _products(vectors[start : start + _BLOCK], queries)
        here = (left_out >= start) & (left_out < start + _BLOCK)
        products[:, left_out[here] - start] = -np.inf
        for number, (best, rows) in enumerate(kept):
            leading = _leading(products[number], limit, _SLACK)
            best = np.concatenate([best, products[number, leading]])
            rows = np.concatenate([rows, start + leading])
            leading = _leading(best, limit, _SLACK)
            leading = leading[best[leading] > -np.inf]
            kept[number] = best[leading], rows[leading]
    return [
        _exactly(vectors, query, rows, limit)
        for query, (_, rows) in zip(queries, kept, strict=True)
    ]


def _products(block: NDArray[np.float16], queries: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the inner products, shape (queries, rows)."""
    import torch

    # Copied as they are and then by PyTorch, which turns them several times as fast as NumPy
    # but takes no array that is only to be read.
    halves = torch.empty((_STEP, block.shape[1]), dtype=torch.float16)
    singles = torch.empty((_STEP, block.shape[1]))
    asked = torch.tensor(queries)
    products = torch.empty((len(queries), len(block)))
    for start in range(0, len(block), _STEP):
        rows = block[start : start + _STEP]
        halves.numpy()[: len(rows)] = rows
        singles.copy_(halves)
        products[:, start : start + len(rows)] = asked @ singles[: len(rows)].T
    found: NDArray[np.float32] = products.numpy()
    return found


def _leading(products: NDArray[np.floating], limit: int, slack: float) -> NDArray[np.intp]:
    """Return where the ``limit`` largest are, and those less than ``slack`` below them."""
    if len(products) <= limit:
        return np.arange(len(products))
    last = np.partition(products, len(products) - limit)[len(products) - limit]
    return np.flatnonzero(products >= last - slack)


def _exactly(
    vectors: NDArray[np.float16], query: NDArray[np.float32], rows: NDArray[np.int64], limit: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    # Row by row in float64: a matrix product adds in an order that depends on a row's place.
    products = (vectors[rows].astype(np.float64) * query).sum(axis=1)
    leading = _leading(products, limit, 0.0)
    order = leading[np.argsort(-products[leading], kind="stable")]
    return rows[order], products[order]
