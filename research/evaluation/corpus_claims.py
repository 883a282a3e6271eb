"""Reads claims that were written by hand for the served corpus, with their evidence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from research.evaluation.claims import (
    AnnotatedClaim,
    SentenceKey,
    bad_line,
    labelled_records,
    sentence_keys,
    text_under,
)
from retrieval.errors import BadSource
from retrieval.types import NOT_ENOUGH_INFO


@dataclass(frozen=True, slots=True)
class CorpusClaim(AnnotatedClaim):
    """A claim over the served corpus.

    ``kind``: what makes it hard, such as ``two-hop``. ``texts``: the sentences of ``evidence``,
    in the same shape, where the file has them. ``tempting``: a sentence that shares the topic of
    an undecided claim and does not settle it.
    """

    kind: str
    texts: tuple[tuple[str, ...], ...]
    tempting: SentenceKey | None


def read_corpus_claims(path: Path) -> list[CorpusClaim]:
    """Return the claims in the order of the file, JSON lines.

    A line is ``{"claim", "label", "kind", "evidence"}``, where the evidence is a list of sets
    ``[[document id, sentence number], ...]``, each sufficient alone; ``texts`` and ``tempting``
    are optional.

    Raises:
        BadSource: the file cannot be read or contains no claims, or a line is not such a claim; the
            message names file and line.
    """
    claims = []
    for where, record, label in labelled_records(path):
        evidence = _sets(record, where)
        if bool(evidence) != (label != NOT_ENOUGH_INFO) or not all(evidence):
            raise bad_line(where, "a decided claim needs evidence and an undecided one has none")
        claims.append(
            CorpusClaim(
                text=record["claim"],
                label=label,
                evidence=evidence,
                kind=text_under(record, "kind", where) or "other",
                texts=_texts(record, evidence, where),
                tempting=_tempting(record, where),
            )
        )
    if not claims:
        raise BadSource("bad_claims", f"{path} contains no claims.", "Give a file of claims.")
    return claims


def _sets(record: dict[str, Any], where: str) -> tuple[tuple[SentenceKey, ...], ...]:
    try:
        return tuple(sentence_keys(group, where) for group in record["evidence"])
    except (KeyError, TypeError, ValueError) as error:
        raise bad_line(
            where, "no sets of [document id, sentence number] under 'evidence'"
        ) from error


def _texts(
    record: dict[str, Any], evidence: tuple[tuple[SentenceKey, ...], ...], where: str
) -> tuple[tuple[str, ...], ...]:
    texts = record.get("texts") or []
    if not (
        isinstance(texts, list)
        and all(isinstance(group, list) for group in texts)
        and all(isinstance(text, str) for group in texts for text in group)
    ):
        raise bad_line(where, "'texts' is not a list of lists of sentences")
    if texts and [len(group) for group in texts] != [len(group) for group in evidence]:
        raise bad_line(where, "'texts' has another shape than 'evidence'")
    return tuple(tuple(group) for group in texts)


def _tempting(record: dict[str, Any], where: str) -> SentenceKey | None:
    if record.get("tempting") is None:
        return None
    try:
        (key,) = sentence_keys([record["tempting"]], where)
    except (TypeError, ValueError) as error:
        raise bad_line(where, "'tempting' is not [document id, sentence number]") from error
    return key
