"""Runs a system on claims, in several processes, and writes every answer at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from research.evaluation.claims import FeverClaim
from research.evaluation.predictions import (
    Prediction,
    as_line,
    read_predictions,
    write_lines,
    write_predictions,
    write_runs,
    write_submission,
)
from research.evaluation.systems import System
from retrieval.errors import BadSource, EsotericError
from retrieval.system.processes import in_order

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
