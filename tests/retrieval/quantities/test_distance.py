"""Which of two places is nearer, by the distances that sentences state."""

from __future__ import annotations

import pytest

from retrieval.quantities.distance import nearer
from retrieval.text.english import EnglishParser
from retrieval.types import REFUTES, SUPPORTS

TEXTS = [
    ("Arl", "It is 187 kilometres (116 mi) northwest of Benn, but 80 km (50 mi) south of Orn."),
    ("Selm (town)", "Selm lies 320 kilometres to the east of Arl and 100 km from Norl."),
]


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("Arl is closer to Orn than to Selm.", SUPPORTS),
        ("Arl is closer to Selm than to Benn.", REFUTES),
        ("Arl is farther from Selm than from Orn.", SUPPORTS),
        ("Arl is closer to Orn than to Norl.", None),
        ("Benn is closer to Orn than to Arl.", None),
    ],
)
def test_the_distances_of_one_place_from_two_are_compared(
    parser: EnglishParser, claim: str, label: str | None
) -> None:
    asked = nearer(claim)
    assert asked is not None
    found = asked.ruling(TEXTS, parser)
    assert (found and found[0].label) == label


def test_the_ruling_says_both_distances(parser: EnglishParser) -> None:
    asked = nearer("Arl is closer to Orn than to Selm.")
    assert asked is not None
    found = asked.ruling(TEXTS, parser)
    assert found is not None
    assert found[0].because == "80 km to Orn is less than 320 kilometres to Selm."
    assert found[1:] == (0, 1)


def test_other_claims_compare_no_distances() -> None:
    assert nearer("Arl is larger than Orn.") is None
