"""Runs a system on claims, in several processes, and keeps every answer in files at once."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from research.evaluation.claims import FeverClaim, page_key
from research.evaluation.claims import SentenceKey as Key
from retrieval.corpora.json_lines import encoded_line
from retrieval.errors import BadSource, EsotericError
from retrieval.system.processes import in_order
from retrieval.types import Label, Report, Retrieved, SentenceKey

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
    ranked: tuple[tuple[Key, float], ...] = ()
    pages: tuple[str, ...] = ()
    hops: tuple[AnswerHop, ...] = ()
    retrieved: Retrieved = field(default_factory=Retrieved)
    seconds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, report: Report, ranked: Iterable[tuple[Key, float]], pages: Iterable[str]
    ) -> Answer:
        """Return the answer in a report; ``ranked`` and ``pages`` as above."""
        return cls(
            label=report.verdict.label,
            confidence=report.verdict.confidence,
            evidence=tuple(item.key for item in report.evidence if item.selected),
            ranked=tuple(ranked),
            pages=tuple(pages),
            hops=tuple(AnswerHop(hop.sufficient, hop.label, hop.best) for hop in report.hops),
            retrieved=report.retrieved,
            seconds=report.seconds,
        )


class System(Protocol):
    """Answers claims, one at a time."""

    def warm_up(self) -> None:
        """Load everything that the first claim needs."""
        ...

    def answer(self, claim: str) -> Answer:
        """Return the system's answer.

        Raises:
            EsotericError: there is no answer.
        """
        ...

    def report(self, claim: str) -> Report:
        """Return the report; that of a baseline has no documents and no hops.

        Raises:
            EsotericError: there is no answer.
        """
        ...


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


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Crash:
    """A claim without an answer, because the system crashed; it is in no score."""

    claim_id: int
    error: str


@dataclass(frozen=True, slots=True)
class SystemOutcome:
    """The answers of a system; ``predictions`` are in the order of the claims."""

    predictions: list[Prediction]
    crashes: list[Crash]


def has_answered(folder: Path, claims: Sequence[FeverClaim]) -> bool:
    """Return whether ``folder`` has an answer to each of the claims; raises ``BadSource``."""
    answered = {prediction.claim_id for prediction in _kept(folder / "predictions.jsonl")}
    return all(claim.id in answered for claim in claims)


def run_system(
    open_system: Callable[[], System],
    name: str,
    claims: Sequence[FeverClaim],
    folder: Path,
    processes: int,
    on_progress: Callable[[int], None],
) -> SystemOutcome:
    """Answer the claims, write the answers to ``folder`` and return all, old and new.

    Answers in ``folder`` from an interrupted run are kept; claims that crashed
    are tried again. The system is opened in each process, and only if a claim
    is left; with several processes ``open_system`` must pickle. ``on_progress`` receives the
    number of claims that are done.

    Raises:
        BadSource: ``predictions.jsonl`` in ``folder`` is another kind of file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "predictions.jsonl"
    answered = {prediction.claim_id: prediction for prediction in _kept(path)}
    write_predictions(path, answered.values())  # without a line that was cut off
    left = [claim for claim in claims if claim.id not in answered]
    done = len(claims) - len(left)
    on_progress(done)
    crashes = []
    if left:
        with path.open("ab") as stream:
            for result in in_order(partial(_Answering, open_system), left, processes):
                if isinstance(result, Crash):
                    crashes.append(result)
                else:
                    answered[result.claim_id] = result
                    stream.write(as_line(result))
                    stream.flush()
                done += 1
                on_progress(done)
    outcome = SystemOutcome(
        [answered[claim.id] for claim in claims if claim.id in answered], crashes
    )
    _write_beside(folder, name, outcome)
    return outcome


def _kept(path: Path) -> list[Prediction]:
    try:
        return read_predictions(path)
    except ValueError as error:
        raise BadSource(
            "bad_predictions",
            f"{path}, {error}: not a prediction.",
            "Remove that line, or the file; missing answers are computed again.",
        ) from error


class _Answering:
    """Answers claims with one system; each process has one."""

    def __init__(self, open_system: Callable[[], System]) -> None:
        self._system = open_system()
        self._system.warm_up()

    def __call__(self, claim: FeverClaim) -> Prediction | Crash:
        try:
            return Prediction(claim.id, self._system.answer(claim.text))
        except EsotericError as error:
            return Crash(claim.id, error.message)
        except Exception as error:  # the other claims continue, and the command fails at the end
            logger.exception("claim %d crashed", claim.id)
            return Crash(claim.id, f"{type(error).__name__}: {error}")


def _write_beside(folder: Path, name: str, outcome: SystemOutcome) -> None:
    write_submission(folder / "submission.jsonl", outcome.predictions)
    write_runs(folder, outcome.predictions, name)
    write_lines(folder / "crashes.jsonl", map(asdict, outcome.crashes))
