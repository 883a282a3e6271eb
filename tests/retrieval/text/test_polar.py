"""Questions for yes or no, as the statements that they ask about."""

from __future__ import annotations

import pytest

from retrieval.pipeline.claim_parser import ClaimParser
from retrieval.text.clause import as_statement
from retrieval.text.english import EnglishParser
from tests.support.cases import cases

STATEMENTS = {
    "Was the Eiffel Tower built in 1889?": "The Eiffel Tower was built in 1889.",
    "Did the Romans build it?": "The Romans built it.",
    "Did she lie about it?": "She did lie about it.",  # lay, or lied
    "Did Emma Quist design the mill?": "Emma Quist designed the mill.",
    "Is Paris the capital of France?": "Paris is the capital of France.",
    "Is the capital of France Paris?": "The capital of France is Paris.",
    "Are whales fish?": "Whales are fish.",
    "Is Paris in France": "Paris is in France.",
    "Was Mary Shelley the author of Frankenstein?": "Mary Shelley was the author of Frankenstein.",
    "Was Romeo and Juliet written by Ben Jonson?": "Romeo and Juliet was written by Ben Jonson.",
    "Was the mill of Birchwick destroyed by fire?": "The mill of Birchwick was destroyed by fire.",
    "Does the moon orbit the Earth?": "The moon orbits the Earth.",
    "Does Norway have a king?": "Norway has a king.",
    "Do cats have nine lives?": "Cats have nine lives.",
    "Can penguins fly?": "Penguins can fly.",
    "Is there life on Mars?": "There is life on Mars.",
    "Has the mill that stood in Birchwick burned down?": (
        "The mill that stood in Birchwick has burned down."
    ),
    "The mill burned down in 1931?": "The mill burned down in 1931.",
    "Paris is in France, isn't it?": "Paris is in France.",
}


@pytest.mark.parametrize(("question", "statement"), STATEMENTS.items())
def test_the_verb_moves_behind_the_whole_subject(
    parser: EnglishParser, question: str, statement: str
) -> None:
    assert as_statement(question, parser) == statement


@cases("unclear_questions", "question")
def test_a_question_that_may_ask_about_several_statements_has_none(
    parser: EnglishParser, question: str
) -> None:
    assert as_statement(question, parser) is None


def test_a_notice_names_the_statement_that_is_checked(parser: EnglishParser) -> None:
    read = ClaimParser(parser).parse("Fact check: was the mill built in nineteen thirty-one?").read
    assert read.text == "The mill was built in 1931."
    assert read.notices == ("Checked as the statement “The mill was built in 1931.”.",)


def test_a_question_without_a_statement_is_checked_as_it_is(parser: EnglishParser) -> None:
    read = ClaimParser(parser).parse("Isn't Paris in France?").read
    assert read.text == "Isn't Paris in France?"
    assert "checked as it is" in read.notices[0]
