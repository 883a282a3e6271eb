from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim
from research.training.contrast import contrast_claims, refuting, symmetric
from research.training.figures import contrast_figures
from research.training.sentence_pool import SentencePool
from retrieval.models.encoders import MiniLMEncoder
from retrieval.types import REFUTES, SUPPORTS
from tests.research.training.pages import pool_of

pytestmark = pytest.mark.models


PAGES = {
    "Cecilia_Bridge": [
        "The Cecilia Bridge crosses a fjord in Norway .",
        "It was opened in 1931 and has four arches .",
    ],
    "Holm_Bridge": ["The Holm Bridge stands in Denmark .", "It was planned by Ida Holm ."],
    "Anders_Bridge": ["The Anders Bridge stands in Sweden ."],
}


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> SentencePool:
    return pool_of(PAGES, MiniLMEncoder(), tmp_path_factory.mktemp("pages"))


def supported(text: str, page: str, sentence: int) -> AnnotatedClaim:
    return AnnotatedClaim(text, SUPPORTS, (((page, sentence),),))


# A name is used for an exchange once two claims hold it.
OTHERS = [
    supported("The Holm Bridge stands in Denmark.", "Holm_Bridge", 0),
    supported("Denmark has the Holm Bridge.", "Holm_Bridge", 0),
]


def made_from(claim: AnnotatedClaim, pool: SentencePool, seed: int = 0) -> list[AnnotatedClaim]:
    made = contrast_claims([claim, *OTHERS], pool, seed)
    return [one.claim for one in made if one.original == claim.text]


def test_a_country_is_exchanged_for_another_that_the_page_does_not_name(pool: SentencePool) -> None:
    claim = supported("The Cecilia Bridge is in Norway.", "Cecilia_Bridge", 0)
    made = made_from(claim, pool)
    assert {contrast.text for contrast in made} == {"The Cecilia Bridge is in Denmark."}
    assert {contrast.label for contrast in made} == {REFUTES}


def test_a_year_is_moved_by_thirty_years_at_most(pool: SentencePool) -> None:
    claim = supported("The Cecilia Bridge opened in 1931.", "Cecilia_Bridge", 1)
    for seed in range(5):
        (contrast,) = made_from(claim, pool, seed)
        before, year = contrast.text.rstrip(".").rsplit(" ", 1)
        assert before == "The Cecilia Bridge opened in"
        assert 1 <= abs(int(year) - 1931) <= 30


@pytest.mark.parametrize(
    "text",
    [
        "The Cecilia Bridge crosses a fjord.",  # nothing to exchange
        "The Cecilia Bridge is not outside Norway.",  # its opposite is not what it would be
        "The Cecilia Bridge is near Iceland.",  # the evidence does not name it
    ],
)
def test_what_cannot_be_exchanged_safely_makes_no_contrast(text: str, pool: SentencePool) -> None:
    assert made_from(supported(text, "Cecilia_Bridge", 0), pool) == []


def test_a_contrast_and_its_original_are_each_true_once_and_false_once(pool: SentencePool) -> None:
    claim = supported("The Cecilia Bridge is in Norway.", "Cecilia_Bridge", 0)
    (contrast,) = {one for one in contrast_claims([claim, *OTHERS], pool, 0) if one.old == "Norway"}
    (sentence,) = refuting(contrast, pool)
    assert "Norway" in sentence.text
    as_it_is = f"Cecilia Bridge : {sentence.text}"
    changed = as_it_is.replace("Norway", "Denmark")
    assert symmetric(contrast, sentence) == [
        ("The Cecilia Bridge is in Norway.", as_it_is, SUPPORTS),
        ("The Cecilia Bridge is in Denmark.", as_it_is, REFUTES),
        ("The Cecilia Bridge is in Denmark.", changed, SUPPORTS),
        ("The Cecilia Bridge is in Norway.", changed, REFUTES),
    ]


def test_who_reads_the_claim_alone_gets_half_of_the_exchanges_right(pool: SentencePool) -> None:
    claim = supported("The Cecilia Bridge is in Norway.", "Cecilia_Bridge", 0)
    (one,) = {one for one in contrast_claims([claim, *OTHERS], pool, 0) if one.old == "Norway"}

    def opinions(supported: list[bool]) -> NDArray[np.float32]:
        return np.array([(0.9, 0.1, 0.0) if yes else (0.1, 0.9, 0.0) for yes in supported], "f4")

    def by_evidence(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return opinions([claim.rstrip(".").split()[-1] in evidence for claim, evidence in pairs])

    def by_claim(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return opinions(["Norway" in claim for claim, _ in pairs])

    assert contrast_figures(by_evidence, [one], pool) == {"exchanges_right": 100.0}
    assert contrast_figures(by_claim, [one], pool) == {"exchanges_right": 50.0}
