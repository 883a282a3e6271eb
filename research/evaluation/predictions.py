"""Answers of systems to claims, and the files of such answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from research.evaluation.claims import SentenceKey as Key
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


def as_line(prediction: Prediction) -> str:
    """Return the line of ``predictions.jsonl``; FEVER's scorer reads it too."""
    answer = prediction.answer
    record = _fever(prediction) | {
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
    return json.dumps(record, ensure_ascii=False) + "\n"


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
    _replace(path, (as_line(prediction) for prediction in predictions))


def write_submission(path: Path, predictions: Sequence[Prediction]) -> None:
    """Write the file for FEVER's shared task: only label and evidence."""
    _replace(path, (json.dumps(_fever(p), ensure_ascii=False) + "\n" for p in predictions))


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


def _replace(path: Path, lines: Iterable[str]) -> None:
    written = path.with_name(f"{path.name}.new")
    written.write_text("".join(lines), encoding="utf-8")
    written.replace(path)
