from __future__ import annotations

from retrieval.titles.title_matcher import TitleMatcher
from retrieval.types import Span
from tests.encoders import WordEncoder
from tests.index.in_memory_store import InMemoryStore
from tests.index.pages import PAGES

STORE = InMemoryStore(PAGES, WordEncoder())
CLAIM = "Savage were a band that sang about the harbour light"


def span(text: str) -> Span:
    start = CLAIM.find(text)
    return Span(text, start, start + len(text), "name")


def test_exact_titles_score_one_and_the_longest_name_comes_first() -> None:
    exact = TitleMatcher(STORE, WordEncoder()).run(
        CLAIM, [span("harbour"), span("harbour light"), span("Savage")]
    )["exact"]
    assert [c.document_id for c in exact] == ["Harbour_light", "The_Harbour", "Savage"]
    assert {(c.score, c.found_by, c.hop) for c in exact} == {(1.0, ("title",), 1)}


def test_disambiguated_titles_are_ranked_by_their_words_and_the_claim() -> None:
    found = TitleMatcher(STORE, WordEncoder(), cutoff=0.0).run(CLAIM, [span("Savage")])
    assert [c.document_id for c in found["disambiguated"]] == ["Savage_band", "Savage_film"]
    assert found["disambiguated"][0].score > found["disambiguated"][1].score


def test_a_limit_keeps_the_best_disambiguated_title() -> None:
    found = TitleMatcher(STORE, WordEncoder(), cutoff=0.0, limit=1).run(CLAIM, [span("Savage")])
    assert [c.document_id for c in found["disambiguated"]] == ["Savage_band"]


def test_the_cutoff_drops_titles_unlike_the_claim() -> None:
    found = TitleMatcher(STORE, WordEncoder(), cutoff=0.99).run(CLAIM, [span("Savage")])
    assert found["disambiguated"] == []


def test_a_claim_that_names_nothing_finds_nothing() -> None:
    assert TitleMatcher(STORE, WordEncoder()).run(CLAIM, []) == {"exact": [], "disambiguated": []}
