"""Lowers the confidence of a verdict if the proof disagrees.

Where the two differ, settled verdicts are right as often as where they agree
(``research/notebook.md``): the verdict counts, not the proof. So the rationale mentions the proof
only where the verdict is at another level because of it.
"""

from __future__ import annotations

from dataclasses import replace

from retrieval.recipes.config import RetrievalConfig
from retrieval.types import (
    ALTERNATION,
    LABELS,
    NEGATION,
    NOT_ENOUGH_INFO,
    Proof,
    Verdict,
)
from retrieval.verdict_level import level_of
from retrieval.words import LESS_SURE

_GUESS = 1 / len(LABELS)  # the most probable label is above this


def adjusted_to_proof(verdict: Verdict, proof: Proof, settings: RetrievalConfig) -> Verdict:
    """Return the verdict; if the proof disagrees, with less confidence.

    The label stays, because a single part of the claim that was read wrongly changes the result of
    the proof.
    """
    share = _share(verdict, proof, settings)
    if share == 1:
        return verdict
    return replace(
        verdict,
        confidence=_lowered(verdict.confidence, share),
        probabilities=tuple(_lowered(p, share) for p in verdict.probabilities),
    )


def saying_why_less_sure(verdict: Verdict, without_proof: Verdict) -> Verdict:
    """Return the verdict with a sentence about the proof, if the level differs because of it.

    ``without_proof``: the verdict that the same evidence has if no proof is compared with it.
    """
    levels = {level_of(one.label, one.confidence, one.leans) for one in (verdict, without_proof)}
    if len(levels) == 1:
        return verdict
    return replace(verdict, rationale=f"{verdict.rationale} {LESS_SURE}")


def _share(verdict: Verdict, proof: Proof, settings: RetrievalConfig) -> float:
    if proof.label == verdict.label:
        return 1.0
    # The automaton cannot combine several contradictions.
    contradicted = sum(step.operator in (NEGATION, ALTERNATION) for step in proof.mutations)
    if proof.sufficient and contradicted > 1:
        return settings.open_share
    if verdict.label == NOT_ENOUGH_INFO:
        return settings.proved_share
    return settings.open_share if proof.label == NOT_ENOUGH_INFO else settings.opposed_share


def _lowered(probability: float, share: float) -> float:
    return _GUESS + share * (probability - _GUESS)
