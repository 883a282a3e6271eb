"""Reads ``research/datasets/hostile``: claims with honest evidence and one hostile piece each."""

from __future__ import annotations

from dataclasses import dataclass

from research.evaluation.claims import read_json_lines
from retrieval.types import Label
from settings import CHECKOUT

PIECES = CHECKOUT / "research" / "datasets" / "hostile" / "pieces.jsonl"
KINDS = (
    *("instruction", "fence", "schema", "number", "invisible", "long"),
    *("markup", "authority", "language", "quote", "title", "format"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """A sentence with the title of its document."""

    title: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A claim with ``honest`` evidence for the ``label``, and a hostile source for ``aim``."""

    id: str
    kind: str
    claim: str
    label: Label
    aim: Label
    honest: tuple[Source, ...]
    hostile: Source


def read_pieces() -> list[Piece]:
    """Return the pieces in the order of the file; repeated sentences are written out."""
    pieces = []
    for _, record in read_json_lines(PIECES, ("id", "kind", "claim", "label", "aim")):
        hostile, times = record["hostile"], record.get("repeat", 1)
        pieces.append(
            Piece(
                id=record["id"],
                kind=record["kind"],
                claim=record["claim"],
                label=record["label"],
                aim=record["aim"],
                honest=tuple(Source(one["title"], one["sentence"]) for one in record["honest"]),
                hostile=Source(hostile["title"], hostile["sentence"] * times),
            )
        )
    return pieces
