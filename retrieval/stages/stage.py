"""What a stage is."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from retrieval.state import ClaimState


class Step(NamedTuple):
    """What a stage has done: the new state, and a line for the progress page, "" for none."""

    state: ClaimState
    message: str


class Stage(Protocol):
    """One step of checking a claim.

    ``docs/stages.md`` shows how to write one and how a recipe names it. A stage keeps nothing of a
    claim: what it found is in the state that it returns.
    """

    def warm_up(self) -> None:
        """Load what the stage needs; cheap when it is loaded already.

        Raises:
            ModelUnavailable: a model is missing or damaged.
        """
        return

    def run(self, state: ClaimState) -> Step:
        """Return the state with what this stage finds."""
        ...


def count(number: int, noun: str) -> str:
    """Return "1 document" or "3 documents"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
