"""Texts that only name something are no statements."""

from __future__ import annotations

from retrieval.pipeline.claim_parser import ClaimParser
from retrieval.text.english import EnglishParser
from retrieval.text.notices import NAMELESS, NO_STATEMENT
from tests.support.cases import cases


@cases("no_statement", "text", "names_only")
def test_a_text_that_only_names_something_says_so(
    parser: EnglishParser, text: str, names_only: bool
) -> None:
    notices = ClaimParser(parser).parse(text).read.notices
    assert (NO_STATEMENT in notices) == names_only


@cases("no_statement", "claim", "nameless")
def test_a_claim_about_somebody_whom_it_does_not_name_has_no_verdict(
    parser: EnglishParser, claim: str, nameless: bool
) -> None:
    assert (NAMELESS in ClaimParser(parser).parse(claim).read.notices) == nameless
