"""The stage ``proof``: natural logic, span by span (AdMIRaL, section 3.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from retrieval.models.prover import ProofReading
from retrieval.proof import cut, label_of
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.stage import Makers, Resources, Stage, Step
from retrieval.state import ClaimState
from retrieval.text.model_texts import evidence_set_text, evidence_text
from retrieval.types import (
    INDEPENDENCE,
    OPERATORS,
    Evidence,
    EvidenceSpan,
    Mutation,
    Offsets,
    Operator,
    Proof,
)

LONGEST = 12  # tokens of an evidence span


class NaturalLogicProver(Stage):
    """Rewrites each span of the claim into one of the evidence, or leaves it open.

    The operator of a span is the most probable one. But a span is open as soon as the probability
    of "independent" reaches a fitted cutoff. No other rule changes the model's output, so the
    decision follows from the proof that is shown.
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._model = resources.models.prover
        self._cutoff = settings.independence_cutoff

    def run(self, state: ClaimState) -> Step:
        """Make the ``proof`` from the selected evidence.

        Sentences that do not fit the model's window are left out, the last ones first.
        """
        steps = tuple(self._steps(state, cut(state.parsed)))
        proof = Proof(steps, label_of(step.operator for step in steps))
        still_open = ", ".join(f"“{state.claim[start:end]}”" for start, end in proof.open)
        message = "Every part of the claim is covered"
        if still_open:
            message = f"Nothing found yet about {still_open}"
        return Step(replace(state, proof=proof), message)

    def _steps(self, state: ClaimState, spans: Sequence[Offsets]) -> Iterator[Mutation]:
        """Yield what each span of the claim is rewritten into."""
        if not state.selected:
            yield from (Mutation(span, INDEPENDENCE, None) for span in spans)
            return
        text = evidence_set_text([(item.heading, item.sentence.text) for item in state.selected])
        reading = self._model.read(state.parsed.text, spans, text)
        aligned = aligned_spans(reading, text, state.selected)
        for span, probabilities, where in zip(spans, reading.operators, aligned, strict=True):
            operator = operator_of(probabilities.tolist(), self._cutoff)
            if where is None or operator == INDEPENDENCE:
                yield Mutation(span, INDEPENDENCE, None)
            else:
                yield Mutation(span, operator, where)


def operator_of(probabilities: Sequence[float], independence_cutoff: float | None) -> Operator:
    """Return a span's operator, given the probabilities of ``OPERATORS`` in their order."""
    of = dict(zip(OPERATORS, probabilities, strict=True))
    if independence_cutoff is not None and of.pop(INDEPENDENCE) >= independence_cutoff:
        return INDEPENDENCE
    return max(of, key=lambda operator: of[operator])


def aligned_spans(
    reading: ProofReading, text: str, evidence: Sequence[Evidence]
) -> list[EvidenceSpan | None]:
    """Return the words of the evidence that each span of the claim is rewritten into.

    ``text`` is the evidence as the model read it. A span has at most 12 tokens of one sentence,
    widened to whole words. If the words are of the title before a sentence, it is the whole
    sentence. None if the model saw no token of the span or of the evidence.
    """
    passages = list(_passages(evidence))
    at = np.full(len(reading.evidence), -1)
    for number, passage in enumerate(passages):
        begins = reading.offsets[:, 0]
        at[reading.evidence & (begins >= passage.start) & (begins < passage.end)] = number
    found: list[EvidenceSpan | None] = []
    allowed = _allowed(at)
    for starts, ends, seen in zip(reading.starts, reading.ends, reading.seen, strict=True):
        if not seen or not allowed.any():
            found.append(None)
            continue
        scores = np.where(allowed, starts[:, None] + ends[None, :], -np.inf)
        first, last = divmod(int(scores.argmax()), len(at))
        begin, end = int(reading.offsets[first, 0]), int(reading.offsets[last, 1])
        found.append(passages[at[first]].span(text, begin, end))
    return found


@dataclass(frozen=True, slots=True)
class _Passage:
    """A sentence in the evidence text, or the title before it; offsets into that text."""

    start: int
    end: int
    item: Evidence
    is_title: bool

    def span(self, text: str, start: int, end: int) -> EvidenceSpan:
        sentence = self.item.sentence
        if self.is_title:
            return EvidenceSpan(*self.item.key, sentence.start, sentence.end)
        while start > self.start and text[start - 1].isalnum() and text[start].isalnum():
            start -= 1
        while end < self.end and text[end - 1].isalnum() and text[end].isalnum():
            end += 1
        moved = sentence.start - self.start
        return EvidenceSpan(*self.item.key, start + moved, end + moved)


def _passages(evidence: Sequence[Evidence]) -> Iterator[_Passage]:
    """Yield the positions of titles and sentences in the ``evidence_set_text`` of the evidence."""
    pairs = [(item.heading, item.sentence.text) for item in evidence]
    for number, item in enumerate(evidence):
        end = len(evidence_set_text(pairs[: number + 1]))
        sentence = end - len(item.sentence.text)
        yield _Passage(end - len(evidence_text(*pairs[number])), sentence, item, is_title=True)
        yield _Passage(sentence, end, item, is_title=False)


def _allowed(at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which (start, end) of tokens are valid: in one passage, in order, not too long."""
    places = np.arange(len(at))
    length = places[None, :] - places[:, None] + 1
    together: NDArray[np.bool_] = (at[:, None] == at[None, :]) & (at[:, None] >= 0)
    return together & (length >= 1) & (length <= LONGEST)


MAKERS: Makers = {"proof": NaturalLogicProver}
