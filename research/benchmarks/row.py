"""A row of the table, and helper functions for measuring."""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """The name of a measurement, its figure, and its target ("" for none)."""

    what: str
    figure: str
    target: str = ""


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the percentile of the values (nearest rank)."""
    ranked = sorted(values)
    rank = max(1, -(-len(ranked) * percent // 100))
    return ranked[int(rank) - 1]


def free_port() -> int:
    """Return a free port of this machine."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def lasting_port() -> int:
    """Return a free port that no connection gets while the server on it is down."""
    while True:
        port = random.randrange(10_000, 32_000)  # Linux gives connections higher ones
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


def resident_megabytes(pid: int | str) -> float:
    """Return a process's resident memory (Linux only)."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:  # noqa: PTH123
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    raise RuntimeError(f"process {pid} has no resident memory")
