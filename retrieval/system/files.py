"""Writes files whole or not at all, and takes their digests."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, on the disk when this returns.

    Raises:
        OSError: it cannot be written.
    """
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as stream:
        stream.write(content)
        flush(stream)
    partial.rename(path)


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array likewise."""
    import numpy as np  # the web process, which writes none, does not load it

    # Not straight to the file: NumPy reports a full disk without an errno.
    content = io.BytesIO()
    np.save(content, array)
    write_whole(path, content.getvalue())


def flush(stream: Any) -> None:
    """Return when what was written to a file is on the disk."""
    stream.flush()
    os.fsync(stream.fileno())


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
