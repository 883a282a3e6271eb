"""Texts that only name something are no statements."""

from __future__ import annotations

import pytest

from retrieval.pipeline.claim_parser import ClaimParser
from retrieval.text.english import EnglishParser
from retrieval.text.notices import NO_STATEMENT


@pytest.mark.parametrize(
    ("text", "names_only"),
    [
        ("Paris", True),
        ("the lighthouse of Varn", True),
        ("Climate change", True),
        ("Varn is a town", False),
        ("Varn stars in the film.", False),  # the parser takes "stars" for a noun
        ("The watermill burnd down.", False),
    ],
)
def test_a_text_that_only_names_something_says_so(
    parser: EnglishParser, text: str, names_only: bool
) -> None:
    notices = ClaimParser(parser).parse(text).read.notices
    assert (NO_STATEMENT in notices) == names_only
