"""A table that is read where a hash may stand finds what bisecting all of it finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.files import write_array
from retrieval.index.hash_table import HashTable, key_hash, table


def written(path: Path, hashes: NDArray[np.uint64], values: NDArray[np.uint64]) -> HashTable:
    write_array(path, table(hashes, values))
    return HashTable(path)


def hashes_of(keys: list[str]) -> NDArray[np.uint64]:
    return np.array([key_hash(key) for key in keys], dtype=np.uint64)


@pytest.mark.parametrize("count", [1, 2, 50, 20_000])
def test_every_key_leads_to_its_value_and_no_other_key_does(tmp_path: Path, count: int) -> None:
    keys = [f"key {number}" for number in range(count)]
    made = written(tmp_path / "t.npy", hashes_of(keys), np.arange(count, dtype=np.uint64))
    for number in range(0, count, max(1, count // 200)):
        assert made.values(f"key {number}") == [number]
        assert made.values(f"no key {number}") == []


def test_several_values_of_one_key_come_in_order(tmp_path: Path) -> None:
    hashes = hashes_of(["a", "b", "a", "c", "a"])
    made = written(tmp_path / "t.npy", hashes, np.array([9, 1, 4, 2, 7], dtype=np.uint64))
    assert made.values("a") == [4, 7, 9]
    assert made.all_values().tolist() == [
        value
        for key in sorted("abc", key=key_hash)
        for value in {"a": [4, 7, 9], "b": [1], "c": [2]}[key]
    ]


def test_hashes_that_do_not_lie_evenly_are_found_too(tmp_path: Path) -> None:
    """A key stands far from where its hash says where thousands of others crowd before it."""
    crowd = np.arange(30_000, dtype=np.uint64)
    hashes = np.concatenate([crowd, hashes_of(["alder", "birch", "birch", "cedar"])])
    made = written(tmp_path / "t.npy", hashes, np.arange(len(hashes), dtype=np.uint64))
    assert made.values("alder") == [30_000]
    assert made.values("birch") == [30_001, 30_002]
    assert made.values("cedar") == [30_003]
    assert made.values("hazel") == []


def test_one_key_may_have_more_values_than_are_read_at_once(tmp_path: Path) -> None:
    hashes = np.repeat(hashes_of(["alder", "birch", "cedar"]), 5000)
    made = written(tmp_path / "t.npy", hashes, np.arange(15_000, dtype=np.uint64))
    assert made.values("birch") == list(range(5000, 10_000))


def test_an_empty_table_holds_nothing(tmp_path: Path) -> None:
    nothing = np.zeros(0, dtype=np.uint64)
    assert written(tmp_path / "t.npy", nothing, nothing).values("alder") == []
