from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.models.papers.report_networks import AnswerExtractor, TextGenerator
from retrieval.stages.find.questions import T5QuestionGenerator
from retrieval.text.english import EnglishParser
from retrieval.types import Question
from tests.support.cases import cases


@pytest.fixture
def extracted() -> list[str]:
    """What T5 extracts as answers from the claim; nothing if a test adds nothing."""
    return []


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, extracted: list[str]) -> list[str]:
    """What the models are asked.

    The first gives ``extracted``, the second a question with the answer in it, or "Really?" for
    "No".
    """
    texts: list[str] = []

    def answers(self: TextGenerator, asked: list[str]) -> list[str]:
        texts.extend(asked)
        if asked and asked[0].startswith("extract "):
            return ["<sep>".join(extracted)]
        spans = [text.partition(" context: ")[0].removeprefix("answer: ") for text in asked]
        return ["question: Really?" if s == "No" else f"question: {s}?" for s in spans]

    monkeypatch.setattr(TextGenerator, "answers", answers)
    return texts


def questions(parser: EnglishParser, claim: str, models: Path) -> list[Question]:
    made: list[Question] = T5QuestionGenerator(models, AnswerExtractor(models)).ask(
        parser.parse(claim)
    )
    return made


def test_each_extracted_answer_is_asked_for_with_the_claim_as_context(
    parser: EnglishParser, tmp_path: Path, asked: list[str], extracted: list[str]
) -> None:
    claim = "Skerrow Light was designed by Ann Lee in 1871."
    extracted += ["Ann Lee", " 1871", "Skerrow Lamp"]  # the last one is not in the claim
    made = questions(parser, claim, tmp_path)
    assert asked == [
        f"extract answers: <ha> {claim} <ha>",  # the prompt of figure 24
        f"answer: Ann Lee context: {claim}",
        f"answer: 1871 context: {claim}",
    ]
    assert [(q.text, q.kind, q.answer_span) for q in made] == [
        ("Ann Lee?", "wh", "Ann Lee"),
        ("1871?", "wh", "1871"),
        ("Was Skerrow Light designed by Ann Lee in 1871?", "polar", None),
    ]


@cases("t5_questions", "claim", "polar")
def test_a_sentence_with_an_auxiliary_verb_is_asked_with_the_verb_first(
    parser: EnglishParser, tmp_path: Path, asked: list[str], claim: str, polar: str
) -> None:
    assert questions(parser, claim, tmp_path) == [Question(polar, None, "polar")]
    assert asked == [f"extract answers: <ha> {claim} <ha>"]


def test_a_sentence_without_one_is_asked_for_by_the_model_with_no_as_its_answer(
    parser: EnglishParser, tmp_path: Path, asked: list[str]
) -> None:
    claim = "Ann Lee designed Skerrow Light."
    assert questions(parser, claim, tmp_path) == [Question("Really?", None, "polar")]
    assert asked[1:] == [f"answer: No context: {claim}"]


def test_a_question_is_asked_once(
    parser: EnglishParser, tmp_path: Path, asked: list[str], extracted: list[str]
) -> None:
    extracted += ["Runde", "runde", "Is Runde Runde"]
    made = questions(parser, "Is Runde Runde?", tmp_path)
    assert [(q.text, q.kind) for q in made] == [("Runde?", "wh"), ("Is Runde Runde?", "wh")]
