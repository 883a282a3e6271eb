from __future__ import annotations

from retrieval.corpora.corpus import Page
from retrieval.stages.find.titles import TitleMatcher
from retrieval.text.english import EnglishParser
from retrieval.types import Candidate, Span
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.retrieval.index.pages import PAGES
from tests.support.encoders import WordEncoder

STORE = InMemoryStore(PAGES, WordEncoder())
CLAIM = "savage were a band that sang about the Harbour light"


def span(text: str) -> Span:
    start = CLAIM.find(text)
    return Span(text, start, start + len(text), "name")


def found(
    parser: EnglishParser, claim: str, *spans: Span, cutoff: float = 0.25, limit: int = 5
) -> tuple[list[Candidate], list[Candidate]]:
    matcher = TitleMatcher(STORE, WordEncoder(), cutoff, limit)
    return matcher.match(parser.parse(claim), list(spans))


def ids(candidates: list[Candidate]) -> list[str]:
    return [candidate.document_id for candidate in candidates]


def test_exact_titles_score_one_and_the_longest_name_comes_first(parser: EnglishParser) -> None:
    exact = found(parser, CLAIM, span("Harbour"), span("Harbour light"), span("savage"))[0]
    assert ids(exact) == ["Harbour_light", "The_Harbour", "Savage"]
    assert {(c.score, c.found_by, c.hop) for c in exact} == {(1.0, ("title",), 1)}


def test_disambiguated_titles_are_ranked_by_their_words_and_the_claim(
    parser: EnglishParser,
) -> None:
    candidates = found(parser, CLAIM, span("savage"), cutoff=0.0)[1]
    assert ids(candidates) == ["Savage_band", "Savage_film"]
    assert candidates[0].score > candidates[1].score


def test_a_limit_keeps_the_best_disambiguated_title(parser: EnglishParser) -> None:
    assert ids(found(parser, CLAIM, span("savage"), cutoff=0.0, limit=1)[1]) == ["Savage_band"]


def test_the_cutoff_drops_titles_unlike_the_claim(parser: EnglishParser) -> None:
    assert found(parser, CLAIM, span("savage"), cutoff=0.99)[1] == []


def test_a_title_is_found_by_its_capital_letter_where_no_span_marks_it(
    parser: EnglishParser,
) -> None:
    assert ids(found(parser, "Savage is old.")[0]) == ["Savage"]
    assert ids(found(parser, "They sang of Harbour light in 2012.")[0]) == [
        "Harbour_light",
        "The_Harbour",
    ]


def test_in_a_claim_of_one_case_any_word_may_begin_a_title(parser: EnglishParser) -> None:
    assert ids(found(parser, "they sang of harbour light")[0]) == [
        "Harbour_light",
        "The_Harbour",
    ]


def test_a_title_of_small_words_is_found_where_they_are_no_pronouns(parser: EnglishParser) -> None:
    pages = (
        Page("Always_film", "Always (film)", None, "A film."),
        Page("It", "It", None, "It is."),
    )
    matcher = TitleMatcher(InMemoryStore(pages, WordEncoder()), WordEncoder(), cutoff=0.0, limit=5)
    always = matcher.match(parser.parse("Always premiered in 1989."), [])
    assert ids(always[1]) == ["Always_film"]
    assert matcher.match(parser.parse("It premiered in 1989."), [])[0] == []


def test_a_claim_that_names_nothing_finds_nothing(parser: EnglishParser) -> None:
    assert found(parser, "They sang.") == ([], [])
