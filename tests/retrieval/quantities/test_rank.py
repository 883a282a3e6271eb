"""What comes later in an order is not the first."""

from __future__ import annotations

import pytest

from retrieval.quantities.rank import claimed_first
from retrieval.text.english import EnglishParser
from retrieval.types import REFUTES

NORL = "It is the largest island of Tarsk, and the ninth-largest island in the world."


@pytest.mark.parametrize(
    ("claim", "sentence", "because"),
    [
        (
            "Norl is at least as large as any island.",
            NORL,
            "The “ninth-largest island” is not the largest one.",
        ),
        (
            "Norl is the largest island in the world.",
            NORL,
            "The “ninth-largest island” is not the largest one.",
        ),
        (
            "Norl is the most populous city in Arl.",
            "Norl is the second-most populous city in Arl.",
            "The “second-most populous city” is not the most populous one.",
        ),
        (
            "Norl is the largest city.",
            "Norl is the twelfth-largest city.",
            "The “twelfth-largest city” is not the largest one.",
        ),
        ("Norl is the largest island of Tarsk.", NORL, ""),
        ("Norl is the highest island.", NORL, ""),
        ("Norl is the largest volcanic island.", NORL, ""),
        ("Norl is the largest lake.", NORL, ""),
        ("Norl is the second-largest island.", NORL, ""),
        ("Norl is the largest island.", "Its neighbour is the ninth-largest island.", ""),
        ("Norl is the largest island.", "Benn is the ninth-largest island.", ""),
    ],
)
def test_the_ninth_is_not_the_first_of_the_same_kind(
    parser: EnglishParser, claim: str, sentence: str, because: str
) -> None:
    first = claimed_first(parser.parse(claim))
    ruling = first and first.ruling("Norl", parser.parse(sentence))
    assert (ruling and (ruling.label, ruling.because)) == ((REFUTES, because) if because else None)
