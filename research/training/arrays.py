"""Arrays that take long to compute, stored between runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def kept_array(path: Path, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """Return the array in ``path``; if it is missing, compute it and write it atomically."""
    if path.exists():
        kept: NDArray[Any] = np.load(path)
        return kept
    made = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("wb") as stream:
        np.save(stream, made)
    partial.replace(path)
    return made
