"""The stages ``titles``, ``texts``, ``ranking``: documents with names or words of the claim.

Titles: report, 3.3.1, and Nie et al. 2018. Texts: report, 3.3.5 and 3.3.7: it matches whole spans.
If a claim rewords a name or a description, its document contains none of its spans, but it is still
found by single words. For the effect of this see ``research/notebook.md``. The ranking says which
of them answer the questions about the claim (report, 3.3.9).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from retrieval.models.papers.report_networks import LONGEST
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.find.next import interleaved
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
        # Names with their number last, as titles have it: "World War II".
        numbers = _NUMBERED.finditer(state.parsed.text)
        numbered = (f"{found[2]} {_NUMERALS[found[1]]}" for found in numbers)
        names = {*spans, *_runs(state.parsed), *numbered}
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


# Haystack, which the report used, maps an inner product x to 1 / (1 + exp(-x / 100)). The report's
# cutoff is on that scale, like the scores on its result page, 0.67 to 0.68 (appendix E).
_SCALE = 100.0


class DenseDocumentRanker(Stage):
    """Chooses the documents whose sentences are read, by the question that each answers best.

    The vectors of the documents, with their titles, are stored in the index; only the questions
    are encoded here. If more exact title matches are found than ``document_limit``, those that
    answer a question best are kept, so that a claim full of common nouns does not lose the page
    that it is about; with ``keep_exact_titles`` all of them are. Then disambiguated ones come
    before documents that answer a question only a little better. If the index has no vectors, the
    candidates stay in the order in which they were found.
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._store = resources.store
        self._encoder = resources.models.encoder
        self._settings = settings

    def run(self, state: ClaimState) -> Step:
        """Find ``candidates``, best first, among the documents of title and text match.

        Exact title matches have the score 1, and the cutoff does not apply to them. Documents that
        the claim's words find are read in any case.
        """
        found = interleaved([[*state.exact, *state.disambiguated, *state.by_text, *state.by_words]])
        exact = {candidate.document_id for candidate in state.exact}
        kept = {candidate.document_id for candidate in state.by_words}
        asked = [question.text for question in state.questions]
        ranked = self._ranked(asked, found, exact, kept) if found else []
        message = f"{counted(len(ranked), 'document')} that may contain an answer"
        return Step(replace(state, candidates=tuple(ranked)), message)

    def _ranked(
        self, asked: Sequence[str], found: Sequence[Candidate], exact: set[str], kept: set[str]
    ) -> list[Candidate]:
        """Return the candidates to read, best first.

        ``exact``: ids of those with an exact title; ``kept``: of those that are read in any case.
        """
        settings = self._settings

        def order(pair: tuple[Candidate, float]) -> tuple[bool, float, str]:
            candidate, answer = pair
            bonus = settings.title_bonus if "disambiguation" in candidate.found_by else 0.0
            return candidate.document_id not in exact, -(answer + bonus), candidate.document_id

        similar = self._store.similarities(
            [c.document_id for c in found], self._encoder.encode(asked)
        )
        if similar is None:
            step = (1 - settings.document_cutoff) / len(found)
            answers = [1 - place * step for place in range(len(found))]
        else:
            answers = [float(score) for score in similar.max(axis=1)]
        answering = [
            (candidate, answer)
            for candidate, answer in zip(found, answers, strict=True)
            if candidate.document_id in exact | kept or answer >= settings.document_cutoff
        ]
        whatever_rank = kept | exact if settings.keep_exact_titles else kept
        return [
            replace(candidate, score=1.0 if candidate.document_id in exact else answer)
            for rank, (candidate, answer) in enumerate(sorted(answering, key=order))
            if rank < settings.document_limit or candidate.document_id in whatever_rank
        ]


class EachQuestionRanker(DenseDocumentRanker):
    """Chooses the documents nearest to each question (report, 3.3.8 and 3.3.9), by their cosines.

    The score of a document is that of the question that it answers best. All exact title matches
    are read; they come first. Of the others the ``document_limit`` best for each question are read.
    """

    def _ranked(
        self, asked: Sequence[str], found: Sequence[Candidate], exact: set[str], kept: set[str]
    ) -> list[Candidate]:
        scores = self._scores(asked, [candidate.document_id for candidate in found])
        places = [n for n, candidate in enumerate(found) if candidate.document_id not in exact]
        chosen = {
            place
            for column in scores.T
            for place in sorted(places, key=lambda n: -column[n])[: self._settings.document_limit]
            if column[place] >= self._settings.document_cutoff
        }
        best_scores = scores.max(axis=1, initial=0).tolist()  # 0 if there is no question
        ranked = [
            replace(candidate, score=1.0 if candidate.document_id in exact else best)
            for n, (candidate, best) in enumerate(zip(found, best_scores, strict=True))
            if n in chosen or candidate.document_id in exact | kept
        ]
        return sorted(ranked, key=lambda c: (c.document_id not in exact, -c.score, c.document_id))

    def _scores(self, asked: Sequence[str], ids: Sequence[str]) -> NDArray[np.float32]:
        """Return the score of each candidate for each question, ``(candidates, questions)``.

        It is 1 for all if the index has no vectors.
        """
        similar = self._store.similarities(ids, self._encoder.encode(asked))
        alike: NDArray[np.float32] = np.ones((len(ids), len(asked)), np.float32)
        return alike if similar is None else similar


class DprDocumentRanker(EachQuestionRanker):
    """Scores documents by DPR's inner products, scaled to 0..1. The index has vectors of DPR."""

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        super().__init__(resources, settings)
        self._dpr = resources.models.dpr

    def _scores(self, asked: Sequence[str], ids: Sequence[str]) -> NDArray[np.float32]:
        vectors, lengths = self._dpr.measured(asked)
        similar = self._store.similarities(ids, vectors)
        assert similar is not None  # an index without vectors is not opened for this
        products = similar * lengths * LONGEST
        scores: NDArray[np.float32] = 1 / (1 + np.exp(-products / _SCALE))
        return scores


MAKERS: Makers = {
    "titles": TitleMatcher,
    "titles:spacy": SpacyTitleMatcher,
    "texts": TextMatcher,
    "ranking": DenseDocumentRanker,
    "ranking:each": EachQuestionRanker,
    "ranking:dpr": DprDocumentRanker,
}
