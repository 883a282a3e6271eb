"""Cutting a claim where something of it was found, with expected pieces written by hand."""

from __future__ import annotations

import random

from app.result.highlighting import Highlight, Segment, segments


def test_overlapping_finds_look_like_the_first_of_them_and_offsets_outside_are_cut() -> None:
    found = segments("abcdef", [Highlight(2, -4, 4, "refuted"), Highlight(1, 2, 9, "supported")])
    assert found == (
        Segment("ab", 2, "refuted"),
        Segment("cd", 1, "supported"),
        Segment("ef", 1, "supported"),
    )
    nothing = [Highlight(1, 7, 9, "refuted"), Highlight(2, 1, 1, "refuted")]
    assert segments("abc", nothing) == (Segment("abc"),)
    assert segments("", nothing) == ()


def test_pieces_always_join_to_the_text() -> None:
    dice = random.Random(7)
    text = "The quick \U0001f98a fox, naïve and שלום."
    for _ in range(100):
        marks = [
            Highlight(number, start, dice.randint(start + 1, len(text)), "supported")
            for number, start in enumerate((dice.randrange(len(text)) for _ in range(6)), 1)
        ]
        assert "".join(piece.text for piece in segments(text, marks)) == text
