"""Shows the table of the ESOTERIC report, in Markdown and on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from research.evaluation.measures.esoteric_table import COUNTINGS, Row

# "Final Version" of table 8 and of appendix A.
_REPORTED: Row = {
    "document_recall": 0.7737,
    "document_precision": 0.0624,
    "document_f1": 0.1155,
    "passage_recall": 0.6084,
    "passage_precision": 0.6029,
    "passage_f1": 0.6056,
    "combined_recall": 0.6927,
    "combined_precision": 0.1113,
    "combined_f1": 0.1918,
    "document_ofever": 0.7966,
    "passage_ofever": 0.5986,
    "combined_ofever": 0.3559,
    "retrieval_seconds": 31.75,
    "seconds": None,
    "hits_by_title": 0.8564,
    "hits_by_disambiguation": 0.0957,
    "hits_by_text": 0.0479,
    "documents": None,
    "passages": None,
    "id_length": 13.60,
    "place": None,
    "place_by_text": 8.72,
}
_NAMES = {
    "retrieval_seconds": "seconds a claim, retrieval",
    "seconds": "seconds a claim, with the verdict",
    "documents": "documents a claim",
    "passages": "passages a claim",
    "id_length": "“document set length”: characters of an id",
    "place": "place of a right document",
    "place_by_text": "the same, of those found by text",
}
_HEAD = ("", "report", "text", "program, by document", "program, by passage")

MEANING = (
    "What the document and passage retrievers return, before the verifier chooses, for the"
    " decided claims: shares in per cent, seconds, numbers and places. Counted as the"
    " report's text defines it; by document, as its program does while it runs; and by passage, as"
    " the functions of the program do that its tables were made with (docs/recipes.md, “The tables"
    " of the report”). The first column is the report's final version, on 200 other claims and all"
    " pages of FEVER, so it is not comparable with the others. A right document has an annotated"
    " sentence."
)


def as_markdown(table: Mapping[str, Row]) -> str:
    """Return the table of one recipe as Markdown."""
    head, *rows = _cells(table)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def as_text(name: str, table: Mapping[str, Row]) -> str:
    """Return the table of one recipe in columns, with its name in the corner."""
    head, *rows = _cells(table)
    lines = [[name, *head[1:]], *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            [line[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        )
        for line in lines
    )


def _cells(table: Mapping[str, Row]) -> list[Sequence[str]]:
    ways = [row for row in table["text"] if row.startswith("hits_by_")]
    order = [row for row in _REPORTED if not row.startswith("hits_by_")]
    order[order.index("documents") : order.index("documents")] = ways
    rows = [
        [
            _name(row),
            _value(row, _REPORTED.get(row)),
            *(_value(row, table[counting].get(row)) for counting in COUNTINGS),
        ]
        for row in order
    ]
    return [_HEAD, *rows]


def _name(row: str) -> str:
    if row.startswith("hits_by_"):
        return f"right documents found by {row.removeprefix('hits_by_')}"
    return _NAMES.get(row) or row.replace("_", " ").replace("ofever", "OFEVER").replace("f1", "F1")


def _value(row: str, value: float | None) -> str:
    if value is None:
        return "–"  # noqa: RUF001
    return f"{value:.2f}" if row in _NAMES else f"{100 * value:.1f}"
