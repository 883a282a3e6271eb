from __future__ import annotations

from retrieval.language.english import EnglishParser
from retrieval.words.word_matcher import WordMatcher
from tests.encoders import WordEncoder
from tests.index.in_memory_store import InMemoryStore
from tests.index.pages import PAGES

STORE = InMemoryStore(PAGES, WordEncoder())


def found(parser: EnglishParser, claim: str, limit: int = 8) -> list[str]:
    candidates = WordMatcher(STORE, limit).run(parser.parse(claim))["candidates"]
    assert all(c.found_by == ("words",) and c.score == 0.0 and c.hop == 1 for c in candidates)
    return [candidate.document_id for candidate in candidates]


def test_words_find_their_documents_wherever_they_stand(parser: EnglishParser) -> None:
    assert found(parser, "Ships go where a light is in the harbour.")[:2] == [
        match.document_id for match in STORE.phrase_matches(["Ships", "light", "harbour"], 2)
    ]


def test_function_words_find_nothing(parser: EnglishParser) -> None:
    assert found(parser, "It is what they are to us.") == []


def test_the_limit_is_kept(parser: EnglishParser) -> None:
    assert len(found(parser, "ships", limit=1)) == 1
