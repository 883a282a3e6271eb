from __future__ import annotations

from retrieval.phrases.phrase_matcher import PhraseMatcher
from retrieval.types import Span, SpanKind
from tests.encoders import WordEncoder
from tests.index.in_memory_store import InMemoryStore
from tests.index.pages import PAGES

STORE = InMemoryStore(PAGES, WordEncoder())


def span(text: str, kind: SpanKind) -> Span:
    return Span(text, 0, len(text), kind)


def found(*spans: Span, limit: int = 1000) -> list[str]:
    candidates = PhraseMatcher(STORE, limit).run(spans)["candidates"]
    assert all(c.found_by == ("text",) and c.score == 0.0 and c.hop == 1 for c in candidates)
    return [candidate.document_id for candidate in candidates]


def test_a_common_word_is_not_searched_beside_a_name() -> None:
    assert found(span("Zoë", "entity"), span("ships", "noun chunk")) == ["Zoe"]


def test_a_common_word_is_searched_where_there_is_nothing_else() -> None:
    assert found(span("ships", "noun chunk")) == ["The_Harbour", "Harbour_light"]


def test_the_limit_is_the_store_s() -> None:
    assert found(span("ships", "noun chunk"), limit=1) == ["The_Harbour"]


def test_no_spans_find_no_documents() -> None:
    assert found() == []
