from __future__ import annotations

from retrieval.recipes.config import REPORT
from retrieval.stages.read.semantic import SimilaritySentenceRanker
from tests.support.encoders import WordEncoder
from tests.support.evidence import evidence

CLAIM = "the red lighthouse stands"


def titles(*items: tuple[str, str, float], before: tuple[str, str, float] | None = None) -> str:
    ranker = SimilaritySentenceRanker(WordEncoder(), cutoff=0.5)
    earlier = [evidence(*before)] if before else []
    found = ranker.rank(CLAIM, [evidence(*item) for item in items], earlier)
    return "".join(item.title for item in found)


def test_similarity_alone_orders_and_cuts_off() -> None:
    # Shared words over the lengths √4 and √2, √4, √1: 2 / 2.83, 4 / 4 and 0.
    assert titles(("A", "red lighthouse", 0.9), ("B", CLAIM, 0.5), ("C", "cats", 1.0)) == "BA"


def test_what_is_as_similar_as_the_cutoff_stays() -> None:
    assert titles(("A", "lighthouse", 0.9)) == "A"  # 1 / 2


def test_what_was_ranked_before_is_ranked_with_the_rest() -> None:
    assert titles(("A", "red lighthouse", 0.9), before=("B", CLAIM, 0.5)) == "BA"
    assert titles() == ""


def test_the_report_orders_and_drops_nothing() -> None:
    ranker = SimilaritySentenceRanker(WordEncoder(), REPORT.semantic_cutoff)
    found = ranker.rank(CLAIM, [evidence("A", "cats", 1.0), evidence("B", CLAIM, 0.5)], [])
    assert [item.title for item in found] == ["B", "A"]  # cosines of 1 and 0
