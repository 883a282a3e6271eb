"""Whether the web process can still write where it has to."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from retrieval.errors import Problem

# SQLite's log of writes may grow by some megabytes before they go into the database.
LEAST_FREE_BYTES = 20_000_000
_A_BLOCK = bytes(4096)


def disk_problem(folders: Iterable[Path]) -> Problem | None:
    """Return what is wrong with the first of these folders that cannot be written.

    A folder that does not exist is left to what makes it.
    """
    for folder in folders:
        try:
            if shutil.disk_usage(folder).free < LEAST_FREE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(_A_BLOCK)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            reason = error.strerror or type(error).__name__
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                return Problem(
                    "disk_full",
                    f"There is too little space left in {folder}: {reason}.",
                    f"Free at least {LEAST_FREE_BYTES // 1_000_000} MB.",
                )
            return Problem(
                "not_writable",
                f"The folder {folder} cannot be written: {reason}.",
                "Make it writable, or set ESOTERIC_HOME to another folder.",
            )
    return None
