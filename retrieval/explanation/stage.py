"""What the pipeline asks of the stage ``explain``."""

from __future__ import annotations

from typing import Any, Protocol

from retrieval.errors import EsotericError
from retrieval.explanation.language_model import Waiting
from retrieval.types import Evidence, Verdict


class Explains(Protocol):
    """Asks a language model after the last hop: one at a server, or one of this process."""

    @property
    def model(self) -> str:
        """What verdicts call the model."""
        ...

    @property
    def problem(self) -> EsotericError | None:
        """Why the model gives no answer that can be used, if so."""
        ...

    def warm_up(self) -> None:
        """Prepare what the first claim needs; raises nothing."""
        ...

    def run(
        self, claim: str, evidence: list[Evidence], verdict: Verdict, on_wait: Waiting
    ) -> dict[str, Any]:
        """Return ``verdict`` with the model's opinion, ``usage`` and ``notices``.

        ``evidence``: all of it, best first; some of it is selected. ``verdict`` is the verifier's;
        it stays where the model gives no answer that can be used, and a notice says so.
        """
        ...
