"""Claims that nothing is more than a thing, as superlatives."""

from __future__ import annotations

import pytest

from retrieval.pipeline.claim_parser import ClaimParser
from retrieval.text.english import EnglishParser
from retrieval.text.superlative import as_superlative

STATEMENTS = {
    "No planet is larger than Jupiter.": "Jupiter is the largest planet.",
    "No planets are larger than Jupiter.": "Jupiter is the largest planet.",
    "No other mountain on Earth is higher than Mount Everest.": (
        "Mount Everest is the highest mountain on Earth."
    ),
    "No planet is smaller than Mercury in the Solar System.": (
        "Mercury is the smallest planet in the Solar System."
    ),
    "No country is more populous than India.": "India is the most populous country.",
    "No river in Africa was longer than the Nile.": "The Nile was the longest river in Africa.",
    "No bank is older than the Bank of England.": "The Bank of England is the oldest bank.",
}


@pytest.mark.parametrize(("claim", "statement"), STATEMENTS.items())
def test_nothing_is_more_than_what_is_the_most(
    parser: EnglishParser, claim: str, statement: str
) -> None:
    assert as_superlative(parser.parse(claim)) == statement


@pytest.mark.parametrize(
    "claim",
    [
        "Jupiter is larger than Saturn.",
        "No planet is as large as Jupiter.",
        "No planet is much larger than Jupiter.",
        "No man is better than another.",
        "No planet is larger than Jupiter and Saturn.",
        "No metal is heavier than 5 kg.",
    ],
)
def test_any_other_claim_stays_as_it_is(parser: EnglishParser, claim: str) -> None:
    assert as_superlative(parser.parse(claim)) is None


def test_the_user_is_told_what_is_checked_instead(parser: EnglishParser) -> None:
    read = ClaimParser(parser).parse("No planet is larger than Jupiter.").read
    assert read.text == "Jupiter is the largest planet."
    assert read.original == "No planet is larger than Jupiter."
    assert read.notices == ("Checked as the statement “Jupiter is the largest planet.”.",)
