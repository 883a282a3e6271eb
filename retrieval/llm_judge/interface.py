"""The interface of the stage ``explain``, for those that call it and that keep its answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, Protocol, TypeAlias

from retrieval.errors import EsotericError
from retrieval.types import Evidence, Usage, Verdict

Waiting: TypeAlias = Callable[[float], None]
"""Called about every second during a call, with the seconds so far. An exception that it raises
ends the call."""
Unanswered: TypeAlias = Literal["no_answer", "bad_answer"]


class LanguageModelUnavailable(EsotericError):
    """The language model gave no usable answer."""


@dataclass(frozen=True, slots=True)
class Explained:
    """The verdict with the model's opinion, the usage, and notices for the user.

    ``unanswered``: why there is no opinion of the model: it gave no answer, or none that passed the
    checks. ``None``: there is one.
    """

    verdict: Verdict
    usage: Usage
    notices: tuple[str, ...] = ()
    unanswered: Unanswered | None = None


class Explains(Protocol):
    """Asks a language model after the last hop."""

    @property
    def model(self) -> str:
        """The name of the model in verdicts."""
        ...

    @property
    def problem(self) -> EsotericError | None:
        """Why the model gives no usable answer, else ``None``."""
        ...

    def asking(self, model: str) -> Explains:
        """Return what asks another model at the same server."""
        ...

    def warm_up(self) -> None:
        """Import what the first claim needs."""
        ...

    def explain(
        self, claim: str, evidence: Sequence[Evidence], verdict: Verdict, on_wait: Waiting
    ) -> Explained:
        """Return the verdict with the model's opinion.

        ``evidence``: all evidence, best first; some of it is selected. ``verdict``: the verifier's;
        if the model gives no usable answer, it stays, and a notice says so.
        """
        ...


def digest_of(value: Any) -> str:
    """Return a digest of a JSON value: 32 hexadecimal digits."""
    return sha256(json.dumps(value).encode()).hexdigest()[:32]


def answer_digest(statement: str, asked: Any) -> str:
    """Return the digest for an answer to what was ``asked``, a JSON value.

    It begins with the digest of the statement, so that all answers to it can be deleted.
    """
    return digest_of(statement) + digest_of(asked)


class KeptAnswers(Protocol):
    """Answers, each under a digest of everything that it depends on (``answer_digest``)."""

    def kept_answer(self, digest: str) -> str | None:
        """Return the answer stored under this digest, or ``None``.

        Raises:
            EsotericError: it cannot be read.
        """
        ...

    def keep_answer(self, digest: str, answer: str) -> None:
        """Store an answer; it replaces an older one.

        Raises:
            EsotericError: it cannot be stored.
        """
        ...
