from __future__ import annotations

from research.evaluation.claims import AnnotatedClaim
from research.training.distilbert import relevance_parts
from research.training.loop import Example
from retrieval.corpora.corpus import Page
from retrieval.types import NOT_ENOUGH_INFO, SUPPORTS

RELEVANT, IRRELEVANT = (0.0, 1.0), (1.0, 0.0)


def page(name: str, *sentences: str) -> Page:
    return Page(name, name, None, "", sentences=sentences)


def claim(text: str, *evidence: tuple[str, int]) -> AnnotatedClaim:
    sets = tuple((key,) for key in evidence)
    return AnnotatedClaim(text, SUPPORTS if sets else NOT_ENOUGH_INFO, sets)


PIER = page(
    "Pier", "The pier is long.", "It burnt.", "", "It is oak.", "It has lamps.", "It leans."
)


LAMP = page("Lamp", "A lamp gives light.")
BOAT = page("Boat", "A boat floats.")


def pairs_of(*claims: AnnotatedClaim, pages: tuple[Page, ...]) -> list[Example]:
    parts = relevance_parts(claims, pages, seed=0)
    return [*parts.train, *parts.validation, *parts.test]


def test_a_claim_has_one_relevant_sentence_two_of_its_page_and_two_of_other_pages() -> None:
    made = pairs_of(claim("The pier is oak.", ("Pier", 3)), pages=(PIER, LAMP, BOAT))
    assert [pair.target for pair in made] == [RELEVANT] + [IRRELEVANT] * 4
    assert made[0] == Example("The pier is oak.", "It is oak.", RELEVANT)
    same = {pair.evidence for pair in made[1:3]}
    assert len(same) == 2
    assert same < {"The pier is long.", "It burnt.", "It has lamps.", "It leans."}
    assert {pair.evidence for pair in made[3:]} == {"A lamp gives light.", "A boat floats."}


def test_claims_without_evidence_or_without_its_sentence_are_left_out() -> None:
    undecided = claim("Nobody knows.")
    lost = claim("The mill is old.", ("Mill", 0))
    empty = claim("The pier sank.", ("Pier", 2))
    past = claim("The pier sings.", ("Pier", 6))
    assert pairs_of(undecided, lost, empty, past, pages=(PIER, LAMP)) == []
