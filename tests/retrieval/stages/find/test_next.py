from __future__ import annotations

from dataclasses import replace

from retrieval.stages.find.next import Expander, NextHop, interleaved
from retrieval.state import ClaimState
from retrieval.types import Candidate, FoundBy, SentenceKey
from tests.support.evidence import ranked
from tests.support.states import state_of


def candidate(name: str, way: FoundBy, score: float = 1.0) -> Candidate:
    return Candidate(name, (way,), score, 2, SentenceKey("lead", 0))


def test_every_way_proposes_in_turn() -> None:
    mentions = [candidate("a", "mention"), candidate("b", "mention"), candidate("c", "mention")]
    dense = [candidate("d", "dense")]
    assert [c.document_id for c in interleaved([mentions, dense])] == ["a", "d", "b", "c"]


def test_a_document_that_several_expanders_propose_is_returned_once_with_all_of_them() -> None:
    found = interleaved(
        [
            [candidate("a", "mention"), candidate("b", "mention")],
            [candidate("b", "generation", 0.3), candidate("a", "generation", 0.2)],
        ]
    )
    assert [(c.document_id, c.found_by, c.score) for c in found] == [
        ("a", ("mention", "generation"), 1.0),
        ("b", ("generation", "mention"), 0.3),
    ]


def test_no_way_proposes_nothing() -> None:
    assert interleaved([]) == []


class Proposed(Expander):
    def __init__(self, *names: str) -> None:
        self._names = names

    def expand(self, state: ClaimState) -> list[Candidate]:
        return [candidate(name, "generation") for name in self._names]


def test_no_more_new_documents_than_the_limit_are_opened() -> None:
    step = NextHop([Proposed("a", "b", "c")], limit=2).run(state_of("A claim."))
    assert [one.document_id for one in step.state.candidates] == ["a", "b"]
    assert step.state.by_sets == ()


def test_sets_rank_documents_that_were_opened_before_too() -> None:
    pier, quay = ranked("Pier", "It is old."), ranked("Quay", "It is new.")
    lamp, oslo = ranked("Lamp", "It is red."), ranked("Oslo", "It is a town.")
    state = state_of("A claim.", documents=(pier, quay, lamp), by_sets=("Lamp",))
    step = NextHop([Proposed("Quay", "Oslo")], limit=1).run(state)
    assert [one.document_id for one in step.state.candidates] == ["Oslo"]
    # Those of the new sets come before those of the sets of the hop before.
    assert step.state.by_sets == ("Quay", "Oslo", "Lamp")
    opened = replace(step.state, documents=(pier, quay, lamp, oslo))
    order = [document.document.id for document in opened.ranked_documents()]
    assert order == ["Quay", "Oslo", "Lamp", "Pier"]
