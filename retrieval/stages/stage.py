"""What a stage is, and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, TypeAlias

from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.resources import Resources
from retrieval.state import ClaimState


class Step(NamedTuple):
    """The result of a stage: the new state, and a line for the progress page, "" for none."""

    state: ClaimState
    message: str


class Stage(Protocol):
    """One step of checking a claim.

    ``docs/stages.md`` shows how to write one and how a recipe names it. A stage stores nothing
    about a claim; its results are in the state that it returns.
    """

    def warm_up(self) -> None:
        """Load the models of the stage; cheap if they are loaded already.

        Raises:
            ModelUnavailable: a model is missing or damaged.
        """
        return

    def run(self, state: ClaimState) -> Step:
        """Return the state with the results of this stage."""
        ...


Makers: TypeAlias = Mapping[str, Callable[[Resources, RetrievalConfig], Stage]]
"""What makes each stage of a file, by the names that recipes use: ``MAKERS`` at its end."""
