"""The proof of a result: the claim cut into its parts, and the result for each part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.filters import LOOKS_OF_PARTS, Look
from app.highlighting import Highlight, Segment, segments
from retrieval.result import ClaimResult
from retrieval.types import (
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    EvidenceSpan,
    Mutation,
    Operator,
    SentenceKey,
)
from retrieval.words import CANNOT_COMBINE, OUTCOMES, Quoting


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The evidence, number ``rank``, that a part of the claim was compared with.

    ``pieces``: the sentence, cut around the words that match the part. ``whole``: the whole
    sentence or its document's title matches, so no words are marked.
    """

    title: str
    rank: int
    pieces: tuple[Segment, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the claim and what the evidence says about it; ``number`` counts from 1."""

    number: int
    words: str
    operator: Operator
    look: Look
    excerpt: Excerpt | None


@dataclass(frozen=True, slots=True)
class ProofItem:
    """The proof of a claim; it has the label of the verdict.

    ``drawn``: the claim cut into its parts; a segment's first rank is the number of its part.
    """

    summary: Quoting
    drawn: tuple[Segment, ...]
    parts: tuple[Part, ...]


def proof_item(result: ClaimResult) -> ProofItem | None:
    """Return the proof, or ``None`` where the recipe makes none or it has another label.

    A proof that does not agree is not shown: its ticks would speak against the verdict.
    """
    # A span outside the claim has no words to show.
    steps = [step for step in result.proof if result.words_at(step.claim_span)]
    if not steps or not result.proof_agrees:
        return None
    parts = tuple(_part(number, step, result) for number, step in enumerate(steps, 1))
    marks = [
        Highlight(part.number, *step.claim_span, part.look)
        for part, step in zip(parts, steps, strict=True)
    ]
    return ProofItem(_summary(result, steps), segments(result.claim, marks), parts)


def _part(number: int, step: Mutation, result: ClaimResult) -> Part:
    look = LOOKS_OF_PARTS[step.operator]
    excerpt = _excerpt(step.evidence, look, result) if step.evidence else None
    return Part(number, result.words_at(step.claim_span), step.operator, look, excerpt)


def _excerpt(words: EvidenceSpan, look: Look, result: ClaimResult) -> Excerpt:
    # A proof is made from the selected evidence.
    rank, item = result.ranked[SentenceKey(words.document, words.sentence_id)]
    whole = (words.start, words.end) == (item.start, item.end)
    aligned = Highlight(1, words.start - item.start, words.end - item.start, look)
    pieces = segments(item.sentence, [] if whole else [aligned])
    return Excerpt(item.reference, rank, pieces, whole)


def _summary(result: ClaimResult, steps: Sequence[Mutation]) -> Quoting:
    """Return the sentence that says what the proof shows about the claim."""
    looks = [LOOKS_OF_PARTS[step.operator] for step in steps]
    if "unsettled" in looks:
        so = f", so {OUTCOMES[NOT_ENOUGH_INFO]}."
        if set(looks) == {"unsettled"}:
            return Quoting("The evidence leaves open every part of the claim", (), so)
        return Quoting("The evidence leaves open", _open(result, steps), so)
    contradicted = tuple(
        result.words_at(step.claim_span)
        for step, look in zip(steps, looks, strict=True)
        if look == "refuted"
    )
    covered = "Every part of the claim is covered by the evidence, which"
    # Two contradictions may cancel each other; the operators do not show whether they do. The
    # proof of several statements is put together of theirs.
    if len(contradicted) > 1 and not result.statements:
        return Quoting(f"{covered} contradicts more than one:", contradicted, f". {CANNOT_COMBINE}")
    if contradicted:
        return Quoting(f"{covered} contradicts", contradicted, f", so {OUTCOMES[REFUTES]}.")
    return Quoting(f"{covered} says the same", (), f", so {OUTCOMES[SUPPORTS]}.")


def _open(result: ClaimResult, steps: Sequence[Mutation]) -> tuple[str, ...]:
    """Return the words of the open parts; neighbouring parts are joined."""
    runs: list[tuple[int, int]] = []
    for step in steps:
        start, end = step.claim_span
        if LOOKS_OF_PARTS[step.operator] != "unsettled":
            continue
        if runs and not result.words_at((runs[-1][1], start)).strip():
            runs[-1] = (runs[-1][0], max(runs[-1][1], end))
        else:
            runs.append((start, end))
    return tuple(map(result.words_at, runs))
