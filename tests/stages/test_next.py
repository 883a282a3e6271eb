from __future__ import annotations

from retrieval.stages.next import interleaved
from retrieval.types import Candidate, FoundBy, SentenceKey


def candidate(name: str, way: FoundBy, score: float = 1.0) -> Candidate:
    return Candidate(name, (way,), score, 2, SentenceKey("lead", 0))


def test_every_way_proposes_in_turn() -> None:
    mentions = [candidate("a", "mention"), candidate("b", "mention"), candidate("c", "mention")]
    dense = [candidate("d", "dense")]
    assert [c.document_id for c in interleaved([mentions, dense], 9)] == ["a", "d", "b", "c"]


def test_a_document_that_several_expanders_propose_is_returned_once_with_all_of_them() -> None:
    found = interleaved(
        [
            [candidate("a", "mention"), candidate("b", "mention")],
            [candidate("b", "generation", 0.3), candidate("a", "generation", 0.2)],
        ],
        9,
    )
    assert [(c.document_id, c.found_by, c.score) for c in found] == [
        ("a", ("mention", "generation"), 1.0),
        ("b", ("generation", "mention"), 0.3),
    ]


def test_no_more_than_the_limit_come_back_and_none_from_no_way() -> None:
    many = [candidate(str(number), "dense") for number in range(5)]
    assert len(interleaved([many], 2)) == 2
    assert interleaved([], 2) == []
