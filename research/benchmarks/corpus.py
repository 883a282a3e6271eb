"""The index of the benchmarks: ``vital`` in a separate folder, built once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from cli.index import build_with_progress
from retrieval.errors import IndexUnavailable
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models.encoders import MiniLMEncoder
from settings import CHECKOUT

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
