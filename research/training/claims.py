"""Reads the training claims that are not in FEVER's own form: evidence unions, Fool Me Twice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from research.evaluation.claims import AnnotatedClaim, bad_line, labelled_records, sentence_keys
from retrieval.corpora.json_lines import read_json_lines
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Label


@dataclass(frozen=True, slots=True)
class PageClaim:
    """A Fool Me Twice claim: its page's title, its gold sentences and others of the page."""

    text: str
    label: Label
    title: str
    gold: tuple[str, ...]
    others: tuple[str, ...]


def read_union_claims(path: Path) -> list[AnnotatedClaim]:
    """Read FEVER claims for which only the union of all evidence sets is known.

    The union is used as the only set.

    Raises:
        BadSource: a line is not such a claim; the message names file and line.
    """
    claims = []
    for where, record, label in labelled_records(path):
        try:
            union = sentence_keys(record["evidence_union"], where)
        except (KeyError, TypeError, ValueError) as error:
            raise bad_line(where, "no pairs under 'evidence_union'") from error
        claims.append(
            AnnotatedClaim(record["claim"], label, () if label == NOT_ENOUGH_INFO else (union,))
        )
    return claims


def read_page_claims(path: Path) -> list[PageClaim]:
    """Read Fool Me Twice claims.

    Raises:
        BadSource: a line is not such a claim; the message names file and line.
    """
    claims = []
    for number, record in read_json_lines(path, ("text", "label", "wikipedia_page")):
        where = f"{path}, line {number}"
        if record["label"] not in LABELS:
            raise bad_line(where, f"the label is none of {', '.join(LABELS)}")
        label: Label = record["label"]
        try:
            gold = tuple(entry["text"] for entry in record["gold_evidence"])
            retrieved = tuple(entry["text"] for entry in record["retrieved_evidence"])
        except (KeyError, TypeError) as error:
            raise bad_line(where, "no gold_evidence and retrieved_evidence") from error
        others = tuple(text for text in retrieved if text not in gold)
        claims.append(PageClaim(record["text"], label, record["wikipedia_page"], gold, others))
    return claims
