"""Texts as their sentences, with the real parser and the shipped model."""

from __future__ import annotations

import pytest

from retrieval.checkable.given_text import Replaced, TextSentence, read_text
from retrieval.checkable.text_reader import MOST_SENTENCES, TextReader
from retrieval.errors import InvalidText

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def reader() -> TextReader:
    return TextReader()


def read(reader: TextReader, text: str) -> list[TextSentence]:
    return list(reader.statements_of(read_text(text)))


def test_a_sentence_with_two_statements_makes_two_claims(reader: TextReader) -> None:
    (sentence,) = read(
        reader, "Since 1990, Germany has been reunited, and Berlin is once more its capital."
    )
    assert sentence.checkable
    first, second = sentence.claims
    assert (first.text, first.replaced) == ("Since 1990, Germany has been reunited.", ())
    assert second.text == "Berlin is once more Germany's capital."
    assert second.replaced == (Replaced("its", "Germany"),)


def test_what_is_not_a_fact_is_named(reader: TextReader) -> None:
    text = (
        "Good evening, ladies and gentlemen! I believe our children deserve better. Who will pay"
        " for all this? We will build 100,000 homes by 2030. Things have changed. “This is a"
        " scandal,” said the mayor. Toronto is the capital of Canada.\n\nChaos at the airport"
    )
    assert [sentence.kind for sentence in read(reader, text)] == [
        *("instruction", "opinion", "question", "forecast", "vague", "quotation", "fact"),
        "fragment",
    ]


def test_offsets_are_those_of_the_text_and_lists_lose_their_marks(reader: TextReader) -> None:
    text = "- Paris is the capital of France.\n- Rome lies on the river\n  Tiber. Oslo is small."
    said = [text[one.start : one.end] for one in read(reader, text)]
    assert said == [
        "Paris is the capital of France.",
        "Rome lies on the river\n  Tiber.",
        "Oslo is small.",
    ]


def test_pronouns_and_the_company_are_replaced_by_what_the_text_names(reader: TextReader) -> None:
    text = (
        "Volkswagen sold 9 million cars last year. The company has its headquarters in Wolfsburg."
        " Angela Merkel was born in Hamburg. She studied physics in Leipzig. Finance Minister Ana"
        " Ruiz resigned on Monday. The minister had been in office for two years."
    )
    claims = [sentence.claims[0].text for sentence in read(reader, text)]
    assert claims[1] == "Volkswagen has its headquarters in Wolfsburg."
    assert claims[3] == "Angela Merkel studied physics in Leipzig."
    assert claims[5] == "Ana Ruiz had been in office for two years."


@pytest.mark.parametrize(
    ("text", "unclear"),
    [
        ("Paul Keller hired Martin Braun in 2001. Two years later he left the firm.", ("he",)),
        ("He was born in Ghent in 1500.", ("He",)),
        ("We have built 40,000 homes in the last four years.", ("We",)),
        ("It rained all day in Madrid.", ()),
        ("The Great Barrier Reef lies off Queensland. Its captain was arrested.", ("Its",)),
        ("Uganda borders Rwanda. The country has no coast.", ("The country",)),
        ("The Rhine passes Cologne. The mayor closed a bridge.", ("The mayor",)),
        ("The firm moved to Leeds in 2001. It has 300 workers.", ("It",)),
    ],
)
def test_what_the_text_does_not_say_is_left_and_asked_for(
    reader: TextReader, text: str, unclear: tuple[str, ...]
) -> None:
    claim = read(reader, text)[-1].claims[0]
    assert claim.unclear == unclear
    assert claim.text == text.split(". ")[-1]


def test_more_sentences_than_are_read_are_refused(reader: TextReader) -> None:
    text = "It fell. " * (MOST_SENTENCES + 1)
    with pytest.raises(InvalidText, match="at most 500"):
        reader.statements_of(read_text(text))


@pytest.mark.parametrize(
    "text",
    [
        "a " * 9_000 + "is.",
        "(" * 9_000 + " it is",
        '"a. ' * 5_000,
        "of the " * 2_800,
        "A.B. " * 4_000,
    ],
)
def test_a_hostile_text_is_read_or_refused_in_a_few_seconds(reader: TextReader, text: str) -> None:
    try:
        sentences = read(reader, text)
    except InvalidText:
        return
    assert all(sentence.claims for sentence in sentences)
