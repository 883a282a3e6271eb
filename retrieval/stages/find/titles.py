"""The stages ``titles`` and ``texts``: documents that the claim names, or that have its words.

Titles: report, 3.3.1, and Nie et al. 2018. Texts: report, 3.3.5 and 3.3.7: it matches whole spans.
If a claim rewords a name or a description, its document contains none of its spans, but it is still
found by single words. For the effect of this see ``research/notebook.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from spacy.tokens import Doc

from retrieval.index.interface import DocumentStore
from retrieval.models.encoders import TextEncoder
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.stage import Makers, Stage, Step
from retrieval.state import ClaimState
from retrieval.text.english import EnglishParser
from retrieval.types import Candidate, FoundBy, PhraseMatch, PhraseSearch, Span, TitleMatch
from retrieval.words import counted

_LONGEST = 8  # words
_NUMERALS = {"First": "I", "Second": "II", "Third": "III", "Fourth": "IV", "Fifth": "V"}
_NUMBERED = re.compile(rf"\b({'|'.join(_NUMERALS)}) ([A-Z]\w+(?: [A-Z]\w+)*)")
# Words that alone are no names: "It is …", "In 1990 …".
_FUNCTION = {"ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "PUNCT", "SCONJ", "SPACE"}


class TitleMatcher(Stage):
    """Finds documents whose title, with or without words in parentheses, is a name in the claim.

    Names are the claim's spans and every run of words that begins with a capital letter or a digit.
    A parser finds no name in titles such as "Always", or two in "Miracle at St. Anna"; a lookup in
    the index finds them.
    """

    def __init__(
        self, store: DocumentStore, encoder: TextEncoder, cutoff: float, limit: int
    ) -> None:
        """Keep the ``limit`` disambiguated titles most similar to the claim, from ``cutoff`` on."""
        self._store = store
        self._encoder = encoder
        self._cutoff = cutoff
        self._limit = limit

    def run(self, state: ClaimState) -> Step:
        """Find ``exact`` and ``disambiguated``."""
        return _step(state, *self.match(state.parsed, state.spans))

    def match(self, doc: Doc, spans: Sequence[Span]) -> tuple[list[Candidate], list[Candidate]]:
        """Return exact matches, longest names first, and disambiguated ones, most similar first.

        Exact matches have the score 1. All disambiguated titles are ranked in one list, so that
        none is dropped for a worse one.
        """
        names = dict.fromkeys([*(span.text for span in spans), *_runs(doc), *_numbered(doc.text)])
        longest_first = sorted(names, key=lambda name: (-len(name), name))
        matches = self._store.title_matches(longest_first)
        exact = [match for match in matches if match.disambiguation is None]
        named = {match.document_id for match in exact}
        others = {
            match.document_id: match
            for match in matches
            if match.disambiguation is not None and match.document_id not in named
        }
        named_exactly = [
            Candidate(document_id, ("title",), 1.0, 1)
            for document_id in dict.fromkeys(match.document_id for match in exact)
        ]
        return named_exactly, self._closest(doc.text, list(others.values()))

    def _closest(self, claim: str, matches: Sequence[TitleMatch]) -> list[Candidate]:
        if not matches:
            return []
        vectors = self._encoder.encode([claim, *(match.title for match in matches)])
        scored = [
            Candidate(match.document_id, ("disambiguation",), float(score), 1)
            for match, score in zip(matches, vectors[1:] @ vectors[0], strict=True)
            if score >= self._cutoff
        ]
        scored.sort(key=lambda candidate: (-candidate.score, candidate.document_id))
        return scored[: self._limit]


class SpacyTitleMatcher(Stage):
    """Finds documents whose title is a span of the claim, as the program of the report does.

    The report ignores case alone, and does not say how titles with words in parentheses are
    compared with the claim. Its program asks Elasticsearch for ten titles, of which exact ones come
    first, and compares these words by the vectors of spaCy's en_core_web_sm.
    """

    def __init__(
        self, store: DocumentStore, parser: EnglishParser, settings: RetrievalConfig
    ) -> None:
        """Read ``title_limit`` titles.

        Of the disambiguated ones ``disambiguation_limit`` are kept, all more similar than
        ``disambiguation_cutoff``.
        """
        self._store = store
        self._parser = parser
        self._titles = settings.title_limit
        self._cutoff = settings.disambiguation_cutoff
        self._limit = settings.disambiguation_limit

    def run(self, state: ClaimState) -> Step:
        """Find ``exact`` and ``disambiguated``."""
        return _step(state, *self.match(state.parsed, state.spans))

    def match(self, doc: Doc, spans: Sequence[Span]) -> tuple[list[Candidate], list[Candidate]]:
        """Return exact matches, with the score 1, and disambiguated ones, most similar first."""
        names = list(dict.fromkeys(span.text for span in spans))
        matches = [match for match in self._store.title_matches(names) if _as_written(match)]
        matches.sort(key=lambda match: (match.disambiguation is not None, match.document_id))
        found: dict[str, TitleMatch] = {}
        for match in matches:
            found.setdefault(match.document_id, match)
        exact, disambiguated = [], []
        for document_id, match in list(found.items())[: self._titles]:
            if match.disambiguation is None:
                exact.append(Candidate(document_id, ("title",), 1.0, 1))
                continue
            score = _similarity(self._parser.parse(match.disambiguation), doc)
            if score > self._cutoff:
                disambiguated.append(Candidate(document_id, ("disambiguation",), score, 1))
        disambiguated.sort(key=lambda candidate: (-candidate.score, candidate.document_id))
        return exact, disambiguated[: self._limit]


def _as_written(match: TitleMatch) -> bool:
    """Return whether the title, or what is before its parentheses, is the name but for case."""
    title, name = match.title.casefold(), match.name.casefold()
    return title == name if match.disambiguation is None else title.startswith(f"{name} (")


def _similarity(words: Doc, claim: Doc) -> float:
    """Return the cosine of the means of the words' vectors."""
    lengths = float(words.vector_norm * claim.vector_norm)
    return float(words.vector @ claim.vector) / lengths if lengths else 0.0


def _step(
    state: ClaimState, exact: Sequence[Candidate], disambiguated: Sequence[Candidate]
) -> Step:
    found = replace(state, exact=tuple(exact), disambiguated=tuple(disambiguated))
    named = counted(len(exact), "exact title")
    return Step(found, f"{named}, {len(disambiguated)} more with words in parentheses")


def _numbered(claim: str) -> Iterator[str]:
    """Yield names with their number last, as titles have it: "World War II"."""
    for found in _NUMBERED.finditer(claim):
        yield f"{found[2]} {_NUMERALS[found[1]]}"


def _runs(doc: Doc) -> Iterator[str]:
    """Return every run of at most eight words that may be a title, as written in the claim."""
    one_case = doc.text.islower() or doc.text.isupper()
    for first, token in enumerate(doc):
        if not (one_case or token.text[0].isupper() or token.text[0].isdigit()):
            continue
        for last in range(first, min(len(doc), first + _LONGEST)):
            run = doc[first : last + 1]
            if not all(word.pos_ in _FUNCTION for word in run):
                yield run.text


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


MAKERS: Makers = {
    "titles": lambda r, c: TitleMatcher(
        r.store, r.models.encoder, c.disambiguation_cutoff, c.disambiguation_limit
    ),
    "titles:spacy": lambda r, c: SpacyTitleMatcher(r.store, r.models.parser, c),
    "texts": lambda r, c: TextMatcher(r.store, c.text_limit, c.word_limit),
}
