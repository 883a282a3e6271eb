"""How a claim is cut into two halves; the halves are worked out by hand."""

from __future__ import annotations

import pytest

from retrieval.quantities.halves import Comparison, Half, comparison
from retrieval.text.english import EnglishParser
from tests.support.cases import cases
from tests.support.rows import rows


def cut(parser: EnglishParser, claim: str) -> Comparison:
    found = comparison(parser.parse(claim))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("claim", "first", "second", "more"),
    rows(
        """
        The Torve is longer than the Wenlow.
            The Torve is {} long | the Wenlow is {} long | more
        Lake Selm is shallower than Lake Orn.
            Lake Selm is {} deep | Lake Orn is {} deep | less
        Selm is a bigger city than Orn.
            Selm has a population of {} | Orn has a population of {} | more
        Selm has more inhabitants than Orn.
            Selm has {} inhabitants | Orn has {} inhabitants | more
        Ada Vale won fewer medals than Bo Lund did.
            Ada Vale won {} medals | Bo Lund won {} medals | less
        Ada's reign lasted longer than Bo's.
            Ada's reign lasted for {} | Bo's reign lasted for {} | more
        Selm is closer to Orn than to Arl.
            Selm is {} from Orn | Selm is {} from Arl | less
        """
    ),
)
def test_a_claim_that_compares_measures_has_a_half_for_each_thing(
    parser: EnglishParser, claim: str, first: str, second: str, more: str
) -> None:
    found = cut(parser, claim)
    assert ([half.text for half in found.first], [half.text for half in found.second]) == (
        [first],
        [second],
    )
    assert found.more == (more == "more")


@pytest.mark.parametrize(
    ("claim", "first", "second", "later"),
    rows(
        """
        Ada Vale wrote Orn before she moved to Selm.
            Ada Vale wrote Orn | Ada Vale moved to Selm | earlier
        Ada Vale had already moved to Selm when Bo Lund died.
            Ada Vale had moved to Selm | Bo Lund died | earlier
        After the bridge fell, Ada Vale left Selm.
            Ada Vale left Selm | the bridge fell | later
        The mill opened three years after the bridge fell.
            The mill opened | the bridge fell | later
        """
    ),
)
def test_a_claim_about_the_order_of_events_has_a_half_for_each_event(
    parser: EnglishParser, claim: str, first: str, second: str, later: str
) -> None:
    found = cut(parser, claim)
    assert found.first == (Half(f"{first} {{}}", "date"),)
    assert found.second == (Half(f"{second} {{}}", "date"),)
    assert found.more == (later == "later")


def test_a_name_stands_for_a_statement_like_the_first_one(parser: EnglishParser) -> None:
    found = cut(parser, "Ada Vale was born before Jon Pell.")
    assert [half.text for half in found.second] == ["Jon Pell was born {}"]


def test_an_event_may_have_begun_then(parser: EnglishParser) -> None:
    found = cut(parser, "Ada Vale was born before the War of Vorn.")
    assert [half.text for half in found.second] == [
        "the War of Vorn took place {}",
        "the War of Vorn began {}",
        "the War of Vorn was born {}",
    ]


def test_how_much_earlier_is_part_of_the_comparison(parser: EnglishParser) -> None:
    found = cut(parser, "The mill opened more than three years after the bridge fell.")
    assert found.by is not None
    assert (found.by.said, found.by.kind) == ("three years", "bound")


@cases("no_comparisons", "claim")
def test_other_claims_are_not_read_as_comparisons(parser: EnglishParser, claim: str) -> None:
    assert comparison(parser.parse(claim)) is None
