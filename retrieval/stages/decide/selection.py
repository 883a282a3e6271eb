"""The stage ``selection``: chooses the few sentences that the verdict is made from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.models.papers.selector import log_odds
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.ending import share_a_word
from retrieval.stages.stage import Makers, Resources, Stage, Step
from retrieval.state import ClaimState
from retrieval.types import OPPOSITE, Evidence, SentenceKey
from retrieval.words import counted


class RelativeSelector(Stage):
    """Selects the sentences that are nearly as relevant to the claim as the best one.

    A verifier needs the few sentences that decide the claim, not all on the same topic (FER,
    section 1). The relevance of the best sentence differs between claims, so the threshold is a
    share of it: one sentence is selected if it is far better than the others, several if they are
    alike. The sentences of a path are selected together, because they decide only together. The
    best sentence of the other side is selected too, if there is one.
    """

    def __init__(self, share: float, limit: int) -> None:
        """Select sentences with at least ``share`` of the best score, ``limit`` at most."""
        self._share = share
        self._limit = limit

    def run(self, state: ClaimState) -> Step:
        """Mark the selected ``evidence``."""
        return _step(state, self.select(state.evidence))

    def select(self, evidence: Sequence[Evidence]) -> list[Evidence]:
        """Return the evidence, which comes best first, with ``selected`` set again on each."""
        first = evidence[: self._limit]
        bar = self._share * max((item.score for item in first), default=0.0)
        best = [item for item in first if item.score >= bar]
        selected = _with_paths(_opposed(best, evidence), self._limit)
        return [replace(item, selected=item.key in selected) for item in evidence]


class ProvedSelector(Stage):
    """Keeps the selected sentences that the proof uses, and others nearly as good as the best.

    A sentence that no part of the proof uses is often only about the same topic and decides
    nothing. The best sentence of the other side stays.
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._share = settings.unproved_share

    def run(self, state: ClaimState) -> Step:
        """Leave sentences out of the selection, after the stage ``proof``.

        Those that led to a kept one are kept too, and unused ones with at least ``unproved_share``
        of the best selected one's relevance.
        """
        assert state.proof is not None, "a recipe names selection:proved after proof"
        selected = state.selected
        needed = {step.evidence.key for step in state.proof.mutations if step.evidence is not None}
        bar = self._share * max((item.score for item in selected), default=0.0)
        best = [item for item in selected if item.key in needed or item.score >= bar]
        kept = _with_paths(_opposed(best, selected), len(selected))
        evidence = tuple(replace(item, selected=item.key in kept) for item in state.evidence)
        found = replace(state, evidence=evidence)
        return Step(found, f"{counted(len(found.selected), 'sentence')} kept for the proof")


class UtilityReader(Protocol):
    """A model that gives the probability that a sentence is useful evidence."""

    def warm_up(self) -> None:
        """Load its weights."""
        ...

    def usefulness(
        self, claim: str, sentences: Sequence[tuple[str, str]], relevance: Sequence[float]
    ) -> NDArray[np.floating[Any]]:
        """Return the probability of each (title, sentence) that it is useful evidence.

        ``relevance``: the probability of each that it is relevant to the claim.
        """
        ...


class UtilitySelector(Stage):
    """Selects sentences by their use for the verifier, not by their relevance (FER, section 3).

    FER's retriever selects before the verifier reads anything. If this stage runs after
    ``verification``, what the verifier says about each sentence counts as much as the retriever:
    the log-odds of a sentence are the mean of both. The two err on different sentences
    (research/notebook.md). FER selects what is more probably useful than not; here one sentence is
    selected if it is far better than the others, several if they are alike.
    """

    def __init__(self, model: UtilityReader, candidates: int, share: float, limit: int) -> None:
        """Choose from the ``candidates`` best sentences (FER, 4.1: 25), ``limit`` at most.

        Selected are those whose odds of being useful are at least ``share`` of the best one's.
        """
        self._model = model
        self._candidates = candidates
        self._share = share
        self._limit = limit

    def run(self, state: ClaimState) -> Step:
        """Mark the selected ``evidence`` and put it first."""
        relevance = {item.key: item.score for item in state.read}
        verified = bool(state.readings)
        return _step(state, self.select(state.claim, state.evidence, relevance, verified))

    def select(
        self,
        claim: str,
        evidence: Sequence[Evidence],
        relevance: Mapping[SentenceKey, float],
        verified: bool,
    ) -> list[Evidence]:
        """Return the evidence, which comes best first, with ``selected`` set again on each.

        ``relevance``: what the relevance model said about each sentence, on whose scores the model
        is trained. ``verified``: the scores of the evidence are the verifier's.

        The sentences that led to a selected one are selected with it. Selected sentences come
        before the others; otherwise the order is kept.
        """
        read = evidence[: self._candidates]
        if not read:
            return [replace(item, selected=False) for item in evidence]
        texts = [(item.heading, item.sentence.text) for item in read]
        known = [relevance[item.key] for item in read]
        odds: NDArray[np.floating[Any]] = log_odds(self._model.usefulness(claim, texts, known))
        if verified:
            odds = (odds + log_odds([item.score for item in read])) / 2
        bar = odds.max() + math.log(self._share) if self._share > 0 else -math.inf
        best = sorted(range(len(read)), key=lambda rank: -odds[rank])
        selected = _with_paths([read[rank] for rank in best if odds[rank] >= bar], self._limit)
        marked = [replace(item, selected=item.key in selected) for item in evidence]
        return sorted(marked, key=lambda item: not item.selected)


def _opposed(best: Sequence[Evidence], evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return the best sentences with the best one of the other side in the second place.

    So it finds room where the last of the others does not. The side is what the sentence with the
    highest score says, with its path, of those that say something. Nothing is added if there is no
    side, or if no sentence says the opposite.
    """
    decided = [item for item in best if item.decides in OPPOSITE]
    if not decided:
        return list(best)
    side = max(decided, key=lambda item: item.score)
    against = [item for item in evidence if item.decides == OPPOSITE[side.decides]][:1]
    keys = {item.key for item in (side, *against)}
    return [side, *against, *(item for item in best if item.key not in keys)]


def _with_paths(best: Iterable[Evidence], limit: int) -> set[SentenceKey]:
    """Return which sentences are selected, ``limit`` at most.

    ``best`` comes best first. A sentence that was read together with others is selected only
    together with them.
    """
    selected: set[SentenceKey] = set()
    for item in best:
        wanted = selected | {item.key, *item.path}
        if len(wanted) <= limit:
            selected = wanted
    return selected


def _step(state: ClaimState, marked: Sequence[Evidence]) -> Step:
    """Return the marked evidence; sentences without a common word with the claim are not selected.

    Sentences are ranked even for a text that is not a sentence, so the best may be meaningless.
    """
    if not share_a_word(state.spans, state.read):
        marked = [replace(item, selected=False) for item in marked]
    selection = frozenset(item.key for item in marked if item.selected)
    found = replace(state, evidence=tuple(marked), selection=selection)
    return Step(found, f"{counted(len(selection), 'sentence')} selected as evidence")


MAKERS: Makers = {
    "selection": lambda r, c: RelativeSelector(c.selection_share, c.selection_limit),
    "selection:proved": ProvedSelector,
    "selection:utility": lambda r, c: UtilitySelector(
        r.models.selector, c.utility_candidates, c.selection_share, c.selection_limit
    ),
}
