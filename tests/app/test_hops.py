"""The hops of a result as the pages show them."""

from __future__ import annotations

from typing import Any, get_args

from app import hops
from app.contexts import Cited, HopItem, Lead, Saying
from retrieval.result import ClaimResult
from retrieval.types import Stopped
from retrieval.wording import STOPPED
from tests.app.documents import (
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


def test_each_hop_says_what_was_open_what_led_to_it_what_it_covered_and_how_it_ended() -> None:
    born = ("was born in Varnby",)
    found = ("an Ostrean engineer", "who planned", "eleven bridges")
    assert hop_items(document_with_a_long_proof()) == (
        HopItem(
            number=1,
            before=None,
            leads=(),
            documents=3,
            sentences=2,
            sufficient=False,
            covered=None,
            open=Saying("Still open:", (*found, *born), "."),
            ended="",
        ),
        HopItem(
            number=2,
            before=Saying("Open before it:", (*found, *born), "."),
            leads=(Lead(BUILT, Cited("Lighthouse of Varn", 1), ("Ida Holm",), 0),),
            documents=1,
            sentences=2,
            sufficient=False,
            covered=Saying("Now covered:", found, "."),
            open=Saying("Still open:", born, "."),
            ended="",
        ),
        HopItem(
            number=3,
            before=Saying("Open before it:", born, "."),
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
            covered=None,
            open=Saying("Still open:", born, "."),
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


def test_missing_spans_outside_the_claim_have_no_words() -> None:
    result = claim_document(CLAIM)
    result["hops"][0]["missing"] = [[900, 950], [-4, -1], [9, 2], [-3, 3]]
    assert hop_items(result)[0].open == Saying(
        "Not named in the selected sentences:", ("The",), "."
    )


def test_without_a_proof_words_are_only_said_to_be_named_or_not() -> None:
    result = claim_document(CLAIM)
    lighthouse, builder = [4, 14], [36, 44]
    result["hops"] = [hop(1, [lighthouse, builder], 3, 2), hop(2, [builder], 1, 2, "nothing new")]
    first, last = hop_items(result)
    missing = ("Lighthouse", "Ida Holm")
    assert first.open == Saying("Not named in the selected sentences:", missing, ".")
    assert last.before == Saying("Not named before it:", missing, ".")
    assert last.covered == Saying("Now named:", ("Lighthouse",), ".")
    assert last.open == Saying("Not named in the selected sentences:", ("Ida Holm",), ".")


def test_nothing_is_missing_if_the_evidence_was_enough() -> None:
    result = claim_document(CLAIM)
    result["hops"] = [hop(1, [[36, 44]], 3, 2, "decided")]
    (only,) = hop_items(result)
    assert (only.open, only.ended) == (None, "the evidence was enough to decide")


def test_an_old_result_has_hops_without_leads_and_endings() -> None:
    first, last = hop_items(document_kept_from_before(CLAIM))
    assert (first.leads, first.ended) == ((), "")
    assert first.open == Saying("Not named in the selected sentences:", ("Lighthouse",), ".")
    assert (last.leads, last.sufficient, last.ended) == ((), True, "")


def test_every_reason_to_stop_has_its_words() -> None:
    assert tuple(STOPPED) == get_args(Stopped)
