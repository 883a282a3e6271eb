"""The proof in a claim document: the claim cut into its parts, and the result for each part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from app.contexts import Excerpt, LegendEntry, Look, Part, ProofItem, Saying
from app.highlighting import Highlight, segments
from app.sentences import CitedSentences, words_at
from app.wording import LEGEND, OPERATORS
from retrieval.result import ClaimResult, EvidenceSpan, Mutation
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label

_OUTCOMES: dict[Label, str] = {
    SUPPORTS: "the claim is supported",
    REFUTES: "the claim is refuted",
    NOT_ENOUGH_INFO: "it is not sufficient",
}
_AS_A_WHOLE = "the verdict is that of the evidence read as a whole"


def proof_item(result: ClaimResult) -> ProofItem | None:
    """Return the proof, or ``None`` where the recipe makes none or it has another label.

    A proof that does not agree is not shown: its ticks would speak against the verdict.
    """
    if not result.proof_agrees:
        return None
    claim = result.claim
    # A span outside the claim has no words to show.
    steps = [step for step in result.proof if words_at(claim, *step.claim_span)]
    if not steps:
        return None
    spans = [step.claim_span for step in steps]
    looks = [OPERATORS[step.operator].look for step in steps]
    sentences = CitedSentences(result)
    counts = Counter(looks)
    return ProofItem(
        summary=_summary(claim, spans, looks, combined=bool(result.statements)),
        drawn=segments(
            claim,
            [
                Highlight(number, start, end, look)
                for number, ((start, end), look) in enumerate(zip(spans, looks, strict=True), 1)
            ],
        ),
        legend=tuple(
            LegendEntry(look, meaning, counts[look])
            for look, meaning in LEGEND.items()
            if counts[look]
        ),
        parts=tuple(_part(number, claim, step, sentences) for number, step in enumerate(steps, 1)),
    )


def _part(number: int, claim: str, step: Mutation, sentences: CitedSentences) -> Part:
    badge = OPERATORS[step.operator]
    return Part(
        number=number,
        words=words_at(claim, *step.claim_span),
        badge=badge,
        excerpt=_excerpt(step.evidence, badge.look, sentences) if step.evidence else None,
    )


def _excerpt(words: EvidenceSpan, look: Look, sentences: CitedSentences) -> Excerpt:
    found = sentences.sentence(words.document, words.sentence_id)
    assert found is not None  # a proof is made from the selected evidence
    rank, item = found
    whole = (words.start, words.end) == (item.start, item.end)
    aligned = Highlight(1, words.start - item.start, words.end - item.start, look)
    pieces = segments(item.sentence, [] if whole else [aligned])
    return Excerpt(item.reference, rank, pieces, whole)


def _summary(
    claim: str, spans: Sequence[tuple[int, int]], looks: Sequence[Look], *, combined: bool
) -> Saying:
    """Return the sentence that says what the proof shows about the claim.

    ``combined``: the proof is put together of those of several statements.
    """
    if "unsettled" in looks:
        before, quoted = "The evidence leaves open", _open(claim, spans, looks)
        if set(looks) == {"unsettled"}:
            before, quoted = "The evidence leaves open every part of the claim", ()
        return Saying(before, quoted, f", so {_OUTCOMES[NOT_ENOUGH_INFO]}.")
    contradicted = tuple(
        words_at(claim, *span) for span, look in zip(spans, looks, strict=True) if look == "refuted"
    )
    covered = "Every part of the claim is covered by the evidence, which"
    if len(contradicted) > 1 and not combined:
        # Two contradictions may cancel each other; the operators do not show whether they do.
        return Saying(
            f"{covered} contradicts more than one:",
            contradicted,
            f". The proof cannot combine several contradictions, so {_AS_A_WHOLE}.",
        )
    if contradicted:
        return Saying(f"{covered} contradicts", contradicted, f", so {_OUTCOMES[REFUTES]}.")
    return Saying(f"{covered} says the same", (), f", so {_OUTCOMES[SUPPORTS]}.")


def _open(claim: str, spans: Sequence[tuple[int, int]], looks: Sequence[Look]) -> tuple[str, ...]:
    """Return the words of the open parts; neighbouring parts are joined."""
    runs: list[tuple[int, int]] = []
    for (start, end), look in zip(spans, looks, strict=True):
        if look != "unsettled":
            continue
        if runs and not words_at(claim, runs[-1][1], start).strip():
            runs[-1] = (runs[-1][0], max(runs[-1][1], end))
        else:
            runs.append((start, end))
    return tuple(words_at(claim, start, end) for start, end in runs)
