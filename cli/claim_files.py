"""Reads the files of claims that ``esoteric batch`` takes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from retrieval.errors import BadSource


def read_claims(path: Path) -> list[str]:
    """Return the claims: one a line, a ``claim`` key (.jsonl) or a ``claim`` column (.csv).

    Lines end at a line feed and nowhere else: a claim pasted from a page may
    hold any other character that Unicode calls a line's end.

    Raises:
        BadSource: the file cannot be read as that; the message names the line.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise BadSource(
            "bad_claims", f"{path} is not UTF-8 (byte {error.start + 1}).", "Save it as UTF-8."
        ) from error
    kind = path.suffix.casefold()
    if kind == ".csv":
        return _column(path, text)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if kind == ".jsonl":
        return [_claim_of(path, number, line) for number, line in lines]
    return [line for _, line in lines]


def _column(path: Path, text: str) -> list[str]:
    rows = csv.DictReader(io.StringIO(text, newline=""))
    try:
        if "claim" not in (rows.fieldnames or ()):
            raise BadSource(
                "bad_claims", f"{path} has no column named claim.", "Name one in its first line."
            )
        return [row["claim"] or "" for row in rows]
    except csv.Error as error:
        raise BadSource(
            "bad_claims", f"{path}, line {rows.line_num + 1}: {error}.", "Mend that line."
        ) from error


def _claim_of(path: Path, number: int, line: str) -> str:
    try:
        claim = json.loads(line)["claim"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadSource(
            "bad_claims",
            f"{path}, line {number}: not a JSON object with a claim key.",
            "Mend that line.",
        ) from error
    if not isinstance(claim, str):
        raise BadSource(
            "bad_claims", f"{path}, line {number}: the claim is not a string.", "Mend that line."
        )
    return claim
