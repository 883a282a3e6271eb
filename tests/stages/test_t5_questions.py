from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.language.english import EnglishParser
from retrieval.report.networks import TextGenerator
from retrieval.stages.questions import T5QuestionGenerator
from retrieval.types import Question, Span


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What T5 is asked; it answers with the span, or with "Really?" for "No"."""
    texts: list[str] = []

    def answers(self: TextGenerator, asked: list[str]) -> list[str]:
        texts.extend(asked)
        spans = [text.partition(" context: ")[0].removeprefix("answer: ") for text in asked]
        return ["question: Really?" if s == "No" else f"question: {s}?" for s in spans]

    monkeypatch.setattr(TextGenerator, "answers", answers)
    return texts


def questions(parser: EnglishParser, claim: str, models: Path, *spans: str) -> list[Question]:
    found = [Span(s, claim.index(s), claim.index(s) + len(s), "entity") for s in spans]
    made: list[Question] = T5QuestionGenerator(models).ask(parser.parse(claim), found)
    return made


def test_each_span_is_asked_for_with_the_claim_as_context(
    parser: EnglishParser, tmp_path: Path, asked: list[str]
) -> None:
    claim = "Skerrow Light was designed by Ann Lee."
    made = questions(parser, claim, tmp_path, "Skerrow Light", "Ann Lee")
    assert asked == [f"answer: Skerrow Light context: {claim}", f"answer: Ann Lee context: {claim}"]
    assert [(q.text, q.kind, q.answer and q.answer.text) for q in made] == [
        ("Skerrow Light?", "wh", "Skerrow Light"),
        ("Ann Lee?", "wh", "Ann Lee"),
        ("Was Skerrow Light designed by Ann Lee?", "polar", None),
    ]


@pytest.mark.parametrize(
    ("claim", "polar"),
    [
        ("Dundee is a city in Scotland.", "Is Dundee a city in Scotland?"),
        ("Ann Lee has designed a bridge.", "Has Ann Lee designed a bridge?"),
        ("Is Dundee in Scotland?", "Is Dundee in Scotland?"),
        ("In 1815, the bridge was built by Ann Lee.", "Was the bridge built by Ann Lee in 1815?"),
        ("The bridge wasn't built by Ann Lee.", "Wasn't the bridge built by Ann Lee?"),
    ],
)
def test_a_sentence_with_an_auxiliary_verb_is_asked_with_the_verb_first(
    parser: EnglishParser, tmp_path: Path, asked: list[str], claim: str, polar: str
) -> None:
    assert questions(parser, claim, tmp_path) == [Question(polar, "polar")]
    assert asked == []


def test_a_sentence_without_one_is_asked_for_by_the_model_with_no_as_its_answer(
    parser: EnglishParser, tmp_path: Path, asked: list[str]
) -> None:
    claim = "Ann Lee designed Skerrow Light."
    assert questions(parser, claim, tmp_path) == [Question("Really?", "polar")]
    assert asked == [f"answer: No context: {claim}"]


def test_at_most_twelve_different_questions_are_asked_and_the_polar_one_is_among_them(
    parser: EnglishParser, tmp_path: Path, asked: list[str]
) -> None:
    words = [f"Ward{letter}" for letter in "ABCDEFGHIJKLMN"]
    claim = f"{' '.join(words)} is long."
    made = questions(parser, claim, tmp_path, *words)
    assert [q.text for q in made[:-1]] == [f"{word}?" for word in words[:11]]
    assert made[-1].kind == "polar"
    again = questions(parser, "Runde is Runde.", tmp_path, "Runde", "Runde")
    assert [q.text for q in again] == ["Runde?", "Is Runde Runde?"]
