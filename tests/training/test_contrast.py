from __future__ import annotations

import pytest

from evaluation.claims import AnnotatedClaim
from retrieval.encoders.minilm_encoder import MiniLMEncoder
from retrieval.types import REFUTES, SUPPORTS
from tests.training.pages import pool_of
from training.contrast import contrast_claims
from training.sentence_pool import SentencePool

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
    return [contrast for contrast in made if contrast.evidence == claim.evidence]


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


def test_a_number_is_exchanged_for_another(pool: SentencePool) -> None:
    claim = supported("The Cecilia Bridge has four arches.", "Cecilia_Bridge", 1)
    made = [text for seed in range(5) for text in made_from(claim, pool, seed)]
    assert made
    assert all(text.text.endswith(" arches.") and " four " not in text.text for text in made)


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


def test_the_same_seed_makes_the_same_contrasts(pool: SentencePool) -> None:
    claims = [supported("The Cecilia Bridge opened in 1931.", "Cecilia_Bridge", 1), *OTHERS]
    assert contrast_claims(claims, pool, 3) == contrast_claims(claims, pool, 3)
