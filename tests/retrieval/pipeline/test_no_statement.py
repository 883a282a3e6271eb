"""Texts that only name something are no statements."""

from __future__ import annotations

import pytest

from retrieval.pipeline.claim_parser import ClaimParser
from retrieval.text.english import EnglishParser
from retrieval.text.notices import NAMELESS, NO_STATEMENT


@pytest.mark.parametrize(
    ("text", "names_only"),
    [
        ("Paris", True),
        ("the lighthouse of Varn", True),
        ("Climate change", True),
        ("Varn is a town", False),
        ("Varn stars in the film.", False),  # the parser takes "stars" for a noun
        ("The watermill burnd down.", False),
        ("Kettles boil water.", False),
        ("dogs bark", False),
        ("sports car", True),
    ],
)
def test_a_text_that_only_names_something_says_so(
    parser: EnglishParser, text: str, names_only: bool
) -> None:
    notices = ClaimParser(parser).parse(text).read.notices
    assert (NO_STATEMENT in notices) == names_only


@pytest.mark.parametrize(
    ("claim", "nameless"),
    [
        ("He was born in 1809.", True),
        ("It was built in 1889.", True),
        ("They are mammals.", True),
        ("Ida Holm built it in 1889.", False),
        ("It is cold in Ober.", False),
        ("It is true that whales are mammals.", False),
        ("When Ida Holm was nine, she kept bees.", False),
    ],
)
def test_a_claim_about_somebody_whom_it_does_not_name_has_no_verdict(
    parser: EnglishParser, claim: str, nameless: bool
) -> None:
    assert (NAMELESS in ClaimParser(parser).parse(claim).read.notices) == nameless
