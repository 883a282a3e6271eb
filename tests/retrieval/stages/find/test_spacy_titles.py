from __future__ import annotations

from dataclasses import replace

from retrieval.corpora.corpus import Page
from retrieval.recipes.config import REPORT
from retrieval.stages.find.titles import SpacyTitleMatcher
from retrieval.text.english import EnglishParser
from retrieval.types import Candidate, Span
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.retrieval.index.pages import PAGES
from tests.support.encoders import WordEncoder

CLAIM = "The savage band sang of Harbour light"


def match(
    parser: EnglishParser,
    *names: str,
    pages: tuple[Page, ...] = PAGES,
    claim: str = CLAIM,
    **settings: float,
) -> tuple[list[Candidate], list[Candidate]]:
    store = InMemoryStore(pages, WordEncoder())
    spans = [Span(name, 0, len(name), "entity") for name in names]
    matcher = SpacyTitleMatcher(store, parser, replace(REPORT, **settings))
    return matcher.match(parser.parse(claim), spans)


def ids(candidates: list[Candidate]) -> list[str]:
    return [candidate.document_id for candidate in candidates]


def page(title: str) -> Page:
    return Page(title.replace(" ", "_"), title, None, "A text.")


def test_only_spans_are_looked_up_and_only_their_case_is_ignored(parser: EnglishParser) -> None:
    exact, others = match(parser, "HARBOUR LIGHT", "Harbour", "Zoe")  # not "The Harbour", "Zoë"
    assert (ids(exact), others) == (["Harbour_light"], [])
    assert exact[0].score == 1
    assert match(parser) == ([], [])


def test_titles_are_compared_by_their_words_in_parentheses_alone(parser: EnglishParser) -> None:
    # The words of the second title are the claim, so its cosine is 1; the first one's are others.
    pages = (page("Savage (town)"), page(f"Savage ({CLAIM})"), page("Savage"))
    exact, others = match(parser, "savage", pages=pages, disambiguation_cutoff=-1.0)
    assert ids(exact) == ["Savage"]
    assert ids(others) == [f"Savage_({CLAIM})".replace(" ", "_"), "Savage_(town)"]
    assert abs(others[0].score - 1) < 1e-5
    kept = match(parser, "savage", pages=pages, disambiguation_cutoff=0.999)[1]
    assert ids(kept) == ids(others)[:1]
    first = match(parser, "savage", pages=pages, disambiguation_limit=1)[1]
    assert ids(first) == ids(others)[:1]


def test_ten_titles_are_read_and_exact_ones_are_among_them(parser: EnglishParser) -> None:
    pages = tuple(page(f"Savage ({letter})") for letter in "ABCDEFGHIJKL")
    pages += (page("Savage"), page("Wild"))
    exact, others = match(parser, "savage", "wild", pages=pages, disambiguation_cutoff=-1.0)
    assert ids(exact) == ["Savage", "Wild"]
    assert sorted(ids(others)) == [f"Savage_({letter})" for letter in "ABCDEFGH"]
