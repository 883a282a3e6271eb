"""Texts as they are given, and their sentences: with the real parser and the shipped model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from retrieval.checkable.given_text import (
    LONGEST_TEXT,
    MOST_SENTENCES,
    Kind,
    Replaced,
    TextSentence,
    blocks_of,
    read_text,
)
from retrieval.checkable.kind_rules import WEIGHTS, KindModel, read_model
from retrieval.checkable.text_reader import TextReader
from retrieval.errors import InvalidText, ModelUnavailable
from tests.support.cases import cases


def test_a_text_of_the_most_characters_is_read_and_no_longer_one() -> None:
    text = ("word " * 4000)[: LONGEST_TEXT - 1] + "."
    assert read_text(text) == text
    with pytest.raises(InvalidText, match="20,001 characters long"):
        read_text("word " * 4000 + "a")


def test_invisible_characters_and_line_ends_of_other_systems_are_tidied() -> None:
    assert read_text(" A\N{ZERO WIDTH SPACE} bridge\r\nfell.\r") == "A bridge\nfell."


def test_a_line_that_was_full_goes_on_and_others_end() -> None:
    text = "A bridge\n\nThe bridge across the river Tarn was built by French engineers in\n"
    text += "1931. It fell.\n- It was rebuilt\n2. It is open"
    assert [" ".join(text[a:b].split()) for a, b in blocks_of(text)] == [
        "A bridge",
        "The bridge across the river Tarn was built by French engineers in 1931. It fell.",
        "It was rebuilt",
        "It is open",
    ]


@cases("given_text", "by_rules", "likely", "kind")
def test_a_model_corrects_the_rules(by_rules: Kind, likely: tuple[float, ...], kind: str) -> None:
    kinds: tuple[Kind, ...] = ("fact", "opinion", "question")
    model = KindModel(kinds, np.eye(3, dtype=np.float32), np.zeros(3, np.float32))
    assert model.corrected(by_rules, np.array(likely, np.float32)) == kind
    shares = model.probabilities(np.array([[np.log(2), 0, 0]], np.float32))
    assert shares[0] == pytest.approx([0.5, 0.25, 0.25])


def test_a_missing_and_a_damaged_file_say_how_to_restore_it(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="missing"):
        read_model(tmp_path)
    (tmp_path / WEIGHTS).write_text("{}")
    with pytest.raises(ModelUnavailable, match="damaged"):
        read_model(tmp_path)


@pytest.fixture(scope="module")
def reader() -> TextReader:
    return TextReader()


def read(reader: TextReader, text: str) -> list[TextSentence]:
    return list(reader.statements_of(read_text(text)))


@pytest.mark.models
def test_a_sentence_with_two_statements_makes_two_claims(reader: TextReader) -> None:
    (sentence,) = read(
        reader, "Since 1990, Germany has been reunited, and Berlin is once more its capital."
    )
    assert sentence.checkable
    first, second = sentence.claims
    assert (first.text, first.replaced) == ("Since 1990, Germany has been reunited.", ())
    assert second.text == "Berlin is once more Germany's capital."
    assert second.replaced == (Replaced("its", "Germany"),)


@pytest.mark.models
@cases("given_text", "halves", "claims")
def test_the_half_of_a_sentence_that_can_be_checked_is_kept(
    reader: TextReader, halves: str, claims: list[str]
) -> None:
    sentence = read(reader, halves)[-1]
    assert sentence.checkable
    assert [claim.text for claim in sentence.claims if not claim.unclear] == claims


@pytest.mark.models
def test_what_is_not_a_fact_is_named(reader: TextReader) -> None:
    text = (
        "Good evening, ladies and gentlemen! I believe our children deserve better. Who will pay"
        " for all this? We will build 100,000 homes by 2030. Things have changed. “This is a"
        " scandal,” said the mayor. Toronto is the capital of Canada."
        " Das Land ist sehr klein und die Stadt auch nicht.\n\nChaos at the airport"
    )
    assert [sentence.kind for sentence in read(reader, text)] == [
        *("instruction", "opinion", "question", "forecast", "vague", "quotation", "fact"),
        *("foreign", "fragment"),
    ]


@pytest.mark.models
def test_offsets_are_those_of_the_text_and_lists_lose_their_marks(reader: TextReader) -> None:
    text = "- Paris is the capital of France.\n- Rome lies on the river\n  Tiber. Oslo is small."
    said = [text[one.start : one.end] for one in read(reader, text)]
    assert said == [
        "Paris is the capital of France.",
        "Rome lies on the river\n  Tiber.",
        "Oslo is small.",
    ]


@pytest.mark.models
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


@pytest.mark.models
@cases("given_text", "text", "unclear")
def test_what_the_text_does_not_say_is_left_and_asked_for(
    reader: TextReader, text: str, unclear: list[str]
) -> None:
    claim = read(reader, text)[-1].claims[0]
    assert list(claim.unclear) == unclear
    assert claim.text == text.split(". ")[-1]


@pytest.mark.models
def test_more_sentences_than_are_read_are_refused(reader: TextReader) -> None:
    with pytest.raises(InvalidText, match="at most 500"):
        read(reader, "It fell. " * (MOST_SENTENCES + 1))


@pytest.mark.models
@pytest.mark.parametrize(
    "text",
    ["a " * 9_000 + "is.", "(" * 9_000 + " it is", '"a. ' * 5_000, "A.B. " * 4_000],
)
def test_a_hostile_text_is_read_or_refused_in_a_few_seconds(reader: TextReader, text: str) -> None:
    try:
        sentences = read(reader, text)
    except InvalidText:
        return
    assert all(sentence.claims for sentence in sentences)
