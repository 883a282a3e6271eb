from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from research.training.arrays import kept_array


def test_an_array_is_made_once(tmp_path: Path) -> None:
    made = []

    def make() -> np.ndarray:
        made.append(1)
        return np.array([1.5, 2.5])

    first = kept_array(tmp_path / "below/array.npy", make)
    assert kept_array(tmp_path / "below/array.npy", make).tolist() == first.tolist() == [1.5, 2.5]
    assert made == [1]


def test_an_array_that_was_not_finished_is_not_there(tmp_path: Path) -> None:
    def stopped() -> np.ndarray:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept_array(tmp_path / "array.npy", stopped)
    (tmp_path / "array.partial").write_bytes(b"half")
    assert kept_array(tmp_path / "array.npy", lambda: np.array([1])).tolist() == [1]
