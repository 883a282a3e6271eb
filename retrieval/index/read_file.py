"""A file that is read at random places and not mapped.

The parts of a mapped file that were ever looked at count as the process's memory,
each with its neighbours, so that random places in a file of gigabytes would fill it.
"""

from __future__ import annotations

import os
import weakref
from pathlib import Path


class ReadFile:
    """Open for as long as somebody has it; several threads may read at once."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            OSError: it is missing.
        """
        self._handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._handle)

    def between(self, start: int, end: int) -> bytes:
        """Return the bytes from ``start`` to before ``end``."""
        return os.pread(self._handle, end - start, start)
