"""Questions that rules alone turn into statements, and those that they leave alone."""

from __future__ import annotations

from retrieval.text.plain_questions import plain_statement
from tests.support.cases import cases


@cases("plain_questions", "question", "statement")
def test_a_plain_question_is_a_statement(question: str, statement: str) -> None:
    assert plain_statement(question) == statement


@cases("plain_questions", "question")
def test_a_question_whose_subject_is_unclear_is_left_alone(question: str) -> None:
    assert plain_statement(question) is None
