"""What all networks of a process share: the number of threads, and the folder of converted ones.

The settings are global, like ``torch.set_num_threads``: ONNX Runtime has one pool of threads for
all networks, created when the first of them is opened.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from threadpoolctl import threadpool_limits

from retrieval.models.weights import made_once, storing
from retrieval.system.files import digest_of, write_whole

_UNUSED_SECONDS = 30 * 24 * 3600  # after which a file of another version is removed

_threads = 0
_kept: Path | None = None


def use_threads(number: int) -> None:
    """Compute on this many threads; no network may be open yet.

    NumPy, which computes the small heads, gets one thread: further threads of OpenBLAS spin for a
    tenth of a second after each product, which makes the networks half as fast.
    """
    global _threads
    _threads = number
    threadpool_limits(1, user_api="blas")


def limit_torch() -> None:
    """Let PyTorch, if a process uses it, compute on the threads of ``use_threads``."""
    import torch

    if _threads:
        torch.set_num_threads(_threads)


def keep_in(folder: Path) -> None:
    """Store converted networks in ``folder``; otherwise each process converts them again."""
    global _kept
    _kept = folder


def threads() -> int:
    """Return the number of threads; 0, before ``use_threads``, means one for each core."""
    return _threads


def kept_folder() -> Path | None:
    """Return the folder of converted networks, if there is one."""
    return _kept


def kept_file(name: str, key: str, suffix: str, content: Callable[[], bytes]) -> Path:
    """Return the file of this name and key; it is made from ``content`` if missing or damaged.

    The file's name contains a digest of the key and one of its content. Files of this name with
    another key belong to another version of the model, which may be in use at the same time; they
    are removed if nothing opened them for a month.

    Raises:
        ModelUnavailable: the file cannot be stored in the folder.

    Also raises what ``content`` raises.
    """
    folder = _kept or _of_this_process()
    start = f"{name}.{hashlib.sha256(key.encode()).hexdigest()[:16]}."

    def make() -> Path:
        _remove_unused(folder, name, suffix)
        return _made(folder, start, suffix, content())

    with storing(f"The converted model {name} cannot be written", folder, "300 MB"):
        return made_once(lambda: _whole(folder, start, suffix), make, folder / f"{name}.lock")


def _whole(folder: Path, start: str, suffix: str) -> Path | None:
    for path in folder.glob(f"{start}*{suffix}"):
        if path.name == f"{start}{digest_of(path)[:16]}{suffix}":
            with contextlib.suppress(OSError):  # a read-only folder works too
                path.touch()
            return path
    return None


def _made(folder: Path, start: str, suffix: str, content: bytes) -> Path:
    path = folder / f"{start}{hashlib.sha256(content).hexdigest()[:16]}{suffix}"
    try:
        write_whole(path, content)
    except OSError:
        path.with_name(path.name + ".partial").unlink(missing_ok=True)
        raise
    return path


def _remove_unused(folder: Path, name: str, suffix: str) -> None:
    for path in folder.glob(f"{name}.*{suffix}"):
        if time.time() - path.stat().st_mtime > _UNUSED_SECONDS:
            path.unlink()


@cache
def _of_this_process() -> Path:
    folder = TemporaryDirectory(prefix="esoteric-networks-")
    atexit.register(folder.cleanup)
    return Path(folder.name)
