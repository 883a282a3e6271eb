"""Reads JSON lines; every complaint names the file and the line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from retrieval.errors import BadSource


def read_json_lines(path: Path, keys: tuple[str, ...]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each line's number and object; blank lines are passed over.

    Raises:
        BadSource: the file cannot be read, is not UTF-8, or a line is no JSON object
            that holds a string under each of ``keys``.
    """
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield number, _record(path, number, line, keys)
    except OSError as error:
        raise BadSource(
            "source_unreadable",
            f"{path} cannot be read ({error.strerror}).",
            "Check the path and its permissions.",
        ) from error


def _record(path: Path, number: int, line: bytes, keys: tuple[str, ...]) -> dict[str, Any]:
    where = f"{path}, line {number}"
    try:
        record = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError as error:
        raise BadSource(
            "source_not_utf8",
            f"{where}: byte {error.start + 1} is not UTF-8.",
            "Save the file as UTF-8.",
        ) from error
    except (ValueError, RecursionError) as error:
        cut_off = not line.endswith(b"\n")
        raise BadSource(
            "source_not_json",
            f"{where}: {'cut off before its end' if cut_off else 'not JSON'}.",
            "Fetch the file again." if cut_off else "Mend or remove that line.",
        ) from error
    if not isinstance(record, dict):
        raise BadSource("source_not_json", f"{where}: not a JSON object.", "Mend that line.")
    for key in keys:
        if not isinstance(record.get(key), str):
            raise BadSource(
                "source_incomplete", f"{where}: no text under {key!r}.", "Mend that line."
            )
    return record
