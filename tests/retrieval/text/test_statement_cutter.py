"""Claims that make several statements, cut into these."""

from __future__ import annotations

import pytest

from retrieval.pipeline.claim_parser import ClaimParser
from retrieval.text.english import EnglishParser
from retrieval.text.notices import SEVERAL
from retrieval.text.statement_cutter import MOST_STATEMENTS, statements
from tests.support.cases import cases


def cut(parser: EnglishParser, claim: str) -> list[str]:
    return [one.text for one in statements(parser.parse(claim), parser)]


@cases("statements", "claim", "parts")
def test_each_statement_has_its_own_subject(
    parser: EnglishParser, claim: str, parts: list[str]
) -> None:
    assert cut(parser, claim) == parts


@cases("statements", "claim")
def test_what_is_one_statement_or_may_be_is_not_cut(parser: EnglishParser, claim: str) -> None:
    assert cut(parser, claim) == [claim]


@cases("uncut_unclear", "claim")
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


@cases("uncut_reported", "claim")
def test_what_is_denied_or_reported_is_not_cut(parser: EnglishParser, claim: str) -> None:
    assert cut(parser, claim) == [claim]


@cases("statements", "claim", "last", "read_as")
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
