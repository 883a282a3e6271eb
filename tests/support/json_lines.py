"""Writes files of JSON lines."""

import json
from pathlib import Path
from typing import Any


def write_json_lines(path: Path, *records: Any) -> Path:
    """Write a record a line, in folders that may not be there yet; a text is a line as it is."""
    lines = (one if isinstance(one, str) else json.dumps(one) for one in records)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
