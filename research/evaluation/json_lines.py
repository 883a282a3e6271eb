"""Files of results that grow by a line for each answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from retrieval.corpora.json_lines import encoded_line


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Replace the content of the file by the records, one a line.

    If it is interrupted, the file still has all old records or all new ones.
    """
    written = path.with_name(f"{path.name}.new")
    written.write_bytes(b"".join(map(encoded_line, records)))
    written.replace(path)


def whole_lines(path: Path) -> list[dict[str, Any]]:
    """Return the records before a line that was cut off; none if there is no file."""
    records: list[dict[str, Any]] = []
    if path.exists():
        for line in path.read_bytes().split(b"\n"):
            try:
                records.append(json.loads(line))
            except ValueError:  # also for bytes that are not UTF-8
                break
    return records
