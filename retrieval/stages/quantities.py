"""The stage ``quantities``: arithmetic decides where the networks guess."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from retrieval.language.english import EnglishParser
from retrieval.quantities.comparing import comparison, names_page
from retrieval.quantities.facts import Passage
from retrieval.quantities.quantity import COUNT
from retrieval.quantities.reading import dimensions
from retrieval.quantities.relation import Ruling
from retrieval.quantities.ruling import (
    comparing,
    may_be_decided_by,
    may_decide,
    overruled,
    ruling,
)
from retrieval.quantities.units import load_units
from retrieval.stages.stage import Stage, Step, count
from retrieval.state import ClaimState
from retrieval.types import Evidence, SentenceKey

_COMPARED = 4  # sentences of each of two pages that are parsed to compare them
_UNREAD = (0.0, 0.0, 1.0)  # a half of a comparison says nothing alone


class QuantityRuler(Stage):
    """Overrules the verifier where the quantities of claim and evidence decide the claim.

    It rules on each sentence or path as it was read and, if the claim compares two things, on a
    sentence about each of them, also if the verifier has not read these together.
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
        if not may_decide(state.claim):
            return Step(state, "")
        compares = comparison(state.claim) is not None
        found = self._compared(state) if compares else list(self._ruled(state))
        if not found:
            return Step(replace(state, rulings={}), "")
        rulings = {(item.path, item.key): decided for item, decided in found}
        evidence = _ruled_first([item for item, _ in found], state)
        ruled = replace(state, evidence=evidence, rulings=rulings)
        return Step(ruled, f"{count(len(found), 'reading')} decided by arithmetic")

    def _ruled(self, state: ClaimState) -> Iterator[tuple[Evidence, Ruling]]:
        """Yield the evidence that arithmetic decides, with its new opinion."""
        known = {item.key: item for item in (*state.read, *state.evidence)}
        for item in state.evidence:
            parts = [*(known[key] for key in item.path), item]
            if any(map(_has_context, parts)):
                continue
            if not may_be_decided_by(
                state.parsed, [(part.title, part.sentence.text) for part in parts]
            ):
                continue
            decided = ruling(state.parsed, self._passages(parts))
            if decided is not None:
                yield replace(item, opinion=overruled(item.opinion, decided.label)), decided

    def _compared(self, state: ClaimState) -> list[tuple[Evidence, Ruling]]:
        """Return the path of the two sentences that decide a comparison, if there are any."""
        claim = comparison(state.claim)
        assert claim is not None
        known = {item.key: item for item in (*state.read, *state.evidence)}
        parts = [
            part
            for name in (claim.first, claim.second)
            for part in _about(name, claim.dimension, list(known.values()))[:_COMPARED]
        ]
        passages = self._passages(parts)
        found = comparing(state.parsed, passages)
        if found is None:
            return []
        decided, (first, second) = found
        lead, last = (parts[passages.index(passage)] for passage in (first, second))
        opinion = overruled(_UNREAD, decided.label)
        return [(replace(last, opinion=opinion, path=(lead.key,)), decided)]

    def _passages(self, parts: Sequence[Evidence]) -> list[Passage]:
        return [Passage(part.title, self._parser.parse(part.sentence.text)) for part in parts]


def _about(name: str, dimension: str, known: Sequence[Evidence]) -> list[Evidence]:
    """Return the sentences with such quantities of the page that a name is of, the best first."""
    needed = "" if dimension.startswith(COUNT) else dimension
    return [
        item
        for item in sorted(known, key=lambda item: -item.score)
        if names_page(name, item.title)
        and needed in dimensions(item.sentence.text)
        and not _has_context(item)
    ]


def _has_context(item: Evidence) -> bool:
    """Return whether a neighbour may turn what the sentence says ("That is wrong.").

    Arithmetic reads the sentence alone, so it leaves such a sentence to the verifier.
    """
    return item.in_context != item.sentence.text


def _ruled_first(ruled: Sequence[Evidence], state: ClaimState) -> tuple[Evidence, ...]:
    """Return the evidence with what is ruled on first, each after nothing but its own path."""
    known = {item.key: replace(item, opinion=_UNREAD, path=()) for item in state.read}
    known |= {item.key: item for item in state.evidence}
    first: dict[SentenceKey, Evidence] = {item.key: item for item in ruled}
    for item in ruled:
        for key in item.path:
            first.setdefault(key, known[key])
    return (*first.values(), *(item for item in state.evidence if item.key not in first))
