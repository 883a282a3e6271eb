from __future__ import annotations

from pathlib import Path

import pytest
from spacy.tokens import Doc

from retrieval.models.papers.report_networks import AnswerExtractor, TextGenerator
from retrieval.stages.find.spans import WikineuralSpanExtractor, merged_entities
from retrieval.text.english import EnglishParser
from retrieval.types import Span

CLAIM = "Skerrow Light was designed by Ann Lee."


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What T5 is asked; it answers nothing."""
    texts: list[str] = []

    def answers(self: TextGenerator, asked: list[str]) -> list[str]:
        texts.extend(asked)
        return [""] * len(asked)

    monkeypatch.setattr(TextGenerator, "answers", answers)
    return texts


def spans(doc: Doc, models: Path) -> list[Span]:
    found: list[Span] = WikineuralSpanExtractor(models, AnswerExtractor(models)).extract(doc)
    return found


def test_an_entity_begins_at_b_or_where_the_type_changes_and_reaches_to_the_last_i() -> None:
    # "Ann Lee Dundee Skerrow Light and Bo", with offsets counted by hand.
    words = [
        (0, 3, "B-PER"),
        (4, 7, "I-PER"),
        (8, 14, "B-LOC"),
        (15, 22, "B-LOC"),
        (23, 28, "I-LOC"),
        (29, 32, "O"),
        (33, 35, "I-PER"),
    ]
    assert merged_entities(words) == [(0, 7), (8, 14), (15, 28), (33, 35)]
    assert merged_entities([(0, 3, "B-PER"), (4, 7, "I-ORG")]) == [(0, 3), (4, 7)]
    assert merged_entities([(0, 3, "B-PER"), (4, 7, "O"), (8, 9, "I-PER")]) == [(0, 3), (8, 9)]
    assert merged_entities([]) == []


def test_entities_are_cut_out_of_the_claim_by_their_offsets(
    parser: EnglishParser, tiny_models: Path, asked: list[str]
) -> None:
    found = spans(parser.parse(CLAIM), tiny_models)
    assert found == [Span("Skerrow Light", 0, 13, "entity"), Span("Ann Lee", 30, 37, "entity")]
    assert asked == [f"extract entities: <ha> {CLAIM} <ha>"]  # the prompt of figure 21


def test_a_word_of_several_tokens_is_not_cut(
    parser: EnglishParser, tiny_models: Path, asked: list[str]
) -> None:
    found = spans(parser.parse("Leeward is far."), tiny_models)
    assert [span.text for span in found] == ["Leeward"]


def test_what_t5_extracts_and_the_claim_contains_joins_the_entities(
    parser: EnglishParser, tiny_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "Ann Lee<sep> skerrow light was <sep>1871<sep><sep>designed"
    monkeypatch.setattr(TextGenerator, "answers", lambda self, texts: [said])
    found = spans(parser.parse(CLAIM), tiny_models)
    assert [(span.text, span.start) for span in found] == [
        ("Skerrow Light was", 0),
        ("Skerrow Light", 0),
        ("designed", 18),
        ("Ann Lee", 30),
    ]


def test_digits_alone_and_spans_with_a_hash_are_left_out(
    parser: EnglishParser, tiny_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "1871<sep>#1<sep>May 1871<sep>71B"
    monkeypatch.setattr(TextGenerator, "answers", lambda self, texts: [said])
    found = spans(parser.parse("It was #1 in May 1871 and 71B."), tiny_models)
    assert [span.text for span in found] == ["May 1871", "71B"]
