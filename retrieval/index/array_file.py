"""Arrays in files that are written, or read, a part at a time."""

from __future__ import annotations

import math
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from retrieval.files import flush


class ArrayFile:
    """A NumPy file of two dimensions; its header holds room for the number of rows."""

    def __init__(self, path: Path, width: int, kind: type[np.integer[Any]]) -> None:
        """Remember what the rows are; the file is made when this is entered."""
        self._path = path
        self._width = width
        self._kind = np.dtype(kind)
        self._rows = 0

    def __enter__(self) -> ArrayFile:
        """Begin the file.

        Raises:
            OSError: it cannot be written.
        """
        self._stream: IO[bytes] = self._path.open("w+b")
        self._write_header()
        return self

    def append(self, rows: NDArray[Any]) -> None:
        """Write rows behind those that are there."""
        self._stream.write(rows.astype(self._kind, copy=False).tobytes())
        self._rows += len(rows)

    def __exit__(self, *failure: object) -> None:
        """End the file, which is on the disk then unless something failed."""
        with self._stream:
            if failure == (None, None, None):
                # NumPy leaves room behind the header for a first dimension that has grown.
                self._stream.seek(0)
                self._write_header()
                flush(self._stream)

    def _write_header(self) -> None:
        header = {
            "descr": self._kind.str,
            "fortran_order": False,
            "shape": (self._rows, self._width),
        }
        np.lib.format.write_array_header_1_0(self._stream, header)


def read_header(path: Path) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Return the shape of a NumPy file's array, what its elements are and where they begin.

    Raises:
        OSError, ValueError: it is missing or damaged.
    """
    with path.open("rb") as stream:
        np.lib.format.read_magic(stream)
        shape, _, kind = np.lib.format.read_array_header_1_0(stream)
        begin = stream.tell()
    if path.stat().st_size != begin + math.prod(shape) * kind.itemsize:
        raise ValueError(f"{path.name} is not as long as it says")
    return shape, kind, begin
