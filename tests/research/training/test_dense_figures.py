from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim
from research.training.dense_figures import Searches, Step, by_bm25, search_figures
from research.training.sentence_pool import SentencePool
from retrieval.models.encoders import Query
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS
from tests.research.training.pages import pool_of
from tests.support.encoders import WordEncoder

# Pages 0 to 9 have three sentences each: rows 0 to 29.
PAGES = {f"Page_{n}": [f"Page {n} is {k} ." for k in ("long", "red", "old")] for n in range(10)}
LONG = AnnotatedClaim("Page 0 is long.", SUPPORTS, ((("Page_0", 0),),))
BOTH = AnnotatedClaim("Page 1 is red and old.", REFUTES, ((("Page_1", 1), ("Page_1", 2)),))
EITHER = AnnotatedClaim("Page 2.", SUPPORTS, ((("Page_2", 0),), (("Page_3", 0),)))
TWO = AnnotatedClaim("Pages 4 and 5.", SUPPORTS, ((("Page_4", 0), ("Page_5", 1)),))
NOTHING = AnnotatedClaim("Page 6 is far.", NOT_ENOUGH_INFO, ())
UNKNOWN = AnnotatedClaim("Page 77 is long.", SUPPORTS, ((("Page_77", 0),),))


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> SentencePool:
    return pool_of(PAGES, WordEncoder(), tmp_path_factory.mktemp("pages"))


def test_claims_over_two_pages_are_steps_both_ways_and_others_are_looked_for_alone(
    pool: SentencePool,
) -> None:
    searches = Searches.of([LONG, BOTH, TWO, NOTHING, UNKNOWN], pool)
    assert searches.claims == [LONG, BOTH]
    assert searches.steps == [
        Step((TWO.text, (("Page 4", "Page 4 is long."),)), lead=12, wanted=16),
        Step((TWO.text, (("Page 5", "Page 5 is red."),)), lead=16, wanted=12),
    ]


def test_figures_of_three_claims_and_two_steps(pool: SentencePool) -> None:
    searches = Searches.of([LONG, BOTH, EITHER, TWO], pool)

    def ranked(*first: int) -> NDArray[np.float32]:
        """Scores that put these rows first, in this order, and the rest behind in theirs."""
        order = [*first, *(row for row in range(30) if row not in first)]
        scores = np.empty(30, dtype=np.float32)
        scores[order] = np.arange(30, 0, -1)
        return scores

    answers = {
        (LONG.text, 0): ranked(29, 28, 27, 26, 0),  # fifth; its page is third
        (BOTH.text, 0): ranked(4),  # the first of both is second, the other sixth
        (EITHER.text, 0): ranked(9),  # Page 3's sentence is first, Page 2's seventh
        # Both of the page that is read are passed over, so that it is the fifth.
        (TWO.text, 12): ranked(12, 13, 20, 21, 22, 23, 16),
        (TWO.text, 16): ranked(20, 21, 22, 23, 24, 12),  # the sixth
    }

    def score(queries: Sequence[Query]) -> NDArray[np.float32]:
        leads = {"Page 4": 12, "Page 5": 16}
        return np.array([answers[claim, leads[p[0][0]] if p else 0] for claim, p in queries])

    figures = search_figures(score, searches)
    assert figures["sentences_5"] == pytest.approx(200 / 3)
    assert figures["sentences_20"] == figures["sentences_100"] == 100
    assert figures["pages_5"] == figures["pages_20"] == 100
    assert figures["next_5"] == 50
    assert figures["next_20"] == figures["next_100"] == 100


def test_bm25_scores_sentences_by_rare_words_of_claim_and_path(pool: SentencePool) -> None:
    scores = by_bm25(pool)([("red", ()), ("old", (("Other", "red red"),))])
    assert scores.shape == (2, 30)
    assert (scores[0].reshape(10, 3).argmax(axis=1) == 1).all()
    assert (scores[1].reshape(10, 3)[:, 0] == 0).all()
    assert (scores[1].reshape(10, 3)[:, 1:] > 0).all()
