"""What a stage has found, as people watch it: the difference between two states of a claim."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.stages.missing import missing
from retrieval.state import ClaimState
from retrieval.types import Evidence, Findings, FoundDocument, FoundSentence, RankedDocument

# The sentences that are shown before the verifier has read any.
_MOST_UNREAD = 10
_DIGITS = 4


def findings(stage: str, before: ClaimState, after: ClaimState) -> Findings | None:
    """Return what this stage has added to the state, ``None`` if nothing that people watch."""
    found = Findings(
        hop=after.hop,
        spans=after.spans if after.spans is not before.spans else (),
        questions=_questions(before, after),
        documents=_documents(after) if after.opened is not before.opened else (),
        sentences=_sentences(before, after),
        open=_open(after) if stage == "next" else (),
    )
    return None if found == Findings(after.hop) else found


def _questions(before: ClaimState, after: ClaimState) -> tuple[str, ...]:
    if after.questions is before.questions:
        return ()
    return tuple(question.text for question in after.questions)


def _documents(state: ClaimState) -> tuple[FoundDocument, ...]:
    headings = {ranked.document.id: ranked.document.heading for ranked in state.documents}

    def found(ranked: RankedDocument) -> FoundDocument:
        led_by = "" if ranked.led_by is None else headings.get(ranked.led_by.document_id, "")
        score = round(ranked.score, _DIGITS)
        return FoundDocument(ranked.document.heading, score, ranked.found_by, led_by)

    return tuple(map(found, state.opened))


def _sentences(before: ClaimState, after: ClaimState) -> tuple[FoundSentence, ...]:
    """Return the sentences that were labelled, or the most relevant ones before they are."""
    if after.readings is not before.readings or after.rulings != before.rulings:
        return _found(after.evidence, labelled=True)
    if after.relevant is not before.relevant:
        return _found(after.relevant[:_MOST_UNREAD], labelled=False)
    return ()


def _found(evidence: Sequence[Evidence], *, labelled: bool) -> tuple[FoundSentence, ...]:
    return tuple(
        FoundSentence(
            item.heading,
            item.sentence.text,
            round(item.score, _DIGITS),
            item.stance if labelled else None,
        )
        for item in evidence
    )


def _open(state: ClaimState) -> tuple[str, ...]:
    return tuple(state.claim[start:end] for start, end in missing(state))
