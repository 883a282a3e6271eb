"""The rounds of a result as a chain."""

from __future__ import annotations

from app.contexts import Cited, HopItem, Lead
from app.hops import hop_items
from tests.app.documents import (
    HOLM,
    claim_document,
    document,
    document_kept_from_before,
    document_with_a_long_proof,
)

CLAIM = "The Lighthouse of Varn was built by Ida Holm."
BUILT = "It was built in 1874 by the engineer Ida Holm, who lived in it until her death."


def test_each_round_tells_what_led_to_it_what_stayed_open_and_why_the_last_one_ended() -> None:
    assert hop_items(document_with_a_long_proof()) == (
        HopItem(
            number=1,
            leads=(),
            documents=3,
            sentences=2,
            sufficient=False,
            open=("an Ostrean engineer who planned eleven bridges and was born in Varnby",),
            ended="",
        ),
        HopItem(
            number=2,
            leads=(Lead(BUILT, Cited("Lighthouse of Varn", 1), ("Ida Holm",), 0),),
            documents=1,
            sentences=2,
            sufficient=False,
            open=("was born in Varnby",),
            ended="",
        ),
        HopItem(
            number=3,
            leads=(
                # The first sentence of Varnby is not among the evidence.
                Lead("", Cited("Varnby", None), ("Whaling",), 0),
                Lead(
                    "She planned eleven lighthouses and two bridges.",
                    Cited("Ida Holm", 4),
                    ("Ostrean bridges",),
                    0,
                ),
            ),
            documents=2,
            sentences=0,
            sufficient=False,
            open=("was born in Varnby",),
            ended="nothing new was found",
        ),
    )


def test_a_sentence_that_led_to_many_documents_names_the_best_four() -> None:
    result = claim_document(CLAIM)
    result["documents"] = [
        document(f"Pier {n}", HOLM, 1 / n, ["dense"], 2, ("Skerries", 3)) for n in range(1, 8)
    ]
    assert hop_items(result)[1].leads == (
        Lead("", Cited("Skerries", None), ("Pier 1", "Pier 2", "Pier 3", "Pier 4"), 3),
    )


def test_what_is_missing_outside_the_claim_has_no_words() -> None:
    result = claim_document(CLAIM)
    result["hops"][0]["missing"] = [[900, 950], [-4, -1], [9, 2], [-3, 3]]
    assert hop_items(result)[0].open == ("The",)


def test_a_result_from_before_has_rounds_without_leads_and_endings() -> None:
    first, last = hop_items(document_kept_from_before(CLAIM))
    assert (first.leads, first.open, first.ended) == ((), ("Lighthouse",), "")
    assert (last.leads, last.sufficient, last.ended) == ((), True, "")
