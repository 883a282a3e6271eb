"""Writes run and relevance files for ``trec_eval`` and similar programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from research.evaluation.claims import FeverClaim, SentenceKey, page_key
from research.evaluation.predictions import Prediction


def write_relevance(folder: Path, claims: Sequence[FeverClaim]) -> None:
    """Write ``pages.qrels`` and ``sentences.qrels``: everything in an evidence set is relevant."""
    pages = [(claim.id, page) for claim in claims for page in sorted(claim.pages)]
    sentences = [(claim.id, _name(key)) for claim in claims for key in sorted(claim.gold)]
    for name, relevant in (("pages", pages), ("sentences", sentences)):
        lines = (f"{claim} 0 {thing} 1\n" for claim, thing in relevant)
        (folder / f"{name}.qrels").write_text("".join(lines), encoding="utf-8")


def write_runs(folder: Path, predictions: Sequence[Prediction], system: str) -> None:
    """Write ``pages.run`` and ``sentences.run``, best first.

    Programs that read them sort by score, so the score decreases with the rank: scores of pages are
    not comparable, and sentences that two models read come before those that one model read.
    """
    pages = (
        (p.claim_id, page_key(page), rank, float(len(p.answer.pages) - rank))
        for p in predictions
        for rank, page in enumerate(p.answer.pages)
    )
    sentences = (
        (p.claim_id, _name((page_key(page), number)), rank, float(len(p.answer.ranked) - rank))
        for p in predictions
        for rank, ((page, number), _) in enumerate(p.answer.ranked)
    )
    _write(folder / "pages.run", pages, system)
    _write(folder / "sentences.run", sentences, system)


def _write(path: Path, entries: Iterable[tuple[int, str, int, float]], system: str) -> None:
    lines = (
        f"{claim} Q0 {thing} {rank + 1} {score:.6f} {system}\n"
        for claim, thing, rank, score in entries
    )
    path.write_text("".join(lines), encoding="utf-8")


def _name(sentence: SentenceKey) -> str:
    page, number = sentence
    return f"{page}#{number}"
