"""The proof of a result: the claim cut into its parts, and the result for each part."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from app.filters import LOOKS_OF_PARTS, Look
from app.result.highlighting import Highlight, Segment, segments
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

_WORD = re.compile(r"\w+(?:[.,'’]\w+)*")  # noqa: RUF001 - a curly quote is meant
_AUXILIARIES = frozenset(("is", "are", "was", "were", "be", "been", "has", "have", "had", "did"))
# Words that are no difference by themselves.
_LITTLE = _AUXILIARIES | {"a", "an", "the", "of", "in", "on", "at", "to", "for", "from", "by"}
_TELLING: dict[Look, int] = {"supported": 0, "unsettled": 1, "refuted": 2}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The evidence, number ``rank``, that a part of the claim was compared with.

    ``words``: those of the sentence that match the part, "" where the whole sentence or its
    document's title does.
    """

    title: str
    rank: int
    words: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the claim and what the evidence says about it; ``number`` counts from 1."""

    number: int
    words: str
    operator: Operator
    look: Look
    excerpt: Excerpt | None


@dataclass(frozen=True, slots=True)
class Difference:
    """Words of a sentence that contradict words of the claim: Ottawa, where it says Toronto.

    ``start`` and ``end``: where they stand in the text of their document; ``claim_span``: where
    those of the claim stand in it.
    """

    document: str
    start: int
    end: int
    words: str
    claim_span: tuple[int, int]
    claim_words: str


@dataclass(frozen=True, slots=True)
class ProofItem:
    """The proof of a claim; it has the label of the verdict.

    ``drawn``: the claim cut into its parts; a segment has the number of its part.
    """

    summary: Quoting
    drawn: tuple[Segment, ...]
    parts: tuple[Part, ...]


def proof_item(result: ClaimResult) -> ProofItem | None:
    """Return the proof, or ``None`` where the recipe makes none or it has another label.

    A proof that does not agree is not shown: its ticks would speak against the verdict.
    """
    steps = _steps(result)
    if not steps or not result.proof_agrees:
        return None
    parts = tuple(_part(number, step, result) for number, step in enumerate(steps, 1))
    marks = [
        Highlight(part.number, *step.claim_span, part.look)
        for part, step in zip(parts, steps, strict=True)
    ]
    return ProofItem(_summary(result, steps), segments(result.claim, marks), parts)


def differences(result: ClaimResult) -> tuple[Difference, ...]:
    """Return the words in which the evidence differs from the claim, where the proof knows them.

    A proof that does not agree with the verdict knows nothing, and beside a claim that is not
    refuted a contradiction would speak against the verdict. Words that the claim has too are no
    difference, whatever the proof says about them.
    """
    if not result.proof_agrees or result.verdict.label != REFUTES:
        return ()
    found = (_difference(step, result) for step in _steps(result))
    return tuple(one for one in found if one is not None)


def marked_claim(result: ClaimResult, found: Sequence[Difference]) -> tuple[Segment, ...]:
    """Return the claim, cut around the words that the evidence contradicts."""
    marks = [Highlight(number, *one.claim_span, "refuted") for number, one in enumerate(found, 1)]
    return segments(result.claim, marks)


def _steps(result: ClaimResult) -> list[Mutation]:
    """Return the steps of the proof; a part that is an auxiliary verb alone is joined to the next.

    A span outside the claim has no words to show.
    """
    steps: list[Mutation] = []
    for step in result.proof:
        if not result.words_at(step.claim_span):
            continue
        before = steps[-1] if steps else None
        if before is not None and _says_nothing_alone(before, result):
            # The one that says more counts: a contradiction, then an open part.
            said = max(step, before, key=lambda one: _TELLING[LOOKS_OF_PARTS[one.operator]])
            span = (before.claim_span[0], step.claim_span[1])
            steps[-1] = replace(said, claim_span=span)
        else:
            steps.append(step)
    return steps


def _says_nothing_alone(step: Mutation, result: ClaimResult) -> bool:
    # Contradictions are counted, so none is joined to another.
    auxiliary = result.words_at(step.claim_span).casefold() in _AUXILIARIES
    return auxiliary and LOOKS_OF_PARTS[step.operator] != "refuted"


def _difference(step: Mutation, result: ClaimResult) -> Difference | None:
    words = step.evidence
    if words is None or LOOKS_OF_PARTS[step.operator] != "refuted":
        return None
    _, item = result.ranked[SentenceKey(words.document, words.sentence_id)]
    start, end = words.start - item.start, words.end - item.start
    whole = (words.start, words.end) == (item.start, item.end)
    if whole or not 0 <= start < end <= len(item.sentence):
        return None
    start, end = _whole_name(item.sentence, start, end)
    theirs = _own_words(item.sentence, (start, end), result.words_at(step.claim_span))
    ours = _own_words(result.claim, step.claim_span, item.sentence[start:end])
    if theirs is None or ours is None:
        return None
    return Difference(
        words.document,
        item.start + theirs[0],
        item.start + theirs[1],
        item.sentence[slice(*theirs)],
        ours,
        result.claim[slice(*ours)],
    )


def _whole_name(sentence: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of a name that is all of it: "Soviet Union" for "Soviet"."""
    spans = [(found.start(), found.end()) for found in _WORD.finditer(sentence)]
    inside = [number for number, (a, b) in enumerate(spans) if a < end and start < b]
    if not inside:
        return start, end
    first, last = inside[0], inside[-1]

    def in_name(number: int) -> bool:
        return sentence[spans[number][0]].isupper()

    if not in_name(last):
        return spans[first][0], spans[last][1]
    for (_, stop), (begin, _) in pairwise(spans[last:]):
        if sentence[stop:begin] != " " or not sentence[begin].isupper():
            break
        last += 1
    return spans[first][0], spans[last][1]


def _own_words(text: str, span: tuple[int, int], others: str) -> tuple[int, int] | None:
    """Return a span without the words at its ends that the others have too, or little ones."""
    shared = {word.casefold() for word in _WORD.findall(others)} | _LITTLE
    spans = [
        (found.start(), found.end())
        for found in _WORD.finditer(text, max(0, span[0]), max(0, span[1]))
    ]
    own = [one for one in spans if text[slice(*one)].casefold() not in shared]
    return (own[0][0], own[-1][1]) if own else None


def _part(number: int, step: Mutation, result: ClaimResult) -> Part:
    look = LOOKS_OF_PARTS[step.operator]
    excerpt = _excerpt(step.evidence, result) if step.evidence else None
    return Part(number, result.words_at(step.claim_span), step.operator, look, excerpt)


def _excerpt(words: EvidenceSpan, result: ClaimResult) -> Excerpt:
    # A proof is made from the selected evidence.
    rank, item = result.ranked[SentenceKey(words.document, words.sentence_id)]
    whole = (words.start, words.end) == (item.start, item.end)
    start, end = max(0, words.start - item.start), max(0, words.end - item.start)
    return Excerpt(item.reference, rank, "" if whole else item.sentence[start:end])


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
