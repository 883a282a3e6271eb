"""Reads annotated claims: FEVER's format, FEVER with evidence unions, and Fool Me Twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrieval.errors import BadSource
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Label


@dataclass(frozen=True, slots=True)
class AnnotatedClaim:
    """A claim with its label and gold evidence.

    ``evidence`` holds the alternative sets of (page id, sentence id), each
    sufficient alone; where a source knows only their union it is one set.
    """

    text: str
    label: Label
    evidence: tuple[tuple[tuple[str, int], ...], ...]

    @property
    def gold(self) -> frozenset[tuple[str, int]]:
        """Every sentence that is in some evidence set."""
        return frozenset(sentence for group in self.evidence for sentence in group)

    @property
    def pages(self) -> frozenset[str]:
        """Every page that holds gold evidence."""
        return frozenset(page for page, _ in self.gold)


@dataclass(frozen=True, slots=True)
class PageClaim:
    """A Fool Me Twice claim: its page's title, its gold sentences and others of the page."""

    text: str
    label: Label
    title: str
    gold: tuple[str, ...]
    others: tuple[str, ...]


def read_fever_claims(path: Path) -> list[AnnotatedClaim]:
    """Read FEVER claims; ``evidence`` and ``evidence_union`` are both understood.

    Raises:
        BadSource: a line is not such a claim; the message names file and line.
    """
    return [
        AnnotatedClaim(record["claim"], _label(record), _evidence_sets(record))
        for record in _records(path, ("claim", "label"))
    ]


def read_page_claims(path: Path) -> list[PageClaim]:
    """Read Fool Me Twice claims.

    Raises:
        BadSource: a line is not such a claim; the message names file and line.
    """
    claims = []
    for record in _records(path, ("text", "label", "gold_evidence", "retrieved_evidence")):
        gold = tuple(entry["text"] for entry in record["gold_evidence"])
        others = tuple(
            entry["text"] for entry in record["retrieved_evidence"] if entry["text"] not in gold
        )
        claims.append(
            PageClaim(record["text"], _label(record), record["wikipedia_page"], gold, others)
        )
    return claims


def _records(path: Path, keys: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSource(
            "bad_claims", f"{path} cannot be read: {error}.", "Check the path given to --data."
        ) from error
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            missing = [key for key in keys if key not in record]
        except (ValueError, TypeError) as error:
            raise BadSource(
                "bad_claims", f"{path}, line {number}: not a JSON object.", "Mend that line."
            ) from error
        if missing or record["label"] not in LABELS:
            raise BadSource(
                "bad_claims",
                f"{path}, line {number}: needs {', '.join(keys)}, and one of {LABELS} as label.",
                "Mend that line.",
            )
        yield record


def _label(record: dict[str, Any]) -> Label:
    label: Label = record["label"]
    return label


def _evidence_sets(record: dict[str, Any]) -> tuple[tuple[tuple[str, int], ...], ...]:
    if record["label"] == NOT_ENOUGH_INFO:
        return ()
    if "evidence_union" in record:
        return (tuple((page, sentence) for page, sentence in record["evidence_union"]),)
    return tuple(
        tuple((page, sentence) for _, _, page, sentence in group) for group in record["evidence"]
    )
