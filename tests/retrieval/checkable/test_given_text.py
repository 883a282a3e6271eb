"""Texts as they are given, and their sentences: with the real parser and the shipped model."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

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
from tests.support.cases import cases, rules


def test_a_text_of_the_most_characters_is_read_and_tidied_and_no_longer_one() -> None:
    text = ("word " * 4000)[: LONGEST_TEXT - 1] + "."
    assert read_text(text) == text
    with pytest.raises(InvalidText, match="20,001 characters long"):
        read_text("word " * 4000 + "a")
    assert read_text(" A\N{ZERO WIDTH SPACE} bridge\r\nfell.\r") == "A bridge\nfell."
    # A line that was full goes on, and others end.
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


def halves(reader: TextReader, text: str) -> list[str]:
    sentence = read(reader, text)[-1]
    assert sentence.checkable
    return [claim.text for claim in sentence.claims if not claim.unclear]


def unclear(reader: TextReader, text: str) -> list[str]:
    """What the text does not say, which is left as it is and asked for."""
    claim = read(reader, text)[-1].claims[0]
    assert claim.text == text.split(". ")[-1]
    return list(claim.unclear)


def said(reader: TextReader, listed: str) -> list[str]:
    """The sentences by their offsets in the text."""
    return [listed[one.start : one.end] for one in read(reader, listed)]


@pytest.mark.models
@rules(
    ("given_text", "halves", "claims", halves),
    ("given_text", "text", "unclear", unclear),
    ("given_text", "listed", "sentences", said),
    ("given_text", "text", "kinds", lambda reader, text: [one.kind for one in read(reader, text)]),
    (
        *("given_text", "names", "claim"),
        lambda reader, text: read(reader, text)[-1].claims[0].text,
    ),
)
def test_a_text_is_read_sentence_by_sentence(
    reader: TextReader, rule: Any, given: list[str], expected: object
) -> None:
    assert rule(reader, *given) == expected


@pytest.mark.models
def test_a_hostile_text_is_read_or_refused_in_a_few_seconds(reader: TextReader) -> None:
    with pytest.raises(InvalidText, match="at most 500"):
        read(reader, "It fell. " * (MOST_SENTENCES + 1))
    for text in ("a " * 9_000 + "is.", "(" * 9_000 + " it is", '"a. ' * 5_000, "A.B. " * 4_000):
        with suppress(InvalidText):
            assert all(sentence.claims for sentence in read(reader, text))
