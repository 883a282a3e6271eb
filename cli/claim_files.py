"""Reads the claim files of ``esoteric batch``."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from retrieval.errors import BadSource

_OTHER_FORMATS = frozenset((".json", ".tsv", ".xlsx", ".xls", ".ods"))


def read_claims(path: Path) -> list[str]:
    """Return the claims: one a line, a ``claim`` key (.jsonl) or a ``claim`` column (.csv).

    ``.ndjson`` is read as ``.jsonl``; any other file has one claim a line. Only a line
    feed ends a line: a claim may contain other characters that Unicode calls line ends.

    Raises:
        BadSource: the file cannot be read; the message names the line.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise BadSource(
            "bad_claims", f"{path} is not UTF-8 (byte {error.start + 1}).", "Save it as UTF-8."
        ) from error
    kind = path.suffix.casefold()
    if kind in _OTHER_FORMATS:
        raise BadSource(
            "bad_claims",
            f"{path}: {kind} files are not read.",
            "Save the claims as .txt (one a line), .jsonl or .csv.",
        )
    if kind == ".csv":
        return _column(path, text)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if kind in (".jsonl", ".ndjson"):
        return [_claim_of(path, number, line) for number, line in lines]
    return [line for _, line in lines]


def _column(path: Path, text: str) -> list[str]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    claims = []
    try:
        header = next(rows, [])
        if header.count("claim") != 1:
            raise BadSource(
                "bad_claims",
                f"{path}: the first line, {','.join(header)!r}, does not name one column claim.",
                "Name one column claim in the first line, and separate the columns with commas.",
            )
        column = header.index("claim")
        for row in rows:
            if len(row) > len(header):
                raise BadSource(
                    "bad_claims",
                    f"{path}, line {rows.line_num}: more cells than the first line has.",
                    "Put a claim that contains commas in quotation marks.",
                )
            if row:
                claims.append(row[column] if column < len(row) else "")
    except csv.Error as error:
        raise BadSource(
            "bad_claims", f"{path}, line {rows.line_num}: {error}.", "Correct that line."
        ) from error
    return claims


def _claim_of(path: Path, number: int, line: str) -> str:
    try:
        claim = json.loads(line)["claim"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadSource(
            "bad_claims",
            f"{path}, line {number}: not a JSON object with a claim key.",
            "Correct that line.",
        ) from error
    if not isinstance(claim, str):
        raise BadSource(
            "bad_claims", f"{path}, line {number}: the claim is not a string.", "Correct that line."
        )
    return claim
