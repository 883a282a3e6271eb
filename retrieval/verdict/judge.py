"""What the pipeline asks of a judge."""

from __future__ import annotations

from typing import Protocol

from retrieval.types import Evidence, Verdict


class Judge(Protocol):
    """Reads the selected evidence together and decides."""

    def warm_up(self) -> None:
        """Load what is needed to decide."""
        ...

    def run(self, claim: str, evidence: list[Evidence]) -> dict[str, Verdict]:
        """Return ``{"verdict": ...}``; without evidence it is NOT ENOUGH INFO."""
        ...
