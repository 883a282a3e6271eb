"""The stage ``texts``: documents that contain a span of the claim or its words (report, 3.3.7).

The report matches whole spans (3.3.5 and 3.3.7). If a claim rewords a name or a description, its
document contains none of its spans, but it is still found by single words. For the effect of this
see ``research/notebook.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spacy.tokens import Doc

from retrieval.index.interface import DocumentStore
from retrieval.stages.stage import Makers, Stage, Step
from retrieval.state import ClaimState
from retrieval.types import Candidate, FoundBy, PhraseMatch, PhraseSearch, Span
from retrieval.words import counted


class TextMatcher(Stage):
    """Finds documents that contain a specific span as a phrase, or words of the claim.

    One request to the store serves both.
    """

    def __init__(self, store: DocumentStore, text_limit: int = 200, word_limit: int = 8) -> None:
        """Return ``text_limit`` documents at most by spans, ``word_limit`` by words."""
        self._store = store
        self._text_limit = text_limit
        self._word_limit = word_limit

    def run(self, state: ClaimState) -> Step:
        """Find ``by_text`` and ``by_words``."""
        by_text, by_words = self.match(state.parsed, state.spans)
        found = replace(state, by_text=tuple(by_text), by_words=tuple(by_words))
        return Step(found, f"{counted(len(by_text), 'document')} with a part of the claim in it")

    def match(self, doc: Doc, spans: Sequence[Span]) -> tuple[list[Candidate], list[Candidate]]:
        """Return the documents, each list in BM25 order; the ranker scores them.

        Function words are not searched for.
        """
        phrases = tuple(span.text for span in _distinctive(spans))
        words = tuple(token.text for token in doc if not (token.is_stop or token.is_punct))
        by_text, by_words = self._store.phrase_matches(
            [PhraseSearch(phrases, self._text_limit), PhraseSearch(words, self._word_limit)]
        )
        return _candidates(by_text, "text"), _candidates(by_words, "words")


def _candidates(matches: Sequence[PhraseMatch], found_by: FoundBy) -> list[Candidate]:
    return [Candidate(match.document_id, (found_by,), 0.0, 1) for match in matches]


def _distinctive(spans: Sequence[Span]) -> list[Span]:
    """Leave out single common words and bare numbers if there is a more specific span.

    "film" or "two" occur in many documents of any corpus; "Sputnik 1" does not.
    """
    specific = [
        span
        for span in spans
        if span.kind in {"entity", "name", "quotation", "date"} or " " in span.text
    ]
    return specific or list(spans)


MAKERS: Makers = {"texts": lambda r, c: TextMatcher(r.store, c.text_limit, c.word_limit)}
