"""What a worker says about itself with each heartbeat, and the errors that it causes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from retrieval.errors import EsotericError, Problem
from retrieval.pipeline.runnable import Runnable

WorkerState: TypeAlias = Literal["loading", "ready", "broken"]


@dataclass(frozen=True)
class SearchedCorpus:
    """The corpus of a worker; ``built_at`` is ISO 8601 in UTC.

    ``text_date``: the day of its newest text, ISO 8601, "" if unknown. ``recipes``: which recipes
    can run over it; ``None`` if the worker runs an older version.
    """

    name: str
    source: str
    documents: int
    built_at: str
    text_date: str = ""
    recipes: Runnable | None = None


@dataclass(frozen=True)
class AskedModel:
    """The language model that a worker asks, at ``host``; ``problem``: why it gives no answer.

    ``decides``: whether the model gives the verdicts.
    """

    model: str
    host: str
    decides: bool
    problem: Problem | None


class InternalError(EsotericError):
    """An unexpected error; the traceback is in the worker's log."""

    def __init__(self, what: str) -> None:
        super().__init__(
            "internal",
            what,
            "Try again; if it fails again, `esoteric doctor` checks the installation and"
            " worker.log in ESOTERIC_HOME/logs has the details.",
        )


class CheckStalled(EsotericError):
    """A check made no progress for longer than the limit, and was ended."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            "check_stalled",
            f"The check made no progress for {seconds:.0f} seconds, so it was ended.",
            "Submit the claim again. If it happens again, worker.log in ESOTERIC_HOME/logs says"
            " where it stood still. ESOTERIC_STALL_SECONDS sets the limit.",
        )


class CheckHangs(EsotericError):
    """A check makes no progress now, and may be ended soon."""

    def __init__(self, seconds: float, limit: float) -> None:
        super().__init__(
            "check_hangs",
            f"The check of a claim has made no progress for {seconds:.0f} seconds, so others wait.",
            f"Wait: after {limit:.0f} seconds it is ended, and the next claim is checked.",
        )


class WorkerLost(EsotericError):
    """The worker stopped twice during one claim."""

    def __init__(self) -> None:
        super().__init__(
            "worker_lost",
            "The worker stopped in the middle of this claim, twice.",
            "Submit the claim again; if that fails too, the machine may be out of memory:"
            " see worker.log in ESOTERIC_HOME/logs.",
        )


class WorkerDies(EsotericError):
    """A worker ends each time right after its start; `esoteric up` reports it."""

    CODE = "worker_dies"

    def __init__(self, how: str) -> None:
        super().__init__(
            self.CODE,
            f"No worker is running, so claims wait. {how}.",
            "Fix this; the worker is started again by itself, at least once a minute.",
        )
