"""The interface of the stage ``explain``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from retrieval.errors import EsotericError
from retrieval.llm_judge.language_model import Waiting
from retrieval.types import Evidence, Usage, Verdict

Unanswered: TypeAlias = Literal["no_answer", "bad_answer"]


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
    """Asks a language model after the last hop, at a server or in this process."""

    @property
    def model(self) -> str:
        """The name of the model in verdicts."""
        ...

    @property
    def problem(self) -> EsotericError | None:
        """Why the model gives no usable answer, else ``None``."""
        ...

    def warm_up(self) -> None:
        """Prepare what the first claim needs; raises nothing."""
        ...

    def explain(
        self, claim: str, evidence: Sequence[Evidence], verdict: Verdict, on_wait: Waiting
    ) -> Explained:
        """Return the verdict with the model's opinion.

        ``evidence``: all evidence, best first; some of it is selected. ``verdict``: the verifier's;
        if the model gives no usable answer, it stays, and a notice says so.
        """
        ...
