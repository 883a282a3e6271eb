"""Claims that compare two things, and the sentences that compare them too."""

from __future__ import annotations

import pytest

from retrieval.text.compared_things import ComparedThings, compared_things
from retrieval.text.english import EnglishParser


def compared(parser: EnglishParser, claim: str) -> ComparedThings:
    found = compared_things(parser.parse(claim))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("Hamburg is smaller than Berlin.", "“Hamburg” with “Berlin”"),
        ("Iceland has a larger population than Norway.", "“Iceland” with “Norway”"),
        ("Russia is bigger than the Union of Orn.", "“Russia” with “the Union of Orn”"),
        (
            "Tallinn is closer to Helsinki than to Riga.",
            "“Tallinn” with “Helsinki” and “Riga”",
        ),
    ],
)
def test_the_things_that_a_claim_compares_are_found(
    parser: EnglishParser, claim: str, words: str
) -> None:
    assert compared(parser, claim).words == words


@pytest.mark.parametrize(
    "claim",
    [
        "No city is larger than Berlin.",
        "Berlin is larger than any other city.",
        "The sea near Berlin is larger than Hamburg.",
        "Hamburg has more than five bridges.",
        "Hamburg was larger than in 1990.",
        "Hamburg is large.",
    ],
)
def test_other_claims_compare_no_two_things(parser: EnglishParser, claim: str) -> None:
    assert compared_things(parser.parse(claim)) is None


LAKE = ("Arl (lake)", "It is the deepest lake of Norl.")
RIVAL = ("Benn", "Benn has a lake, Arl, and a deeper one.")
FACT = ("Arl", "Arl is a lake.")
DEEP = ("Arl", "It is 80 m deep.")
SHALLOW = ("Benn", "Its lake is 40 m deep.")


@pytest.mark.parametrize(
    ("read", "may"),
    [
        ([LAKE], True),
        ([("Arl", "Arl lies in a forest in the northwest.")], False),
        ([RIVAL], True),
        ([FACT], False),
        ([LAKE, FACT], False),
        ([DEEP, SHALLOW], True),
        ([DEEP, FACT], False),
    ],
)
def test_a_sentence_about_both_or_the_most_of_all_or_numbers_of_each_may_settle_it(
    parser: EnglishParser, read: list[tuple[str, str]], may: bool
) -> None:
    assert compared(parser, "Arl is deeper than Benn.").may_be_settled_by(read) == may


@pytest.mark.parametrize(
    ("claim", "text", "wording"),
    [
        (
            "Hamburg is smaller than Berlin.",
            "Hamburg is the second-largest city.",
            "Berlin is larger than Hamburg.",
        ),
        (
            "The Selm is shorter than the Arl.",
            "The Selm is the second-longest river.",
            "The Arl is longer than the Selm.",
        ),
        (
            "Dogs are heavier than the Orn cat.",
            "Orn cats are the lightest of all.",
            "The Orn cat is lighter than dogs.",
        ),
        ("Hamburg is smaller than Berlin.", "Hamburg is the smallest, not the largest.", ""),
        ("Hamburg is smaller than Berlin.", "Hamburg lies on the Elbe.", ""),
    ],
)
def test_a_claim_is_read_in_the_words_of_the_sentence(
    parser: EnglishParser, claim: str, text: str, wording: str
) -> None:
    assert compared(parser, claim).wording(claim, text) == (wording or claim)
