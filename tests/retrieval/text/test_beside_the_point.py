"""Texts that share the words of a claim and say nothing about it."""

from __future__ import annotations

import pytest

from retrieval.text.beside_the_point import point_of
from retrieval.text.english import EnglishParser
from retrieval.types import REFUTES, SUPPORTS

NONE: frozenset[str] = frozenset()
BOTH = frozenset((SUPPORTS, REFUTES))


def missed(parser: EnglishParser, claim: str, *texts: str) -> frozenset[str]:
    """Return the labels that the texts cannot give the claim."""
    return point_of(parser.parse(claim)).missed_by(texts, parser.parse)


GASES = "A gas consists of atoms (e.g. a noble gas like neon), or molecules (e.g. oxygen)."


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("Oxygen is a noble gas.", GASES, BOTH),
        ("Oxygen is a noble gas.", "Oxygen is a gas that is not noble.", NONE),
        ("Oxygen is a noble gas.", "Noble gases are helium and neon, but not oxygen.", NONE),
        ("Oxygen is a noble gas.", "The lamp held a noble gas or oxygen.", BOTH),
        ("Helium is a noble gas.", "Helium and other noble gases glow.", NONE),
        ("Helium is a noble gas.", "Noble gases such as neon and helium glow.", NONE),
        ("Copper is a metal.", "Metals, copper and zinc among them, conduct electricity.", NONE),
        ("Zinc is a metal.", "Metals, copper and zinc among them, conduct electricity.", NONE),
        ("Coal is a fossil fuel.", "The plant burns fossil fuels, coal and gas, or wind.", NONE),
        ("Coal is a fossil fuel.", "The plant burns coal, a fossil fuel, or wood.", NONE),
        ("Coal is a fossil fuel.", "The plant burns coal or a fossil fuel.", BOTH),
        ("Helium is a noble gas.", "Helium and neon are noble gases.", NONE),
    ],
)
def test_a_list_makes_no_member_of_what_stands_in_another_part_of_it(
    parser: EnglishParser, claim: str, text: str, expected: frozenset[str]
) -> None:
    assert missed(parser, claim, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("In 1874 the king called it “a peace without honour”.", BOTH),
        ("In 1874 the king called it the triumph of pure reason.", NONE),
    ],
)
def test_a_quotation_is_in_the_evidence_or_nothing_is_settled(
    parser: EnglishParser, text: str, expected: frozenset[str]
) -> None:
    claim = "In 1874 the king called the treaty “a triumph of pure reason”."
    assert missed(parser, claim, text) == expected


@pytest.mark.parametrize(
    ("claim", "texts"),
    [
        ("“The seventh green seal” is a film of 1931.", ("Ada Vale", "She made it in 1931.")),
        ("Ada wrote “I think that I am”.", ("Cogito, ergo sum", "The words are those of Ada.")),
        ("Ada sang “a sweet life for all”.", ("Ada Vale", "Ada sang “la dolce vita”.")),
        ("Ada sang “a sweet life for all”.", ("Ada Vale", "Ada sang it (Latin: dulcis vita).")),
    ],
)
def test_a_quotation_may_be_the_subject_or_stand_in_the_original(
    parser: EnglishParser, claim: str, texts: tuple[str, str]
) -> None:
    assert missed(parser, claim, *texts) == NONE


def test_a_short_quotation_may_be_a_name(parser: EnglishParser) -> None:
    assert missed(parser, "The song “Green Water” is old.", "It is of 1874.") == NONE


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("Ada was the first woman to fly.", "Ada flew in 1931.", {SUPPORTS}),
        ("Ada was the youngest winner.", "Ada won in 1931.", {SUPPORTS}),
        ("Ada was the first person in space.", "Ada was the first pilot in space.", {REFUTES}),
        ("Ada was the first person in space.", "Ada was the first Thai pilot there.", BOTH),
        ("Ada was the youngest queen.", "Everybody else was older than Ada.", set()),
        ("Ada was the last queen of Orn.", "The throne was abolished when Ada abdicated.", set()),
        ("Ada was the only pilot.", "Ada was the sole pilot.", set()),
        ("Ada was not the first woman to fly.", "Ada flew in 1931.", set()),
        ("Ada was the first person to fly.", "Ada was the first woman to fly.", {SUPPORTS}),
        ("Ada was the first woman to win.", "Ada and Bo were the first couple to win.", {REFUTES}),
        ("Ada was the first woman to win.", "Ada was the first person to win.", set()),
        ("Ada was the first woman to win.", "Bo was the first girl to win.", set()),
        ("Ada was the first woman to win.", "Ada won after Bo, the first girl.", set()),
    ],
)
def test_a_rank_is_that_of_the_evidence(
    parser: EnglishParser, claim: str, text: str, expected: set[str]
) -> None:
    assert missed(parser, claim, text) == expected
