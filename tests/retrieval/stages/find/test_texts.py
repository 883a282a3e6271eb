from __future__ import annotations

from collections.abc import Sequence

from retrieval.stages.find.titles import TextMatcher
from retrieval.text.english import EnglishParser
from retrieval.types import Candidate, PhraseMatch, PhraseSearch, Span, SpanKind
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.retrieval.index.pages import PAGES
from tests.retrieval.index.questions import holding
from tests.support.encoders import WordEncoder

STORE = InMemoryStore(PAGES, WordEncoder())


def span(text: str, kind: SpanKind) -> Span:
    return Span(text, 0, len(text), kind)


def ids(candidates: Sequence[Candidate], way: str) -> list[str]:
    assert all(c.found_by == (way,) and c.score == 0.0 and c.hop == 1 for c in candidates)
    return [candidate.document_id for candidate in candidates]


def by_text(parser: EnglishParser, *spans: Span, limit: int = 1000) -> list[str]:
    text, words = TextMatcher(STORE, text_limit=limit).match(parser.parse("It is."), spans)
    assert words == []
    return ids(text, "text")


def by_words(parser: EnglishParser, claim: str, limit: int = 8) -> list[str]:
    text, words = TextMatcher(STORE, word_limit=limit).match(parser.parse(claim), [])
    assert text == []
    return ids(words, "words")


def test_a_common_word_is_not_searched_if_there_is_a_name(parser: EnglishParser) -> None:
    assert by_text(parser, span("Zoë", "entity"), span("ships", "noun chunk")) == ["Zoe"]


def test_a_common_word_is_searched_where_there_is_nothing_else(parser: EnglishParser) -> None:
    assert by_text(parser, span("ships", "noun chunk")) == ["The_Harbour", "Harbour_light"]


def test_the_limit_of_texts_is_kept(parser: EnglishParser) -> None:
    assert by_text(parser, span("ships", "noun chunk"), limit=1) == ["The_Harbour"]


def test_words_find_their_documents_wherever_they_stand(parser: EnglishParser) -> None:
    assert by_words(parser, "Ships go where a light is in the harbour.")[:2] == [
        match.document_id for match in holding(STORE, "Ships", "light", "harbour", limit=2)
    ]


def test_function_words_and_no_spans_find_nothing(parser: EnglishParser) -> None:
    assert by_words(parser, "It is what they are to us.") == []


def test_the_limit_of_words_is_kept(parser: EnglishParser) -> None:
    assert len(by_words(parser, "ships", limit=1)) == 1


def test_the_store_is_asked_once(parser: EnglishParser) -> None:
    asked: list[Sequence[PhraseSearch]] = []

    class Noting(InMemoryStore):
        def phrase_matches(self, searches: Sequence[PhraseSearch]) -> list[list[PhraseMatch]]:
            asked.append(searches)
            return super().phrase_matches(searches)

    matcher = TextMatcher(Noting(PAGES, None), 3, 2)
    by_text, by_words = matcher.match(parser.parse("Zoë likes ships."), [span("Zoë", "entity")])
    assert asked == [[PhraseSearch(("Zoë",), 3), PhraseSearch(("Zoë", "likes", "ships"), 2)]]
    assert ids(by_text, "text") == ["Zoe"]
    assert len(ids(by_words, "words")) == 2
