"""The description (``meta.json``) of an index, without the index."""

from __future__ import annotations

import json
from pathlib import Path


def describe_index(home: Path, **changes: object) -> None:
    """Write the description of an index."""
    current = home / "index" / "current"
    current.mkdir(parents=True, exist_ok=True)
    meta = {
        "name": "vital",
        "source": "vital",
        "documents": 9842,
        "sentences": 48211,
        "built_at": "2026-11-20T09:30:00Z",
        **changes,
    }
    (current / "meta.json").write_text(json.dumps(meta))
