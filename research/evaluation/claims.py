"""Reads claims in the format of the FEVER release (Thorne et al. 2018, section 3)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from retrieval.corpora.json_lines import read_json_lines
from retrieval.errors import BadSource
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Label

SentenceKey: TypeAlias = tuple[str, int]
"""A page id and the number of a sentence on that page."""


@dataclass(frozen=True, slots=True)
class AnnotatedClaim:
    """A claim with its label and gold evidence.

    ``evidence``: alternative sets of sentences, each sufficient alone. Claims with the
    label NOT ENOUGH INFO (undecided claims) have none.
    """

    text: str
    label: Label
    evidence: tuple[tuple[SentenceKey, ...], ...]

    @property
    def gold(self) -> frozenset[SentenceKey]:
        """Every sentence that is in some evidence set."""
        return frozenset(sentence for group in self.evidence for sentence in group)

    @property
    def pages(self) -> frozenset[str]:
        """Every page with gold evidence."""
        return frozenset(page for page, _ in self.gold)

    @property
    def needs_several_pages(self) -> bool:
        """Whether no evidence set is on a single page."""
        return bool(self.evidence) and all(
            len({page for page, _ in group}) > 1 for group in self.evidence
        )


@dataclass(frozen=True, slots=True)
class FeverClaim(AnnotatedClaim):
    """A claim of a file: its id, and its place (``where``) as file and line."""

    id: int
    where: str

    @property
    def group(self) -> str | int:
        """The page that the claim was made from; its own id if the page is unknown."""
        return self.evidence[0][0][0] if self.evidence else self.id


def page_key(page: str) -> str:
    """Return the page id in NFC, for comparisons: releases differ in the form of accents."""
    return unicodedata.normalize("NFC", page)


def read_fever_claims(path: Path) -> list[FeverClaim]:
    """Return the claims in the order of the file.

    Raises:
        BadSource: the file cannot be read, or a line is no such claim; the
            message names file and line.
    """
    claims = [
        FeverClaim(
            text=record["claim"],
            label=label,
            evidence=_evidence_sets(record, label, where),
            id=_id(record, where),
            where=where,
        )
        for where, record, label in labelled_records(path)
    ]
    seen: dict[int, str] = {}
    for claim in claims:
        if claim.id in seen:
            raise BadSource(
                "bad_claims",
                f"{claim.where}: the id {claim.id} is in {seen[claim.id]} already.",
                "Remove or renumber one of the two.",
            )
        seen[claim.id] = claim.where
    if not claims:
        raise BadSource("bad_claims", f"{path} contains no claims.", "Give a file of FEVER claims.")
    return claims


def labelled_records(path: Path) -> Iterator[tuple[str, dict[str, Any], Label]]:
    """Yield file and line, record and label of each line; raises ``BadSource``."""
    for number, record in read_json_lines(path, ("claim", "label")):
        where = f"{path}, line {number}"
        if record["label"] not in LABELS:
            raise bad_line(where, f"the label is not one of {', '.join(LABELS)}")
        if not record["claim"].strip():
            raise bad_line(where, "the claim is empty")
        label: Label = record["label"]
        yield where, record, label


def text_under(record: Mapping[str, Any], key: str, where: str) -> str | None:
    """Return the text under ``key``, or ``None``; raises ``BadSource``."""
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise bad_line(where, f"the value of {key!r} is not a text")
    return value or None


def sentence_keys(pairs: Iterable[Any], where: str) -> tuple[SentenceKey, ...]:
    """Return (page, sentence) pairs of an annotation; raises ``BadSource``."""
    keys = []
    for page, sentence in pairs:
        if not isinstance(page, str) or not isinstance(sentence, int) or sentence < 0:
            raise bad_line(where, "an evidence entry is not a page with a sentence number")
        keys.append((page_key(page), sentence))
    return tuple(keys)


def _id(record: dict[str, Any], where: str) -> int:
    number = record.get("id")
    if not isinstance(number, int) or isinstance(number, bool):
        raise bad_line(where, "no whole number under 'id'")
    return number


def _evidence_sets(
    record: dict[str, Any], label: Label, where: str
) -> tuple[tuple[SentenceKey, ...], ...]:
    if label == NOT_ENOUGH_INFO:
        return ()
    try:
        sets = tuple(
            sentence_keys(((page, sentence) for _, _, page, sentence in group), where)
            for group in record["evidence"]
        )
    except (KeyError, TypeError, ValueError) as error:
        raise bad_line(where, "no evidence in FEVER's form") from error
    if not sets or not all(sets):
        raise bad_line(where, f"{label} without evidence")
    return sets


def bad_line(where: str, what: str) -> BadSource:
    """Return the error that says what is wrong with a line of claims."""
    return BadSource("bad_claims", f"{where}: {what}.", "Correct or remove that line.")
