"""A thing in two years, and the sentences that say which year had more of something."""

from __future__ import annotations

import pytest

from retrieval.quantities.change import Change, change, stated_change
from retrieval.text.english import EnglishParser
from retrieval.types import REFUTES, SUPPORTS, Label

MORE = "Selm Airport handled more passengers in 2030 than in 2029"
FEWER = "In 2030, Selm Airport handled fewer passengers than the year before"


def test_both_forms_of_a_claim_about_two_years_are_read() -> None:
    counted = "Selm Airport handled {} passengers"
    assert change(MORE) == Change(counted, "passengers", 2030, 2029, more=True)
    assert change(FEWER) == Change(counted, "passengers", 2030, 2029, more=False)


@pytest.mark.parametrize(
    "claim", ["Selm has more parks than Orn", "Selm had more parks in 2030 than Orn"]
)
def test_a_comparison_of_two_things_is_none_of_two_years(claim: str) -> None:
    assert change(claim) is None


def ruled(parser: EnglishParser, claim: str, sentence: str) -> Label | None:
    asked = change(claim)
    assert asked is not None
    ruling = stated_change(asked, "Selm Airport", sentence, parser)
    return ruling.label if ruling else None


@pytest.mark.parametrize(
    ("claim", "sentence", "label"),
    [
        (
            MORE,
            "It handled 4.2 million passengers in 2030, down from 4.6 million in 2029.",
            REFUTES,
        ),
        (FEWER, "It handled 4.2 million passengers in 2030, down from 4.6 million.", SUPPORTS),
        (MORE, "In 2030 it handled 5 million passengers, up 8% from the year before.", SUPPORTS),
        (
            MORE,
            "Selm Airport handled 5 passengers in 2030, up from about 4 passengers a year earlier.",
            SUPPORTS,
        ),
        (FEWER, "In 2030 it handled 5 million passengers, up from 4 million in 2029.", REFUTES),
    ],
)
def test_up_from_and_down_from_decide(
    parser: EnglishParser, claim: str, sentence: str, label: Label
) -> None:
    assert ruled(parser, claim, sentence) == label


@pytest.mark.parametrize(
    "sentence",
    [
        "It handled 4.2 million passengers in 2031, down from 4.6 million in 2030.",
        "It handled 4.2 million passengers in 2030, down from 4.6 million in 2019.",
        "It handled 4.2 million tonnes in 2030, down from 4.6 million in 2029.",
        "It may have handled 4.2 million passengers in 2030, down from 4.6 million in 2029.",
        "It handled 5 million passengers in 2030, up from 2 million when it opened.",
        "It handled 5 million passengers in 2030, up from 3 million a decade earlier.",
        "It handled 5 million passengers in 2030, down from its peak of 9 million.",
        "It handled 5 million passengers and 40 airlines in 2030, down from 45 airlines in 2029.",
        "It handled 5 million passengers in 2030, up from 45 airlines in 2029.",
        "It ranked 7th by passengers handled in 2030, down from 4th in 2029.",
        "Norl Airport, near Selm Airport, handled 4 passengers in 2030, down from 5 in 2029.",
        "Near Norl, it handled 4 million passengers in 2030, down from 5 million in 2029.",
        "It handled passengers in 2030 who came down from the hills and up from the sea.",
    ],
)
def test_another_year_or_thing_and_what_is_not_sure_decide_nothing(
    parser: EnglishParser, sentence: str
) -> None:
    assert ruled(parser, MORE, sentence) is None
