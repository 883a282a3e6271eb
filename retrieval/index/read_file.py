"""A file that is read at random places and not mapped.

The parts of a mapped file that were ever looked at count as the process's memory,
each with its neighbours, so that random places in a file of gigabytes would fill it.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterable
from pathlib import Path

_SMALL = 1 << 18  # bytes


class ReadFile:
    """Open for as long as somebody has it; several threads may read at once.

    What is small is read when it is opened: an open file keeps a handle, of which a
    process has only so many.
    """

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            OSError: it is missing.
        """
        self._content = path.read_bytes() if path.stat().st_size <= _SMALL else None
        if self._content is None:
            self._handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            weakref.finalize(self, os.close, self._handle)

    def between(self, start: int, end: int) -> bytes:
        """Return the bytes from ``start`` to before ``end``."""
        if self._content is not None:
            return self._content[start:end]
        return os.pread(self._handle, end - start, start)

    def each_between(self, ranges: Iterable[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of each range, from its first to before its last."""
        ranges = list(ranges)
        if self._content is None and sys.platform != "darwin":
            # The disk fetches many at a time where it knows of them, and one otherwise.
            for start, end in ranges:
                if start == end:
                    continue  # which would mean all that follows
                os.posix_fadvise(self._handle, start, end - start, os.POSIX_FADV_WILLNEED)
        return [self.between(start, end) for start, end in ranges]
