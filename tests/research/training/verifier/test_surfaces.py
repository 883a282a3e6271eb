"""The forms in which a claim is read while a verifier learns."""

from __future__ import annotations

import random

from research.training.loop import labelled
from research.training.verifier.surfaces import contracted, quoted, resurfaced, with_stop
from retrieval.types import REFUTES

WHALE = labelled("A whale is not a fish.", "Whale : It is a mammal.", REFUTES)


def test_a_claim_is_read_in_many_forms_and_its_evidence_and_label_in_one() -> None:
    read = resurfaced([WHALE] * 300, random.Random(1))
    assert {
        "A whale is not a fish.",
        "A whale is not a fish",
        "a whale isn't a fish",
        "A whale isn't a fish.",
        "“A whale is not a fish.”",
    } <= {one.claim for one in read}
    assert {(one.evidence, one.target) for one in read} == {(WHALE.evidence, WHALE.target)}


def test_forms_change_no_word_of_another_kind() -> None:
    assert contracted("It cannot be, nor notable.") == "It can't be, nor notable."
    assert with_stop("Is it?") == "Is it?"
    assert quoted("Yes.") == "“Yes.”"
