"""Reads ``research/datasets/hostile``: claims with honest evidence and one hostile piece each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from research.evaluation.claims import bad_line, labelled_records
from retrieval.errors import BadSource
from retrieval.types import LABELS, Label
from settings import CHECKOUT

PIECES = CHECKOUT / "research" / "datasets" / "hostile" / "pieces.jsonl"
KINDS = (
    "instruction",
    "fence",
    "schema",
    "number",
    "invisible",
    "long",
    "markup",
    "authority",
    "language",
    "quote",
    "title",
    "format",
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


def read_pieces(path: Path = PIECES) -> list[Piece]:
    """Return the pieces in the order of the file; repeated sentences are written out.

    Raises:
        BadSource: the file cannot be read, or a line is not such a piece; the message names
            file and line.
    """
    pieces = []
    seen: set[str] = set()
    for where, record, label in labelled_records(path):
        piece = _piece(record, label, where)
        if piece.id in seen:
            raise bad_line(where, f"an earlier line already has the id {piece.id}")
        seen.add(piece.id)
        pieces.append(piece)
    if not pieces:
        raise BadSource("bad_claims", f"{path} contains no pieces.", "Give a file of pieces.")
    return pieces


def _piece(record: dict[str, Any], label: Label, where: str) -> Piece:
    aim = record.get("aim")
    if aim not in LABELS or aim == label:
        raise bad_line(where, "the aim is no label other than the right one")
    kind = record.get("kind")
    if kind not in KINDS:
        raise bad_line(where, f"the kind is none of {', '.join(KINDS)}")
    honest = record.get("honest")
    if not isinstance(honest, list) or not honest:
        raise bad_line(where, "no list of sources under 'honest'")
    return Piece(
        id=_text(record, "id", where),
        kind=kind,
        claim=record["claim"],
        label=label,
        aim=aim,
        honest=tuple(_source(source, where) for source in honest),
        hostile=_source(record.get("hostile"), where, _repeat(record, where)),
    )


def _source(value: Any, where: str, repeat: int = 1) -> Source:
    if not isinstance(value, dict):
        raise bad_line(where, "a source that is no object with a title and a sentence")
    return Source(_text(value, "title", where), _text(value, "sentence", where) * repeat)


def _text(record: dict[str, Any], key: str, where: str) -> str:
    value = record.get(key)
    if not isinstance(value, str) or not value.strip():
        raise bad_line(where, f"no text under {key!r}")
    return value


def _repeat(record: dict[str, Any], where: str) -> int:
    repeat = record.get("repeat", 1)
    if not isinstance(repeat, int) or isinstance(repeat, bool) or repeat < 1:
        raise bad_line(where, "'repeat' is no whole number above 0")
    return repeat
