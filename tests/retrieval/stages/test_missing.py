from __future__ import annotations

from retrieval.stages.ending import missing_spans, share_a_word
from retrieval.types import Span
from tests.support.evidence import evidence

CLAIM = "The painter of Guernica was born in Oslo."


def span(text: str) -> Span:
    start = CLAIM.index(text)
    return Span(text, start, start + len(text), "entity")


def test_a_span_that_no_sentence_mentions_is_missing() -> None:
    found = missing_spans(
        [span("Guernica"), span("Oslo")],
        [evidence("Guernica", "It is a large painting in oil.")],
    )
    assert [s.text for s in found] == ["Oslo"]


def test_a_word_of_the_same_stem_covers_a_span() -> None:
    assert missing_spans([span("painter")], [evidence("Guernica", "Picasso painted it.")]) == []


def test_a_span_inside_another_missing_span_is_not_listed() -> None:
    found = missing_spans([span("born in Oslo"), span("Oslo")], [])
    assert [s.text for s in found] == ["born in Oslo"]


def test_case_and_accents_do_not_hide_a_word() -> None:
    assert missing_spans([span("Oslo")], [evidence("ÓSLO", "A town.")]) == []


def test_claim_and_evidence_share_a_word_of_a_sentence_or_of_a_title() -> None:
    spans = [span("painter"), span("born in Oslo")]
    nothing = evidence("Harbour", "It was built in 1901.")  # "in" is no word that counts
    assert not share_a_word(spans, [])
    assert not share_a_word(spans, [nothing])
    assert share_a_word(spans, [nothing, evidence("Harbour", "Some painted it.")])
    assert share_a_word(spans, [evidence("Oslo", "It is a town."), nothing])
