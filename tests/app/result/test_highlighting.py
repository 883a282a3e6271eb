"""Cutting a text at its evidence, with expected pieces written by hand."""

from __future__ import annotations

import random

from app.result.highlighting import Highlight, Segment, segments


def plain(text: str) -> Segment:
    return Segment(text, (), (), None)


def test_a_text_without_evidence_is_one_piece() -> None:
    assert segments("Snow is white.", []) == (plain("Snow is white."),)


def test_an_empty_text_has_no_pieces() -> None:
    assert segments("", [Highlight(1, 0, 4, "supported")]) == ()


def test_a_sentence_in_the_middle_makes_three_pieces() -> None:
    assert segments("abcdef", [Highlight(1, 2, 4, "refuted")]) == (
        plain("ab"),
        Segment("cd", (1,), (1,), "refuted"),
        plain("ef"),
    )


def test_overlapping_evidence_looks_like_the_best_of_it_where_it_overlaps() -> None:
    found = segments("abcdef", [Highlight(2, 0, 4, "refuted"), Highlight(1, 2, 6, "supported")])
    assert found == (
        Segment("ab", (2,), (2,), "refuted"),
        Segment("cd", (1, 2), (1,), "supported"),
        Segment("ef", (1,), (), "supported"),
    )


def test_evidence_inside_evidence_keeps_both_anchors() -> None:
    found = segments("abcdef", [Highlight(1, 0, 6, "supported"), Highlight(2, 0, 2, "refuted")])
    assert found == (
        Segment("ab", (1, 2), (1, 2), "supported"),
        Segment("cdef", (1,), (), "supported"),
    )


def test_offsets_outside_the_text_are_cut_and_empty_highlights_dropped() -> None:
    found = segments(
        "abc",
        [
            Highlight(1, 2, 9, "supported"),
            Highlight(2, 7, 9, "refuted"),
            Highlight(3, 1, 1, "refuted"),
            Highlight(4, 3, 1, "refuted"),
        ],
    )
    assert found == (plain("ab"), Segment("c", (1,), (1,), "supported"))


def test_pieces_always_join_to_the_text_and_every_evidence_begins_once() -> None:
    dice = random.Random(7)
    text = "The quick \U0001f98a fox, naïve and שלום."
    for _ in range(300):
        marks = [
            Highlight(rank, start, dice.randint(start + 1, len(text)), "supported")
            for rank, start in enumerate((dice.randrange(len(text)) for _ in range(6)), 1)
        ]
        pieces = segments(text, marks)
        assert "".join(piece.text for piece in pieces) == text
        assert sorted(rank for piece in pieces for rank in piece.begins) == [1, 2, 3, 4, 5, 6]
        for mark in marks:
            marked = "".join(piece.text for piece in pieces if mark.rank in piece.ranks)
            assert marked == text[mark.start : mark.end]
