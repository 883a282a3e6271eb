from __future__ import annotations

from retrieval.stages.read.semantic import SemanticSentenceRanker
from tests.support.encoders import WordEncoder
from tests.support.evidence import evidence

CLAIM = "the red lighthouse stands on a rock"


def test_relevance_orders_and_similarity_breaks_ties() -> None:
    ranker = SemanticSentenceRanker(WordEncoder(), cutoff=0.0, limit=15)
    items = [
        evidence("A", "a pier", 0.5),
        evidence("B", "the red lighthouse", 0.5),
        evidence("C", "a rock", 0.9),
    ]
    assert [e.title for e in ranker.rank(CLAIM, items, [])] == ["C", "B", "A"]


def test_a_sentence_about_something_else_is_dropped_however_relevant_it_scored() -> None:
    ranker = SemanticSentenceRanker(WordEncoder(), cutoff=0.1, limit=15)
    kept = ranker.rank(CLAIM, [evidence("A", "cats sleep", 1.0), evidence("B", "a rock", 0.3)], [])
    assert [e.title for e in kept] == ["B"]


def test_what_was_ranked_before_keeps_its_place_and_is_not_judged_again() -> None:
    ranker = SemanticSentenceRanker(WordEncoder(), cutoff=0.1, limit=15)
    before = [evidence("A", "cats sleep", 0.8), evidence("B", "a pier", 0.5)]
    new = [evidence("C", "the red lighthouse", 0.5), evidence("D", "a rock", 0.9)]
    found = ranker.rank(CLAIM, new, before)
    assert [item.title for item in found] == ["D", "A", "B", "C"]
    assert ranker.rank(CLAIM, [], before) == before


def test_only_the_most_relevant_are_ranked() -> None:
    ranker = SemanticSentenceRanker(WordEncoder(), cutoff=0.1, limit=1)
    items = [evidence("A", "a pier", 0.6), evidence("B", "the red lighthouse", 0.5)]
    assert [item.title for item in ranker.rank(CLAIM, items, [])] == ["A"]


def test_without_evidence_nothing_is_encoded() -> None:
    assert SemanticSentenceRanker(WordEncoder(), cutoff=0.1, limit=15).rank(CLAIM, [], []) == []
