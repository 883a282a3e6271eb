"""Random keys in files of the home: all its processes have the same, also after a restart."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from retrieval.system.private_files import make_private_file, make_private_folder

_BYTES = 32


def home_key(home: Path, name: str) -> bytes:
    """Return the key of this name; the first who asks makes it.

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
        new.write_bytes(secrets.token_bytes(_BYTES))
        os.link(new, file)
    except FileExistsError:
        pass
    finally:
        new.unlink()
    return file.read_bytes()
