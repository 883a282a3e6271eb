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

from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.stage import ClaimState, Makers, Resources, Stage, Step
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

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._store = resources.store
        self._encoder = resources.models.encoder
        self._cutoff = settings.disambiguation_cutoff
        self._limit = settings.disambiguation_limit

    def run(self, state: ClaimState) -> Step:
        """Find ``exact``, longest names first, and ``disambiguated``, most similar first.

        Exact matches have the score 1. All disambiguated titles are ranked in one list, so that
        none is dropped for a worse one.
        """
        spans = (span.text for span in state.spans)
        names = {*spans, *_runs(state.parsed), *_numbered(state.parsed.text)}
        matches = self._store.title_matches(sorted(names, key=lambda name: (-len(name), name)))
        exact = dict.fromkeys(m.document_id for m in matches if m.disambiguation is None)
        others = {m.document_id: m for m in matches if m.document_id not in exact}
        named_exactly = [Candidate(document_id, ("title",), 1.0, 1) for document_id in exact]
        return _step(state, named_exactly, self._closest(state.parsed.text, [*others.values()]))

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

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._store = resources.store
        self._parser = resources.models.parser
        self._settings = settings

    def run(self, state: ClaimState) -> Step:
        """Find ``exact``, with the score 1, and ``disambiguated``, most similar first.

        ``title_limit`` titles are read.
        """
        names = list(dict.fromkeys(span.text for span in state.spans))
        matches = [match for match in self._store.title_matches(names) if _as_written(match)]
        matches.sort(key=lambda match: (match.disambiguation is not None, match.document_id))
        found: dict[str, TitleMatch] = {}
        for match in matches:
            found.setdefault(match.document_id, match)
        exact, disambiguated = [], []
        for document_id, match in list(found.items())[: self._settings.title_limit]:
            if match.disambiguation is None:
                exact.append(Candidate(document_id, ("title",), 1.0, 1))
                continue
            score = _similarity(self._parser.parse(match.disambiguation), state.parsed)
            if score > self._settings.disambiguation_cutoff:
                disambiguated.append(Candidate(document_id, ("disambiguation",), score, 1))
        disambiguated.sort(key=lambda candidate: (-candidate.score, candidate.document_id))
        return _step(state, exact, disambiguated[: self._settings.disambiguation_limit])


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

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._store = resources.store
        self._settings = settings

    def run(self, state: ClaimState) -> Step:
        """Find ``by_text`` and ``by_words``, both in BM25 order; the ranker scores them.

        Function words are not searched for.
        """
        phrases = tuple(span.text for span in _distinctive(state.spans))
        words = tuple(t.text for t in state.parsed if not (t.is_stop or t.is_punct))
        by_text, by_words = self._store.phrase_matches(
            [
                PhraseSearch(phrases, self._settings.text_limit),
                PhraseSearch(words, self._settings.word_limit),
            ]
        )
        found = replace(
            state, by_text=_candidates(by_text, "text"), by_words=_candidates(by_words, "words")
        )
        return Step(found, f"{counted(len(by_text), 'document')} with a part of the claim in it")


def _candidates(matches: Sequence[PhraseMatch], found_by: FoundBy) -> tuple[Candidate, ...]:
    return tuple(Candidate(match.document_id, (found_by,), 0.0, 1) for match in matches)


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


MAKERS: Makers = {"titles": TitleMatcher, "titles:spacy": SpacyTitleMatcher, "texts": TextMatcher}
