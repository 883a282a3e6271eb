"""A row of the table, and what is measured with: claims, and the index of ``vital``, built once."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from cli.index import build_with_progress
from retrieval.errors import IndexUnavailable
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models.encoders import MiniLMEncoder
from settings import CHECKOUT


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


def resident_megabytes(pid: int | str) -> float:
    """Return a process's resident memory (Linux only)."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:  # noqa: PTH123
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    raise RuntimeError(f"process {pid} has no resident memory")


T = TypeVar("T")
HOME = CHECKOUT / ".esoteric" / "benchmarks"


def vital_index() -> Path:
    """Return the folder of the index; build it if there is none."""
    folder = HOME / "index"
    try:
        EmbeddedIndex(folder).open(MiniLMEncoder.name)
    except IndexUnavailable:
        build_with_progress("vital", folder)
    return folder


def claims() -> list[str]:
    """Return the claims to measure with."""
    path = CHECKOUT / "research" / "benchmarks" / "claims.txt"
    return path.read_text(encoding="utf-8").splitlines()


def everyday_claims() -> list[dict[str, Any]]:
    """Return the project's own everyday claims, with their labels and evidence."""
    path = CHECKOUT / "research" / "datasets" / "everyday" / "claims.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def spread(values: Sequence[T], count: int) -> Sequence[T]:
    """Return so many of the values, at equal distances."""
    return values[:: len(values) // count][:count]
