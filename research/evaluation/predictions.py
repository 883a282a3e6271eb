"""Answers of systems to claims, and the files of such answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from research.evaluation.claims import FeverClaim, page_key
from research.evaluation.claims import SentenceKey as Key
from retrieval.corpora.json_lines import encoded_line
from retrieval.types import Label, Retrieved, SentenceKey

MOST_EVIDENCE = 5  # FEVER counts the first five pieces of evidence (Thorne et al. 2018, section 5)


@dataclass(frozen=True, slots=True)
class AnswerHop:
    """One hop of an answer.

    ``sufficient``: whether the system took the evidence as sufficient. ``label``: the verdict on
    its best sentences. ``best``: at most five sentences, best first.
    """

    sufficient: bool
    label: Label | None
    best: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a system to a claim.

    Attributes:
        label: its verdict.
        confidence: probability of the label, 0..1.
        evidence: the selected sentences, best first.
        ranked: every sentence that it ranked, best first, with its score.
        pages: every document passed to the sentence stage, best first.
        hops: the hops; none for systems without hops.
        retrieved: what was found before the verifier chose among it.
        seconds: time by stage, and in ``total``.
    """

    label: Label
    confidence: float
    evidence: tuple[Key, ...]
    ranked: tuple[tuple[Key, float], ...]
    pages: tuple[str, ...]
    hops: tuple[AnswerHop, ...]
    retrieved: Retrieved
    seconds: dict[str, float]


@dataclass(frozen=True, slots=True)
class Prediction:
    """An answer with the id of its claim."""

    claim_id: int
    answer: Answer


def as_line(prediction: Prediction) -> bytes:
    """Return the line of ``predictions.jsonl``; FEVER's scorer reads it too."""
    return encoded_line(_record(prediction))


def _record(prediction: Prediction) -> dict[str, Any]:
    answer = prediction.answer
    return _fever(prediction) | {
        "predicted_pages": list(answer.pages),
        "confidence": answer.confidence,
        "seconds": answer.seconds["total"],
        "stage_seconds": {k: v for k, v in answer.seconds.items() if k != "total"},
        "hops": [
            {
                "sufficient": hop.sufficient,
                "label": hop.label,
                "best": [[page, n] for page, n in hop.best],
            }
            for hop in answer.hops
        ],
        "ranked_sentences": [[page, n, score] for (page, n), score in answer.ranked],
        "retrieved": retrieved_record(answer.retrieved),
    }


def read_predictions(path: Path) -> list[Prediction]:
    """Return the predictions of a file that ``as_line`` wrote; an incomplete last line is left out.

    Raises:
        ValueError: a line is not one of those; the message names it.
    """
    if not path.exists():
        return []
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    return [_prediction(line, n) for n, line in enumerate(whole.split(b"\n")[:-1], start=1)]


def write_predictions(path: Path, predictions: Iterable[Prediction]) -> None:
    """Replace a file of predictions at once."""
    write_lines(path, map(_record, predictions))


def write_submission(path: Path, predictions: Sequence[Prediction]) -> None:
    """Write the file for FEVER's shared task: only label and evidence."""
    write_lines(path, map(_fever, predictions))


def retrieved_record(retrieved: Retrieved) -> dict[str, Any]:
    """Return what was found as JSON; ``retrieved_of`` reads it."""
    return {"documents": retrieved.documents, "passages": retrieved.passages}


def retrieved_of(record: dict[str, Any]) -> Retrieved:
    """Return what was found; raises what a record of another form raises."""
    return Retrieved(
        tuple((document, tuple(found_by)) for document, found_by in record["documents"]),
        tuple(SentenceKey(document, number) for document, number in record["passages"]),
    )


def _fever(prediction: Prediction) -> dict[str, Any]:
    answer = prediction.answer
    return {
        "id": prediction.claim_id,
        "predicted_label": answer.label,
        "predicted_evidence": [[page, n] for page, n in answer.evidence[:MOST_EVIDENCE]],
    }


def _prediction(line: bytes, number: int) -> Prediction:
    try:
        record = json.loads(line)
        return Prediction(
            record["id"],
            Answer(
                label=record["predicted_label"],
                confidence=record["confidence"],
                evidence=tuple((page, n) for page, n in record["predicted_evidence"]),
                ranked=tuple(((page, n), score) for page, n, score in record["ranked_sentences"]),
                pages=tuple(record["predicted_pages"]),
                hops=tuple(
                    AnswerHop(
                        hop["sufficient"], hop["label"], tuple((page, n) for page, n in hop["best"])
                    )
                    for hop in record["hops"]
                ),
                retrieved=retrieved_of(record["retrieved"]),
                seconds={"total": record["seconds"], **record["stage_seconds"]},
            ),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"line {number}") from error


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Replace the content of the file by the records, one a line.

    If it is interrupted, the file still has all old records or all new ones.
    """
    written = path.with_name(f"{path.name}.new")
    written.write_bytes(b"".join(map(encoded_line, records)))
    written.replace(path)


def whole_lines(path: Path) -> list[dict[str, Any]]:
    """Return the records before a line that was cut off; none if there is no file."""
    records: list[dict[str, Any]] = []
    if path.exists():
        for line in path.read_bytes().split(b"\n"):
            try:
                records.append(json.loads(line))
            except ValueError:  # also for bytes that are not UTF-8
                break
    return records


def write_relevance(folder: Path, claims: Sequence[FeverClaim]) -> None:
    """Write ``pages.qrels`` and ``sentences.qrels``: everything in an evidence set is relevant."""
    pages = [(claim.id, page) for claim in claims for page in sorted(claim.pages)]
    sentences = [(claim.id, _sentence_name(key)) for claim in claims for key in sorted(claim.gold)]
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
        (
            p.claim_id,
            _sentence_name((page_key(page), number)),
            rank,
            float(len(p.answer.ranked) - rank),
        )
        for p in predictions
        for rank, ((page, number), _) in enumerate(p.answer.ranked)
    )
    _write_run(folder / "pages.run", pages, system)
    _write_run(folder / "sentences.run", sentences, system)


def _write_run(path: Path, entries: Iterable[tuple[int, str, int, float]], system: str) -> None:
    lines = (
        f"{claim} Q0 {thing} {rank + 1} {score:.6f} {system}\n"
        for claim, thing, rank, score in entries
    )
    path.write_text("".join(lines), encoding="utf-8")


def _sentence_name(sentence: Key) -> str:
    page, number = sentence
    return f"{page}#{number}"
