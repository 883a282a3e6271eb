"""The description of an index, without the index."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from retrieval.index.embedded.layout import META, write_meta
from retrieval.index.interface import Description

DESCRIBED = Description(
    name="vital", source="vital", documents=9842, sentences=48211, built_at="2026-11-20T09:30:00Z"
)


def description_file(home: Path) -> Path:
    """Return the file that holds the description."""
    return home / "index" / "current" / META


def describe_index(home: Path, **changes: Any) -> None:
    """Write the description of an index, with these changes."""
    current = description_file(home).parent
    current.mkdir(parents=True, exist_ok=True)
    write_meta(current, replace(DESCRIBED, **changes))
