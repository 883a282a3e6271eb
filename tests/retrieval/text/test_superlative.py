"""Claims that nothing is more than a thing, as superlatives."""

from __future__ import annotations

import pytest

from retrieval.pipeline.claim_parser import ClaimParser
from retrieval.text.english import EnglishParser
from retrieval.text.superlative import as_superlative

STATEMENTS = {
    "No other planet is larger than Jupiter.": "Jupiter is the largest planet.",
    "No other planets are larger than Jupiter.": "Jupiter is the largest planet.",
    "No other mountain on Earth is higher than Mount Everest.": (
        "Mount Everest is the highest mountain on Earth."
    ),
    "No other planet is smaller than Mercury in the Solar System.": (
        "Mercury is the smallest planet in the Solar System."
    ),
    "No other hill in the U.S. is higher than Orn.": "Orn is the highest hill in the U.S.",
    "No bank is older than the Bank of England.": "The Bank of England is the oldest bank.",
    "No lake is deeper than Lake Baikal.": "Lake Baikal is the deepest lake.",
    "No planet is hotter than the Sun.": "The Sun is at least as hot as any planet.",
    "No country is more populous than India.": "India is at least as populous as any country.",
    "No country is less populous than Orn.": "Orn is at most as populous as any country.",
    "No road in Orn was longer than the Selm.": "The Selm was at least as long as any road in Orn.",
}


@pytest.mark.parametrize(("claim", "statement"), STATEMENTS.items())
def test_nothing_is_more_than_what_is_the_most_or_as_much_as_any(
    parser: EnglishParser, claim: str, statement: str
) -> None:
    assert as_superlative(parser.parse(claim)) == statement


@pytest.mark.parametrize(
    "claim",
    [
        "Jupiter is larger than Saturn.",
        "No planet is as large as Jupiter.",
        "No other planet is larger than Jupiter is.",
        "No other planet is larger than Jupiter to be seen.",
        "No other planet is larger than Jupiter?",
        "No other is larger than Jupiter.",
        "No planet is much larger than Jupiter.",
        "No man is better than another.",
        "No planet is larger than Jupiter and Saturn.",
        "No metal is heavier than 5 kg.",
    ],
)
def test_any_other_claim_stays_as_it_is(parser: EnglishParser, claim: str) -> None:
    assert as_superlative(parser.parse(claim)) is None


def test_the_user_is_told_what_is_checked_instead(parser: EnglishParser) -> None:
    read = ClaimParser(parser).parse("No other planet is larger than Jupiter.").read
    assert read.text == "Jupiter is the largest planet."
    assert read.original == "No other planet is larger than Jupiter."
    assert read.notices == ("Checked as the statement “Jupiter is the largest planet.”.",)
