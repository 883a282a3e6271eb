"""The one form in which a claim is read."""

from __future__ import annotations

from retrieval.text.plain_form import as_sentence, in_full
from tests.support.cases import cases


@cases("short_forms", "written", "read")
def test_short_forms_are_written_out(written: str, read: str) -> None:
    assert in_full(written) == read


@cases("as_sentence", "written", "read")
def test_a_claim_is_read_as_a_sentence_and_no_offset_moves(written: str, read: str) -> None:
    assert as_sentence(written) == read
    assert all(a.lower() == b.lower() for a, b in zip(written, read, strict=False))
