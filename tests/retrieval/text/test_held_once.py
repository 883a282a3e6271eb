"""Claims that something was the capital or the king of a place, as claims that it was so once."""

from __future__ import annotations

import pytest

from retrieval.pipeline.claim_parser import ClaimParser
from retrieval.text.english import EnglishParser
from retrieval.text.held_once import as_held_once

STATEMENTS = {
    "Bonn was the capital of Germany.": "Bonn was once the capital of Germany.",
    "Bonn was Germany's capital": "Bonn was once Germany's capital",
    "Alaska was a part of Russia.": "Alaska was once a part of Russia.",
    "Nero was an emperor of the Roman Empire.": "Nero was once an emperor of the Roman Empire.",
    "Boris Johnson was prime minister of the United Kingdom.": (
        "Boris Johnson was once prime minister of the United Kingdom."
    ),
}


@pytest.mark.parametrize(("claim", "statement"), STATEMENTS.items())
def test_what_a_place_may_have_in_turn_was_so_once(
    parser: EnglishParser, claim: str, statement: str
) -> None:
    assert as_held_once(parser.parse(claim)) == statement


@pytest.mark.parametrize(
    "claim",
    [
        "Bonn is the capital of Germany.",
        "Bonn was not the capital of Germany.",
        "Bonn was never the capital of Germany.",
        "Bonn was the capital of Germany in 1960.",
        "Bonn was the capital of Germany when the wall was built.",
        "Bonn was the first capital of Germany.",
        "Bonn was the former capital of Germany.",
        "Barack Obama was the 44th president of the United States.",
        "London was the largest city of England.",
        "Romulus was the founder of Rome.",
        "Mary Shelley was the author of Frankenstein.",
        "Mozart was a composer.",
        "All popes were citizens of Italy.",
        "Nobody was the king of France.",
        "Waterloo was the defeat of France.",
    ],
)
def test_any_other_claim_stays_as_it_is(parser: EnglishParser, claim: str) -> None:
    assert as_held_once(parser.parse(claim)) is None


def test_the_user_is_told_that_it_is_checked_as_once(parser: EnglishParser) -> None:
    read = ClaimParser(parser).parse("Was Bonn the capital of Germany?").read
    assert read.text == "Bonn was once the capital of Germany."
    assert read.original == "Was Bonn the capital of Germany?"
