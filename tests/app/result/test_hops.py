"""The hops of a result as the pages show them."""

from __future__ import annotations

from typing import Any, get_args

from app.result import hops
from app.result.hops import HopItem, Lead
from retrieval.result import Cited, ClaimResult
from retrieval.types import Hop, Stopped
from retrieval.words import STOPPED, Quoting
from tests.app.claim_documents import (
    HOLM,
    claim_document,
    document,
    document_kept_from_before,
    document_with_a_long_proof,
    hop,
)

CLAIM = "The Lighthouse of Varn was built by Ida Holm."
BUILT = "It was built in 1874 by the engineer Ida Holm, who lived in it until her death."


def hop_items(result: dict[str, Any]) -> tuple[HopItem, ...]:
    return hops.hop_items(ClaimResult.model_validate(result))


def test_each_hop_says_what_was_open_what_led_to_it_and_what_it_covered() -> None:
    born = ("was born in Varnby",)
    found = ("an Ostrean engineer", "who planned", "eleven bridges")
    result = document_with_a_long_proof()
    first, second, third = (Hop.model_validate(hop) for hop in result["hops"])
    assert hop_items(result) == (
        HopItem(
            first,
            documents=3,
            leads=(),
            before=None,
            covered=None,
            open=Quoting("Still open:", (*found, *born)),
        ),
        HopItem(
            second,
            documents=1,
            leads=(Lead(BUILT, Cited("Lighthouse of Varn", 1), ("Ida Holm",), 0),),
            before=Quoting("Open before it:", (*found, *born)),
            covered=Quoting("Now covered:", found),
            open=Quoting("Still open:", born),
        ),
        HopItem(
            third,
            documents=2,
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
            before=Quoting("Open before it:", born),
            covered=None,
            open=Quoting("Still open:", born),
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


def test_missing_spans_outside_the_claim_have_no_words() -> None:
    result = claim_document(CLAIM)
    result["hops"][0]["missing"] = [[900, 950], [-4, -1], [9, 2], [-3, 3]]
    assert hop_items(result)[0].open == Quoting("Not named in the selected sentences:", ("The",))


def test_without_a_proof_words_are_only_said_to_be_named_or_not() -> None:
    result = claim_document(CLAIM)
    lighthouse, builder = [4, 14], [36, 44]
    result["hops"] = [hop(1, [lighthouse, builder], 3, 2), hop(2, [builder], 1, 2, "nothing new")]
    first, last = hop_items(result)
    missing = ("Lighthouse", "Ida Holm")
    assert first.open == Quoting("Not named in the selected sentences:", missing)
    assert last.before == Quoting("Not named before it:", missing)
    assert last.covered == Quoting("Now named:", ("Lighthouse",))
    assert last.open == Quoting("Not named in the selected sentences:", ("Ida Holm",))


def test_nothing_is_missing_if_the_evidence_was_enough() -> None:
    result = claim_document(CLAIM)
    result["hops"] = [hop(1, [[36, 44]], 3, 2, "decided")]
    (only,) = hop_items(result)
    assert only.open is None


def test_an_old_result_has_hops_without_leads_and_endings() -> None:
    first, last = hop_items(document_kept_from_before(CLAIM))
    assert (first.leads, first.hop.stopped) == ((), None)
    assert first.open == Quoting("Not named in the selected sentences:", ("Lighthouse",))
    assert (last.leads, last.hop.sufficient, last.hop.stopped) == ((), True, None)


def test_every_reason_to_stop_has_its_words() -> None:
    assert tuple(STOPPED) == get_args(Stopped)
