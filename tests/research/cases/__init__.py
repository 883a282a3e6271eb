"""Cases as data: a file of JSON lines for each subject, with ``why`` where it is not plain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def cases(name: str) -> list[dict[str, Any]]:
    """Return the cases of ``name.jsonl``."""
    text = Path(__file__).with_name(f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]
