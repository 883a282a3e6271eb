"""Which of an index's versions is the current one."""

from __future__ import annotations

from pathlib import Path


def current_version(folder: Path) -> Path:
    """Return the folder that ``current`` points at; it need not exist."""
    return (folder / "current").resolve()
