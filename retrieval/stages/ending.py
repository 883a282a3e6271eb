"""When a search ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from retrieval.recipes.recipes import Ending, Recipe
from retrieval.stages.missing import missing
from retrieval.state import ClaimState
from retrieval.types import NOT_ENOUGH_INFO, Hop, Stopped


def decided(state: ClaimState) -> bool:
    """Return whether the verdict supports or refutes the claim."""
    return state.verdict is not None and state.verdict.label != NOT_ENOUGH_INFO


def proved(state: ClaimState) -> bool:
    """Return whether the proof leaves no part of the claim open (AdMIRaL, section 3.2)."""
    return decided(state) if state.proof is None else state.proof.sufficient


def unchanged(state: ClaimState) -> bool:
    """Return whether this hop's best sentences are those of the hop before."""
    return bool(state.hops) and state.best == state.hops[-1].best


SUFFICIENT: dict[Ending, Callable[[ClaimState], bool]] = {
    "decided": decided,
    "proved": proved,
    "unchanged": unchanged,
    "never": proved,
}


def reason_to_stop(state: ClaimState, recipe: Recipe, seconds: float) -> Stopped | None:
    """Return why no other hop follows, None if one does; ``seconds`` have passed so far."""
    if recipe.ending != "never" and SUFFICIENT[recipe.ending](state):
        return recipe.ending
    same = state.selection == state.last_selection
    if same and recipe.ending in ("decided", "proved"):
        return "nothing new"  # the same sentences give the same proof and the same verdict
    if state.hop == recipe.max_hops:
        return "hops"
    return "time" if seconds > recipe.settings.seconds else None


def nothing_new(state: ClaimState, recipe: Recipe) -> Stopped | None:
    """Return "nothing new" if there is nothing to read in the next hop."""
    # Paths are read from the second hop on, also over what is known already.
    first_paths = "paths" in recipe.hop and state.hop == 1 and state.evidence
    return None if state.candidates or first_paths else "nothing new"


def hop_ended(state: ClaimState, recipe: Recipe, stopped: Stopped | None) -> ClaimState:
    """Return the state at the beginning of the next hop, with the finished one in ``hops``."""
    assert state.verdict is not None, "every hop of a recipe ends in a verdict"
    hop = Hop(
        hop=state.hop,
        sufficient=SUFFICIENT[recipe.ending](state),
        missing=missing(state),
        documents=len(state.opened),
        sentences=len(state.relevant),
        label=state.verdict.label,
        best=state.best,
        stopped=stopped,
    )
    return replace(
        state, hop=state.hop + 1, hops=(*state.hops, hop), last_selection=state.selection
    )
