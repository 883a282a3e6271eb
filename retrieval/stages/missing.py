"""Which parts of a claim the evidence leaves open, and whether it says anything about them."""

from __future__ import annotations

from collections.abc import Sequence

from spacy.tokens import Token

from retrieval.state import ClaimState
from retrieval.text.stems import stem, stems_in
from retrieval.types import Evidence, Span


def missing(state: ClaimState) -> tuple[tuple[int, int], ...]:
    """Return the parts of the claim that are still open, as offsets into the claim."""
    if state.proof is not None:
        return state.proof.open
    return tuple((s.start, s.end) for s in missing_spans(state.spans, state.selected))


def uncovered(state: ClaimState) -> tuple[tuple[int, int], ...]:
    """Return the open parts that say something which no selected sentence says, as offsets.

    Such a part has a noun, a number, a name or an adjective that occurs in none of the sentences or
    their titles; words are compared by their stems. Verbs are said in too many ways. Without
    selected sentences there is none.
    """
    if not state.selected:
        return ()
    spoken = _spoken(state.selected)
    said = [token for token in state.parsed if _says_something(token)]
    return tuple(
        (start, end)
        for start, end in missing(state)
        if any(start <= token.idx < end and stem(token.text) not in spoken for token in said)
    )


def _says_something(token: Token) -> bool:
    return token.pos_ in ("PROPN", "NUM") or (token.pos_ in ("NOUN", "ADJ") and not token.is_stop)


def missing_spans(spans: Sequence[Span], evidence: Sequence[Evidence]) -> list[Span]:
    """Return the spans without a word that occurs in one of the sentences or their titles.

    Words are compared by their stems. A span inside
    another missing span is left out. A span that is not returned is not proved: only a word of it
    was found.
    """
    spoken = _spoken(evidence)
    missing = [span for span in spans if (words := stems_in(span.text)) and not words & spoken]
    return [
        span
        for span in missing
        if not any(
            other is not span and other.start <= span.start and span.end <= other.end
            for other in missing
        )
    ]


def share_a_word(spans: Sequence[Span], evidence: Sequence[Evidence]) -> bool:
    """Return whether some sentence, or its title, contains a word of some span.

    Words are compared as in ``missing_spans``.
    """
    spoken = _spoken(evidence)
    return any(stems_in(span.text) & spoken for span in spans)


def _spoken(evidence: Sequence[Evidence]) -> set[str]:
    return {
        stem for item in evidence for stem in stems_in(item.heading) | stems_in(item.in_context)
    }
