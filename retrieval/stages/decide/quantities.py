"""The stage ``quantities``: arithmetic decides where the networks guess at a stated quantity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from retrieval.quantities.facts import ParsedSentence
from retrieval.quantities.reading import dimensions
from retrieval.quantities.relation import Ruling, overruled
from retrieval.quantities.stated import may_be_decided_by, stated
from retrieval.quantities.units import load_units
from retrieval.stages.stage import Makers, Stage, Step, count
from retrieval.state import ClaimState
from retrieval.text.english import EnglishParser
from retrieval.types import Evidence

UNREAD = (0.0, 0.0, 1.0)
"""The opinion on a sentence that says nothing alone."""


class QuantityRuler(Stage):
    """Overrules the verifier where the quantities of claim and evidence decide the claim.

    It rules on each sentence or path as it was read.
    """

    def __init__(self, parser: EnglishParser) -> None:
        """``parser`` reads the sentences that may decide the claim."""
        self._parser = parser

    def warm_up(self) -> None:
        """Load the parser and the units."""
        self._parser.warm_up()
        load_units()

    def run(self, state: ClaimState) -> Step:
        """Label ``evidence`` that is ruled on, put it first, and set ``rulings``."""
        found = list(self._ruled(state)) if dimensions(state.claim) else []
        if not found:
            return Step(replace(state, rulings={}), "")
        ruled = with_rulings(replace(state, rulings={}), found)
        return Step(ruled, f"{count(len(found), 'reading')} decided by arithmetic")

    def _ruled(self, state: ClaimState) -> Iterator[tuple[Evidence, Ruling]]:
        """Yield the evidence that arithmetic decides, with its new opinion."""
        known = {item.key: item for item in (*state.read, *state.evidence)}
        for item in state.evidence:
            parts = [*(known[key] for key in item.path), item]
            if any(map(has_context, parts)):
                continue
            texts = [(part.title, part.sentence.text) for part in parts]
            if not may_be_decided_by(state.parsed, texts):
                continue
            passages = [ParsedSentence(title, self._parser.parse(text)) for title, text in texts]
            decided = stated(state.parsed, passages)
            if decided is not None:
                yield replace(item, opinion=overruled(item.opinion, decided.label)), decided


def has_context(item: Evidence) -> bool:
    """Return whether a neighbour may turn what the sentence says ("That is wrong.").

    Arithmetic reads the sentence alone, so it leaves such a sentence to the verifier.
    """
    return item.in_context != item.sentence.text


def with_rulings(state: ClaimState, found: list[tuple[Evidence, Ruling]]) -> ClaimState:
    """Return the state with what is ruled on first in ``evidence``, and more ``rulings``.

    ``found``: each sentence or path with the opinion that follows from its ruling. The sentences of
    its path come after it, each alone.
    """
    ruled = {item.key: item for item, _ in found}
    known = {item.key: replace(item, opinion=UNREAD, path=()) for item in state.read}
    known |= {item.key: item for item in state.evidence}
    first = dict(ruled)
    for item in ruled.values():
        for key in item.path:
            first.setdefault(key, known[key])
    others = (item for item in state.evidence if item.key not in first)
    rulings = {(item.path, item.key): decided for item, decided in found}
    return replace(state, evidence=(*first.values(), *others), rulings={**state.rulings, **rulings})


MAKERS: Makers = {"quantities": lambda r, c: QuantityRuler(r.models.parser)}
