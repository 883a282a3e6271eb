"""Claims that make several statements, cut into these."""

from __future__ import annotations

import pytest

from retrieval.pipeline.claim_parser import ClaimParser
from retrieval.text.english import EnglishParser
from retrieval.text.notices import SEVERAL
from retrieval.text.statement_cutter import MOST_STATEMENTS, statements


def cut(parser: EnglishParser, claim: str) -> list[str]:
    return [one.text for one in statements(parser.parse(claim), parser)]


@pytest.mark.parametrize(
    ("claim", "parts"),
    [
        (
            "The Eiffel Tower is in Paris and was built in 1889.",
            ["The Eiffel Tower is in Paris.", "The Eiffel Tower was built in 1889."],
        ),
        (
            "Mary Shelley wrote Frankenstein, and Bram Stoker wrote Dracula.",
            ["Mary Shelley wrote Frankenstein.", "Bram Stoker wrote Dracula."],
        ),
        (
            "Paris is the capital of France; Berlin is the capital of Germany.",
            ["Paris is the capital of France.", "Berlin is the capital of Germany."],
        ),
        (
            "Penguins can swim but cannot fly.",
            ["Penguins can swim.", "Penguins cannot fly."],
        ),
        (
            "Mary Shelley was born in London. She wrote Frankenstein.",
            ["Mary Shelley was born in London.", "Mary Shelley wrote Frankenstein."],
        ),
        (
            "The mill of Birchwick burned down in 1931. It was rebuilt and is a museum.",
            [
                "The mill of Birchwick burned down in 1931.",
                "The mill of Birchwick was rebuilt.",
                "The mill of Birchwick is a museum.",
            ],
        ),
        (
            "France is in Europe and its capital is Paris.",
            ["France is in Europe.", "France's capital is Paris."],
        ),
        # What stands before the second verb is no part of what stands before "and".
        (
            "Everest is in Nepal and K2 is in Pakistan.",
            ["Everest is in Nepal.", "K2 is in Pakistan."],
        ),
        (
            "The Nile is in Africa and the Amazon is in South America.",
            ["The Nile is in Africa.", "The Amazon is in South America."],
        ),
        (
            "Cats are mammals and snakes are reptiles but frogs are amphibians.",
            ["Cats are mammals.", "Snakes are reptiles.", "Frogs are amphibians."],
        ),
        (
            "She met Anna and Maria and was happy.",
            ["She met Anna and Maria.", "She was happy."],
        ),
        ("Rome is very old. Paris is large.", ["Rome is very old.", "Paris is large."]),
        (
            "Germany was reunited, and Berlin is once more Germany's capital.",
            ["Germany was reunited.", "Berlin is once more Germany's capital."],
        ),
    ],
)
def test_each_statement_has_its_own_subject(
    parser: EnglishParser, claim: str, parts: list[str]
) -> None:
    assert cut(parser, claim) == parts


@pytest.mark.parametrize(
    "claim",
    [
        "Romeo and Juliet was written by Shakespeare.",
        "Paris and Lyon are cities.",
        "The war lasted between 1914 and 1918.",
        "Marie Curie discovered radium and polonium.",
        "The book was written and illustrated by Ann Lee.",
        'Ann Lee said "the sky is blue and the sea is green".',
        'Ann Lee said "I came. I saw." in 1902.',
        "The mill, which burned down in 1931 and was rebuilt, is in Birchwick.",
        "The author who wrote Emma and lived in Bath died in 1817.",
        "If it rains and the sun shines, a rainbow appears.",
        "Either the sun is hot or the moon is cold and ice is warm.",
        "In 1931 the mill burned down and the bridge fell.",  # both in 1931, or not
        "John said that Paris is big and that Rome is old.",
        "J. K. Rowling lives in the U.K. with Dr. Smith.",
        "Is Rome old? It is large.",
        "No mill burned down and was rebuilt.",
        "A mill stands in Birchwick and was built in 1801.",  # one and the same mill
        "Two men lived there and were buried in 1801.",
    ],
)
def test_what_is_one_statement_or_may_be_is_not_cut(parser: EnglishParser, claim: str) -> None:
    assert cut(parser, claim) == [claim]


@pytest.mark.parametrize(
    "claim",
    [
        "Mary Shelley married Percy Shelley. He wrote Ozymandias.",
        "Mary Shelley wrote Frankenstein. It was published in 1818.",
        "The company built the tower. It was opened in 1889.",
        "Mary Shelley wrote Frankenstein, and Percy Shelley helped her.",
        "Mary Shelley wrote Frankenstein and the book sold well.",
        "Ann Lee left the office at Skarn Bank but heads its board.",
        "Varnby is the capital of Ostrea, but Port Orm has more people.",
        "Ann Lee wrote two books and Bob Holm wrote the others.",
        "Rents rose by half, and our young people left for Canada.",
    ],
)
def test_a_claim_is_not_cut_where_a_word_may_stand_for_something_else(
    parser: EnglishParser, claim: str
) -> None:
    assert cut(parser, claim) == [claim]


def test_no_more_statements_than_allowed_the_last_has_the_rest(parser: EnglishParser) -> None:
    towns = ["Rome", "Paris", "Oslo", "Bern", "Riga", "Bonn", "Lima"]
    parts = cut(parser, "; ".join(f"{town} is old" for town in towns) + ".")
    assert len(parts) == MOST_STATEMENTS
    assert parts[-1] == "Bonn is old; Lima is old."


def test_offsets_lead_back_into_the_claim(parser: EnglishParser) -> None:
    claim = "The mill stands in Birchwick and was built in 1801."
    first, second = statements(parser.parse(claim), parser)
    assert (first.start, first.end) == (0, 28)
    assert claim[second.start : second.end] == "was built in 1801"
    # "The mill was built in 1801.": its own words have a place, its subject has none.
    start = second.text.index("1801")
    place = second.in_claim(start, start + 4)
    assert place is not None
    assert claim[slice(*place)] == "1801"
    assert second.in_claim(0, 8) is None
    assert second.in_claim(4, 12) is None


def test_no_notice_is_about_statements_that_are_checked_alone(
    parser: EnglishParser,
) -> None:
    cut_one = ClaimParser(parser).parse("Rome is very old. Paris is large.")
    assert ([one.parsed.text for one in cut_one.statements], cut_one.read.notices) == (
        ["Rome is very old.", "Paris is large."],
        (),
    )


@pytest.mark.parametrize(
    ("claim", "notices"),
    [
        ("Mary married Percy. He wrote Ozymandias.", [SEVERAL]),
        ("Varnby is the capital of Ostrea and Port Orm is its largest city.", [SEVERAL]),
        ("Varnby is the capital of Ostrea and of Holm.", []),
    ],
)
def test_a_notice_says_that_several_statements_are_checked_together(
    parser: EnglishParser, claim: str, notices: list[str]
) -> None:
    whole = ClaimParser(parser).parse(claim)
    assert (len(whole.statements), list(whole.read.notices)) == (1, notices)


@pytest.mark.parametrize(
    "claim",
    [
        "It is a myth that bats are birds and whales are fish.",
        "It is not true that Everest is in Nepal and K2 is in Pakistan.",
        "The report claims that cats are mammals and snakes are reptiles.",
        "Most people think Everest is in Nepal and K2 is in India.",
        "The war began when Varn invaded Ostrea and Holm declared war.",
    ],
)
def test_what_is_denied_or_reported_is_not_cut(parser: EnglishParser, claim: str) -> None:
    assert cut(parser, claim) == [claim]


@pytest.mark.parametrize(
    ("claim", "last", "read_as"),
    [
        # A city has no largest city, so only Australia is left.
        (
            "Canberra is the capital of Australia and Sydney is its largest city.",
            "Sydney is Australia's largest city.",
            "Australia's",
        ),
        (
            "Marie Curie was born in Warsaw. Albert Einstein was her student.",
            "Albert Einstein was Marie Curie's student.",
            "Marie Curie's",
        ),
        # Whose neighbour, and whose wife: the claim names two that may be meant.
        ("Madrid is the capital of Spain and Lisbon is its neighbour's capital.", "", ""),
        ("Harry Truman succeeded Franklin Roosevelt and Eleanor was his wife.", "", ""),
    ],
)
def test_whose_something_is_gets_its_name_only_where_nothing_else_can_be_meant(
    parser: EnglishParser, claim: str, last: str, read_as: str
) -> None:
    found = ClaimParser(parser).parse(claim)
    if not last:
        assert len(found.statements) == 1
        assert found.read.notices == (SEVERAL,)
        return
    first, second = (one.statement for one in found.statements)
    assert claim[first.start : first.end] == first.text.removesuffix(".")
    assert second.text == last
    # The words that the claim does not have there are in no place of it.
    at = second.text.index(read_as)
    assert second.in_claim(at, at + len(read_as)) is None
    noun = second.text.split()[-1].removesuffix(".")
    place = second.in_claim(second.text.index(noun), second.text.index(noun) + len(noun))
    assert place is not None
    assert claim[slice(*place)] == noun
    assert any(read_as in notice for notice in found.read.notices)
