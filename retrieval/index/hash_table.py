"""What is found by a key: the keys' hashes, sorted, and the values that they stand for."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.index.array_file import read_header
from retrieval.index.read_file import ReadFile

_HASHES = 1 << 64
_BYTES = 8


def key_hash(key: str) -> int:
    """Return 64 bits of a key; what is found by them is compared with the key itself."""
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def table(hashes: NDArray[np.uint64], values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return hashes and values as the two rows of a table, sorted by hash and then by value."""
    order = np.lexsort((values, hashes))
    return np.stack([hashes[order], values[order]])


class HashTable:
    """A file that holds a ``table``. It is read where a key's hash may stand, and not mapped."""

    def __init__(self, path: Path) -> None:
        """Open the file and read its header.

        Raises:
            OSError, ValueError: it is missing or damaged.
        """
        (_, self._count), _, self._begin = read_header(path)
        self._file = ReadFile(path)
        # Hashes lie evenly: one of n stands where its size says, but for about half of √n.
        self._reach = 3 * math.isqrt(self._count) + 1

    def values(self, key: str) -> list[int]:
        """Return the values under the key's hash, ascending."""
        wanted = key_hash(key)
        low, hashes = self._around(wanted)
        first = int(np.searchsorted(hashes, np.uint64(wanted), side="left"))
        last = int(np.searchsorted(hashes, np.uint64(wanted), side="right"))
        return self._row(1, low + first, low + last).tolist() if last > first else []

    def hashes(self) -> NDArray[np.uint64]:
        """Return all hashes, ascending."""
        return self._row(0, 0, self._count)

    def all_values(self) -> NDArray[np.uint64]:
        """Return all values, in the order of their hashes."""
        return self._row(1, 0, self._count)

    def _around(self, wanted: int) -> tuple[int, NDArray[np.uint64]]:
        """Return hashes among which all are that equal ``wanted``, and where the first stands."""
        place = wanted * self._count // _HASHES
        low, high = max(place - self._reach, 0), min(place + self._reach, self._count)
        while True:
            hashes = self._row(0, low, high)
            if low > 0 and hashes[0] >= wanted:
                low = max(low - self._reach, 0)
            elif high < self._count and hashes[-1] <= wanted:
                high = min(high + self._reach, self._count)
            else:
                return low, hashes

    def _row(self, row: int, first: int, last: int) -> NDArray[np.uint64]:
        begin = self._begin + row * self._count * _BYTES
        read = self._file.between(begin + first * _BYTES, begin + last * _BYTES)
        return np.frombuffer(read, dtype=np.uint64)
