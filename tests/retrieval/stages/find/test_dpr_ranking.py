from __future__ import annotations

from collections.abc import Sequence
from math import exp

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.stages.find.ranking import DprDocumentRanker
from retrieval.types import Candidate, FoundBy, Question


class Questions:
    """Two questions whose vectors had the lengths 10 and 5."""

    def measured(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        assert list(texts) == ["Who?", "When?"][: len(texts)]
        lengths = np.array([10, 5], np.float32)[: len(texts)]
        return np.eye(2, dtype=np.float32)[: len(texts)], lengths


# The products of documents with the unit vectors of both questions. Times 320 and 160 they are
# DPR's inner products: 64, 0; 60.8, 0; 80, 64; 0, 72; 64, 80.
PRODUCTS = {"A": (0.2, 0), "B": (0.19, 0), "C": (0.25, 0.4), "D": (0, 0.45), "E": (0.2, 0.5)}


class Store:
    """Knows nothing but ``PRODUCTS``."""

    def similarities(self, ids: Sequence[str], queries: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.array([PRODUCTS[i] for i in ids], np.float32).reshape(-1, 2) @ queries.T


def candidate(document_id: str, found_by: FoundBy = "text") -> Candidate:
    return Candidate(document_id, (found_by,), 0.0, 1)


def ranked(
    others: str, exact: str = "", kept: str = "", limit: int = 10, questions: int = 2
) -> dict[str, float]:
    ranker = DprDocumentRanker(Store(), Questions(), cutoff=0.65, limit=limit)
    found = ranker.rank(
        [Question("Who?", None, "wh"), Question("When?", None, "wh")][:questions],
        [candidate(i, "title") for i in exact],
        [candidate(i) for i in others],
        [candidate(i, "words") for i in kept],
    )
    return {c.document_id: c.score for c in found}


def test_a_document_scores_the_scaled_inner_product_with_its_best_question() -> None:
    found = ranked("ABCDE")
    # B's best is 1 / (1 + exp(-0.608)) = 0.647; the others are in order of 80, 80, 72 and 64.
    assert found == pytest.approx(
        {i: 1 / (1 + exp(-x)) for i, x in {"C": 0.8, "E": 0.8, "D": 0.72, "A": 0.64}.items()}
    )
    assert list(found) == ["C", "E", "D", "A"]


def test_each_question_has_so_many_places() -> None:
    # C is nearest to the first question and E to the second.
    assert set(ranked("ABCDE", limit=1)) == {"C", "E"}


def test_exact_titles_are_all_read_first_and_take_no_place() -> None:
    found = ranked("CA", exact="BE", limit=1)
    assert found == pytest.approx({"B": 1, "E": 1, "C": 1 / (1 + exp(-0.8))})
    assert list(found) == ["B", "E", "C"]


def test_kept_candidates_are_read_even_with_low_scores() -> None:
    assert ranked("", kept="B") == pytest.approx({"B": 1 / (1 + exp(-0.608))})


def test_without_candidates_or_questions_nothing_but_exact_titles_is_read() -> None:
    assert ranked("") == {}
    assert ranked("C", exact="A", questions=0) == {"A": 1}


def test_a_document_found_twice_has_both_ways() -> None:
    ranker = DprDocumentRanker(Store(), Questions(), cutoff=0.65, limit=10)
    asked = [Question("Who?", None, "wh"), Question("When?", None, "wh")]
    (found,) = ranker.rank(asked, [candidate("C", "title")], [candidate("C")], [])
    assert found.found_by == ("title", "text")
