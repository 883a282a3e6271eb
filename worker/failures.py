"""Errors of a claim that are caused by the worker."""

from __future__ import annotations

from retrieval.errors import EsotericError


class InternalError(EsotericError):
    """An unexpected error; the traceback is in the worker's log."""

    def __init__(self, what: str) -> None:
        super().__init__(
            "internal",
            what,
            "Try again; if it fails again, `esoteric doctor` checks the installation and"
            " worker.log in ESOTERIC_HOME/logs has the details.",
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
