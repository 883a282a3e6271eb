"""Lowers the confidence of a verdict if the proof disagrees, and says so in the rationale."""

from __future__ import annotations

from dataclasses import replace

from retrieval.recipes.config import RetrievalConfig
from retrieval.types import (
    ALTERNATION,
    LABELS,
    NEGATION,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Label,
    Mutation,
    Proof,
    Verdict,
)

_GUESS = 1 / len(LABELS)  # the most probable label is above this
_SEVERAL = "More than one part is contradicted, so the proof does not decide the claim."
_MOST_QUOTED = 3  # open parts
_VERBS: dict[Label, str] = {SUPPORTS: "supports", REFUTES: "contradicts"}


def adjusted_to_proof(
    claim: str, verdict: Verdict, proof: Proof, settings: RetrievalConfig
) -> Verdict:
    """Return the verdict; if the proof disagrees, with less confidence and one more sentence.

    The label stays, because a single part of the claim that was read wrongly changes the result of
    the proof. The rationale is plain text and may quote the claim.
    """
    if proof.label == verdict.label:
        share, remark = 1.0, ""
        if verdict.label == NOT_ENOUGH_INFO and 0 < len(proof.open) < len(proof.mutations):
            remark = _still_open(claim, proof)
    elif proof.sufficient and len(_contradicted(proof)) > 1:
        share, remark = settings.open_share, _SEVERAL
    elif verdict.label == NOT_ENOUGH_INFO:
        share = settings.proved_share
        remark = f"Taken part by part, the evidence {_VERBS[proof.label]} it."
    elif proof.label == NOT_ENOUGH_INFO:
        share, remark = settings.open_share, _still_open(claim, proof)
    else:
        share, remark = settings.opposed_share, "The proof, part by part, has the opposite result."
    if not remark:
        return verdict
    return replace(
        verdict,
        confidence=_lowered(verdict.confidence, share),
        probabilities=tuple(_lowered(p, share) for p in verdict.probabilities),
        rationale=f"{verdict.rationale} {remark}",
    )


def _lowered(probability: float, share: float) -> float:
    return _GUESS + share * (probability - _GUESS)


def _contradicted(proof: Proof) -> list[Mutation]:
    return [m for m in proof.mutations if m.operator in (NEGATION, ALTERNATION)]


def _still_open(claim: str, proof: Proof) -> str:
    """Return the sentence about the open spans; there is at least one."""
    parts = [f"“{claim[start:end]}”" for start, end in proof.open]
    if len(parts) == 1:
        return f"One part of the claim stays open: {parts[0]}."
    more = len(parts) - _MOST_QUOTED
    shown = ", ".join(parts[:_MOST_QUOTED]) + (f" and {more} more" if more > 0 else "")
    return f"Parts of the claim stay open: {shown}."
