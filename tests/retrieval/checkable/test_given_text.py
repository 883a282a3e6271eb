"""Texts as they are given: what is refused, and where a line ends a sentence."""

from __future__ import annotations

import pytest

from retrieval.checkable.given_text import LONGEST_TEXT, blocks_of, is_list, read_text
from retrieval.errors import InvalidText
from tests.support.cases import cases


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "text_empty"),
        (" \n\t ", "text_empty"),
        ("word " * 4000 + "a", "text_too_long"),
        ("PK\x03\x04\x14\x00\x08mimetype", "text_unreadable"),
        ("The bridge \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} fell.", "text_unreadable"),
        ("1 2 3 !", "text_no_words"),
        (
            "Die Brücke ist alt. Sie wurde im Jahr 1931 gebaut und ist nicht mehr sicher.",
            "text_not_english",
        ),
        (7, "text_not_text"),
    ],
)
def test_what_is_no_english_text_is_refused_with_a_reason(text: object, code: str) -> None:
    with pytest.raises(InvalidText) as caught:
        read_text(text)
    assert caught.value.code == code


def test_a_text_of_the_most_characters_is_read() -> None:
    text = ("word " * 4000)[: LONGEST_TEXT - 1] + "."
    assert read_text(text) == text


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


@cases("given_text", "text", "listed")
def test_one_sentence_a_line_may_be_a_list(text: str, listed: bool) -> None:
    assert is_list(text) is listed
