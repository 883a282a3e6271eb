from __future__ import annotations

from dataclasses import replace

from retrieval.stages.decide.selection import ProvedSelector
from retrieval.types import (
    EQUIVALENCE,
    INDEPENDENCE,
    REFUTES,
    SUPPORTS,
    Evidence,
    EvidenceSpan,
    Mutation,
    Proof,
)
from tests.support.evidence import evidence


def chosen(title: str, score: float) -> Evidence:
    return replace(evidence(title, "a pier", score), selected=True)


def proof_from(*items: Evidence) -> Proof:
    """A proof with one part for each item, and one that is open."""
    rests = [Mutation((0, 1), EQUIVALENCE, EvidenceSpan(*item.key, 0, 6)) for item in items]
    return Proof((*rests, Mutation((2, 3), INDEPENDENCE, None)), SUPPORTS)


def kept(found: list[Evidence], proof: Proof) -> list[str]:
    return [i.title for i in ProvedSelector(0.6).select(found, proof) if i.selected]


def test_what_no_part_rests_on_is_let_go() -> None:
    best, needed, idle = chosen("Best", 0.9), chosen("Needed", 0.4), chosen("Idle", 0.5)
    assert kept([best, needed, idle], proof_from(best, needed)) == ["Best", "Needed"]


def test_what_is_nearly_as_relevant_as_the_best_stays() -> None:
    # 0.6 of 0.9 is 0.54
    found = [chosen("Best", 0.9), chosen("Near", 0.55), chosen("Far", 0.53)]
    assert kept(found, proof_from()) == ["Best", "Near"]


def test_what_was_not_selected_is_not_selected_by_the_proof() -> None:
    best, other = chosen("Best", 0.9), evidence("Other", "a pier", 0.9)
    assert kept([best, other], proof_from(best, other)) == ["Best"]


def test_what_led_to_a_needed_sentence_stays_with_it() -> None:
    best, lead = chosen("Best", 0.9), chosen("Lead", 0.2)
    end = replace(chosen("End", 0.4), path=(lead.key,))
    assert kept([best, end, lead], proof_from(end)) == ["Best", "End", "Lead"]


def test_the_order_is_left_as_it_is() -> None:
    found = [chosen("Low", 0.1), chosen("Best", 0.9)]
    kept = ProvedSelector(0.6).select(found, proof_from())
    assert [item.title for item in kept] == ["Low", "Best"]


def test_without_evidence_nothing_is_kept() -> None:
    assert ProvedSelector(0.6).select([], proof_from()) == []


def test_the_best_sentence_of_the_other_side_stays() -> None:
    against = replace(evidence("Against", "a rock", 0.52, REFUTES), selected=True)
    second = replace(evidence("Second", "a rock", 0.52, REFUTES), selected=True)
    best = chosen("Best", 0.9)
    assert kept([best, against, second], proof_from(best)) == ["Best", "Against"]
