"""Settings of all networks of a process: the number of threads, and the folder of converted ones.

They are global, like ``torch.set_num_threads``: ONNX Runtime has one pool of threads for all
networks, created when the first of them is opened.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

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
