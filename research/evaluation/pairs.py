"""Reads pairs: claims with their evidence, to train and measure verifiers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from research.evaluation.claims import bad_line, labelled_records, text_under
from retrieval.text.model_texts import SEPARATOR, evidence_set_text, evidence_text
from retrieval.types import Label


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim, its evidence, and the label that the evidence gives the claim.

    ``evidence``: the text as a verifier reads it, titles included. ``title``: of the page that
    it is from, if known. ``source`` and ``kind``: groups for the results.
    """

    claim: str
    evidence: str
    label: Label
    title: str | None
    source: str | None
    kind: str | None

    @property
    def sentences(self) -> tuple[tuple[str, str], ...]:
        """The evidence as (title, sentence): the text before " : " is a title, else it is ""."""
        parts = (written.partition(" : ") for written in self.evidence.split(SEPARATOR))
        return tuple((head, text) if colon else ("", head) for head, colon, text in parts)


def read_pairs(path: Path) -> Iterator[Pair]:
    """Yield the pairs in the order of the file, JSON lines.

    A line is ``{"claim", "label", "evidence"}``, where the evidence is a text or a list of
    ``{"title", "sentence"}``; ``title``, ``source`` and ``kind`` are optional.

    Raises:
        BadSource: the file cannot be read, or a line is not such a pair; the message names file
            and line.
    """
    for where, record, label in labelled_records(path):
        title = text_under(record, "title", where)
        yield Pair(
            claim=record["claim"],
            evidence=_evidence(record.get("evidence"), title, where),
            label=label,
            title=title,
            source=text_under(record, "source", where),
            kind=text_under(record, "kind", where),
        )


def _evidence(evidence: Any, title: str | None, where: str) -> str:
    if isinstance(evidence, str) and evidence.strip():
        return evidence_text(title, evidence) if title else evidence
    if isinstance(evidence, list) and evidence:
        try:
            sentences = [(item["title"], item["sentence"]) for item in evidence]
        except (KeyError, TypeError) as error:
            raise bad_line(where, "evidence without a 'title' and a 'sentence' each") from error
        if all(isinstance(text, str) for sentence in sentences for text in sentence):
            return evidence_set_text(sentences)
    raise bad_line(where, "the evidence is neither a text nor a list of titles and sentences")
