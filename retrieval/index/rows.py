"""Rows of an array in a file, read where they are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.index.array_file import read_header
from retrieval.index.read_file import ReadFile


class Rows:
    """A NumPy file of two dimensions."""

    def __init__(self, path: Path) -> None:
        """Open the file and read its header.

        Raises:
            OSError, ValueError: it is missing or damaged.
        """
        (_, self._width), self._kind, self._begin = read_header(path)
        self._file = ReadFile(path)

    def within(self, ranges: Iterable[tuple[int, int]]) -> NDArray[Any]:
        """Return the rows of each range, from its first to before its last, one after the other."""
        joined: list[tuple[int, int]] = []
        for first, last in ranges:
            if joined and joined[-1][1] == first:
                joined[-1] = joined[-1][0], last
            else:
                joined.append((first, last))
        size, begin = self._width * self._kind.itemsize, self._begin
        read = self._file.each_between((begin + a * size, begin + b * size) for a, b in joined)
        return np.frombuffer(b"".join(read), dtype=self._kind).reshape(-1, self._width)
