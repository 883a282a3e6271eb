"""The stage ``next``: documents for the next hop, from the claim and the best sentences so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Protocol, TypeAlias

from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.missing import missing
from retrieval.stages.resources import Resources
from retrieval.stages.stage import Stage, Step
from retrieval.state import ClaimState
from retrieval.types import Candidate
from retrieval.words import counted


class Expander(Protocol):
    """Finds documents that the evidence of a hop leads to."""

    def warm_up(self) -> None:
        """Load the models; cheap if they are loaded already."""
        return

    def expand(self, state: ClaimState) -> list[Candidate]:
        """Return documents for the hop after this one, best first.

        An expander that ranks sets of documents returns those of its sets, also opened ones.
        """
        ...


ExpanderMakers: TypeAlias = Mapping[str, Callable[[Resources, RetrievalConfig], Expander]]
"""What makes each expander of a file, by the names that recipes use: ``EXPANDERS`` at its end."""


class NextHop(Stage):
    """Asks every expander of the recipe and takes the best documents of each in turn."""

    def __init__(self, expanders: Sequence[Expander], limit: int) -> None:
        """Find ``limit`` documents at most."""
        self._expanders = expanders
        self._limit = limit

    def warm_up(self) -> None:
        """Load the expanders."""
        for expander in self._expanders:
            expander.warm_up()

    def run(self, state: ClaimState) -> Step:
        """Find ``candidates``, to be opened in the next hop, and rank the documents by sets."""
        proposed = interleaved([expander.expand(state) for expander in self._expanders])
        found = [one for one in proposed if one.document_id not in state.seen][: self._limit]
        ids = [one.document_id for one in proposed]
        ranked = () if state.seen.isdisjoint(ids) else ids
        by_sets = tuple(dict.fromkeys((*ranked, *state.by_sets)))
        words = ", ".join(f"“{state.claim[start:end]}”" for start, end in missing(state))
        reason = f"Still missing: {words}" if words else "Not sufficient"
        message = f"{reason}; {counted(len(found), 'document')} to read next"
        return Step(replace(state, candidates=tuple(found), by_sets=by_sets), message)


def interleaved(lists: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    """Return all candidates: the first of every list, the second of every list, …

    Each list comes best first; scores of two lists cannot be compared. A document that is in
    several lists is returned once, with all stages that found it and the score and lead of the
    first.
    """
    merged: dict[str, Candidate] = {}
    for candidates in zip_longest(*lists):
        for candidate in candidates:
            if candidate is None:
                continue
            first = merged.setdefault(candidate.document_id, candidate)
            found_by = tuple(dict.fromkeys((*first.found_by, *candidate.found_by)))
            merged[candidate.document_id] = replace(first, found_by=found_by)
    return list(merged.values())
