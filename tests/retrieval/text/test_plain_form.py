"""The one form in which a claim is read."""

from __future__ import annotations

import pytest

from retrieval.text.plain_form import as_sentence, in_full


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("The pier isn't old", "The pier is not old"),
        ("The pier isn\N{RIGHT SINGLE QUOTATION MARK}t old", "The pier is not old"),
        ("She CAN'T swim", "She cannot swim"),
        # A question or an order is no statement, and other words stay.
        ("Isn't the pier old?", "Isn't the pier old?"),
        ("Don't panic", "Don't panic"),
        ("The ain't-it-old pier is Ann's", "The ain't-it-old pier is Ann's"),
    ],
)
def test_short_forms_are_written_out(written: str, read: str) -> None:
    assert in_full(written) == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("the pier is old", "The pier is old."),
        ("The pier is old.", "The pier is old."),
        ("is it old?", "Is it old?"),
        ("iPads are new", "iPads are new."),
        ("“Orn” is a “book”", "“Orn” is a “book”"),
    ],
)
def test_a_claim_is_read_as_a_sentence_and_no_offset_moves(written: str, read: str) -> None:
    assert as_sentence(written) == read
    assert all(a.lower() == b.lower() for a, b in zip(written, read, strict=False))
