"""What a stage has found, from the states before and after it."""

from __future__ import annotations

from dataclasses import replace

import spacy

from retrieval.pipeline.check import findings
from retrieval.state import ClaimState
from retrieval.types import (
    Document,
    Evidence,
    Findings,
    FoundDocument,
    FoundSentence,
    Question,
    RankedDocument,
    Sentence,
    SentenceKey,
    Span,
)

CLAIM = "Ida Holm built it."
STATE = ClaimState(CLAIM, spacy.blank("en")(CLAIM))
HOLM = Span("Ida Holm", 0, 8, "entity")
SAID = Sentence("varn", 0, "She built it.", 0, 13)
VARN = Document("varn", "Varn", None, "She built it.", (SAID,), section="History")
READ = Evidence(SAID, "Varn", None, (0.71236, 0.1, 0.18764), 1)


def test_a_stage_that_finds_nothing_to_show_has_no_findings() -> None:
    assert findings("titles", STATE, replace(STATE, exact=())) is None


def test_spans_and_questions_are_found_once() -> None:
    spans = replace(STATE, spans=(HOLM,))
    assert findings("spans", STATE, spans) == Findings(1, spans=(HOLM,))
    asked = replace(spans, questions=(Question("Who built it?", None, "wh"),))
    assert findings("questions", spans, asked) == Findings(1, questions=("Who built it?",))


def test_an_opened_document_names_the_one_that_led_to_it() -> None:
    first = RankedDocument(VARN, 0.5, ("title",), 1)
    holm = replace(VARN, id="holm", title="Ida Holm", section=None)
    second = RankedDocument(holm, 0.123456, ("mention",), 2, SentenceKey("varn", 0))
    before = replace(STATE, hop=2, opened=(first,), documents=(first,))
    after = replace(before, opened=(second,), documents=(first, second))
    assert findings("sentences", before, after) == Findings(
        2, documents=(FoundDocument("Ida Holm", 0.1235, ("mention",), "Varn, History"),)
    )


def test_a_sentence_has_a_label_only_once_the_verifier_has_read_it() -> None:
    relevant = replace(STATE, relevant=(READ,))
    found = FoundSentence("Varn", "She built it.", 0.8124, None)
    assert findings("relevance", STATE, relevant) == Findings(1, sentences=(found,))
    read = replace(relevant, evidence=(READ,), readings={((), READ.key): READ.opinion})
    labelled = replace(found, stance="SUPPORTS")
    assert findings("verification", relevant, read) == Findings(1, sentences=(labelled,))


def test_what_is_open_is_named_before_the_next_hop() -> None:
    open_words = replace(STATE, spans=(HOLM,))
    assert findings("next", open_words, open_words) == Findings(1, open=("Ida Holm",))
