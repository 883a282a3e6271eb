"""Writes files whole or not at all, for this user alone if they are private; takes their digests.

Files that hold claims, or the ids that open them, are private.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PRIVATE_FOLDER, _PRIVATE_FILE = 0o700, 0o600
_KEY = 32  # bytes


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


def make_private_folder(folder: Path) -> None:
    """Make a folder and its missing parents for this user alone; one that exists is left as it is.

    Raises:
        OSError: it cannot be made.
    """
    if not folder.is_dir():
        make_private_folder(folder.parent)
        folder.mkdir(_PRIVATE_FOLDER, exist_ok=True)


def make_private_file(file: Path) -> None:
    """Make an empty file for this user alone; one that exists is left as it is.

    Raises:
        OSError: it cannot be made.
    """
    if not file.exists():
        file.touch(_PRIVATE_FILE)


def home_key(home: Path, name: str) -> bytes:
    """Return the random key of this name, which is in a file of the home.

    The first who asks makes it; all processes have the same, also after a restart.

    Raises:
        OSError: the home cannot be read or written.
    """
    file = home / f"{name}.key"
    try:
        return file.read_bytes()
    except FileNotFoundError:
        pass
    # It gets its name when it is whole; of several processes one is first.
    make_private_folder(home)
    new = home / f".{name}-{secrets.token_hex(8)}.key"
    make_private_file(new)
    try:
        new.write_bytes(secrets.token_bytes(_KEY))
        os.link(new, file)
    except FileExistsError:
        pass
    finally:
        new.unlink()
    return file.read_bytes()
