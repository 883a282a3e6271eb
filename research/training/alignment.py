"""Finds where a sentence is closest to a span of a claim, by lexicon and by contextual vectors.

AdMIRaL (section 3.2) compares spans by the cosine of their mean-pooled contextual vectors, and
terms by lexicons. Both results are returned for every span; ``proofs`` decides with them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from research.training.lexicon import Lexicon, Relation, Word
from research.training.read_texts import Offsets, PlacedWord, ReadSentence, ReadSpan

_SMALL = frozenset(("a", "an", "the", "by", "in", "on", "at", "of", "for", "from", "with", "to"))
FORM = 0.15  # added to a similarity if phrases begin alike, and if both or neither are of verbs
TITLE = 8  # characters that are added to the length of a place in the title
_LOOSE = 40  # characters by which the words of a span may be farther apart than in the claim
_FORMS = (
    re.compile(r"\b(?:is|was|are|were|be|been|being)\b"),
    re.compile(r"\b(?:has|have|had|having)\b"),
    re.compile(r"\b(?:does|do|did|done)\b"),
)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Words of the evidence that are the opposite of a claim span's, or others of the same kind."""

    relation: Relation
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Alignment:
    """The place where a sentence is closest to a claim span: offsets into its ``evidence_text``.

    ``covered``: the share of the span's content words that the lexicon finds there, 1 if it has
    none. ``similarity``: the cosine of their vectors, -1 to 1. ``uncovered``: the words that are
    not found.
    """

    place: Offsets
    covered: float
    similarity: float
    uncovered: tuple[Word, ...]
    conflict: Conflict | None


def align(span: ReadSpan, sentence: ReadSentence, lexicon: Lexicon) -> Alignment:
    """Return the place where the sentence is closest to the span.

    It is the place where most of the span's words are found close together; if none is found, the
    phrase with the most similar vector. A span without content words is found at a form of the same
    auxiliary; if there is none, the place is empty and the similarity 0.
    """
    if not span.words:
        form = _same_form(span.text, sentence)
        return Alignment(form or (0, 0), 1.0, 1.0 if form else 0.0, (), None)
    found = _found(span, sentence, lexicon)
    if found:
        place, covered = _closest_together(found, len(span.text), sentence.body)
        place = _phrase_around(place, sentence, len(covered) < len(span.words))
    else:
        place, covered = _nearest(span, sentence), frozenset()
    conflict = _conflict(span, sentence, lexicon, {hit.number for hit in found}, place)
    return Alignment(
        place,
        covered=len(covered) / len(span.words),
        similarity=float(sentence.tokens.mean(*place) @ span.vector),
        uncovered=tuple(w.word for n, w in enumerate(span.words) if n not in covered),
        conflict=conflict,
    )


@dataclass(frozen=True, slots=True)
class _Hit:
    """A word of a span, by its number in the span, found in a piece of the evidence.

    ``literal``: whether it has the same base form.
    """

    number: int
    start: int
    end: int
    literal: bool


def _found(span: ReadSpan, sentence: ReadSentence, lexicon: Lexicon) -> list[_Hit]:
    """Return all places of the span's words; a name is found as a whole or word by word."""
    hits = [
        _Hit(number, other.start, other.end, word.word.lemma == other.word.lemma)
        for number, word in enumerate(span.words)
        for other in sentence.words
        if lexicon.relation(word.word, other.word) in ("same", "wider")
    ]
    for name in span.names:
        parts = [n for n, word in enumerate(span.words) if _inside(word, name)]
        hits += [
            _Hit(number, other.start, other.end, name.word.lemma == other.word.lemma)
            for other in (*sentence.names, *sentence.words)
            if lexicon.relation(name.word, other.word) in ("same", "wider")
            for number in parts
        ]
    return hits


def _conflict(
    span: ReadSpan, sentence: ReadSentence, lexicon: Lexicon, found: Set[int], place: Offsets
) -> Conflict | None:
    """Return what contradicts a word or name of the span that is not found.

    Antonyms come before other words of the same kind; then those in ``place``, those with the same
    kind of entity, and those with the most similar vector.
    """
    known = [word for number, word in enumerate(span.words) if number in found]
    missing = [word for number, word in enumerate(span.words) if number not in found]
    names = [name for name in span.names if not any(_inside(word, name) for word in known)]
    best: tuple[tuple[bool, bool, bool, float], Conflict] | None = None
    for ours, theirs in ((missing, sentence.words), (names, sentence.names)):
        for word in ours:
            for other in theirs:
                if other.start < sentence.body:
                    continue
                relation = lexicon.relation(word.word, other.word)
                if relation not in ("opposite", "other"):
                    continue
                near = other.within[0] < place[1] and place[0] < other.within[1]
                alike = float(sentence.tokens.mean(other.start, other.end) @ span.vector)
                rank = (relation == "opposite", near, word.word.kind == other.word.kind, alike)
                if best is None or rank > best[0]:
                    best = (rank, Conflict(relation, *other.within))
    return best[1] if best else None


def _closest_together(
    hits: Sequence[_Hit], length: int, body: int
) -> tuple[Offsets, frozenset[int]]:
    """Return a piece of the evidence and the numbers of the span's words that are in it.

    It is the piece with the most words, then with the most of them in the same base form, then the
    shortest; a place in the sentence comes before one in the title.
    """
    ordered = sorted(hits, key=lambda hit: (hit.start, hit.end))
    best: tuple[tuple[int, int, int], Offsets, frozenset[int]] = ((0, 0, 0), (0, 0), frozenset())
    for first, hit in enumerate(ordered):
        numbers: set[int] = set()
        literal: set[int] = set()
        end = hit.end
        for other in ordered[first:]:
            end = max(end, other.end)
            if end > hit.start + length + _LOOSE or (hit.start < body <= other.start):
                break
            numbers.add(other.number)
            if other.literal:
                literal.add(other.number)
            rank = (len(numbers), len(literal), hit.start - end - TITLE * (hit.start < body))
            if rank > best[0]:
                best = (rank, (hit.start, end), frozenset(numbers))
    return best[1], best[2]


def _nearest(span: ReadSpan, sentence: ReadSentence) -> Offsets:
    """Return the phrase with the most similar vector; the title is not a phrase of a sentence.

    Phrases are preferred that begin with the same small word, such as "by", and that are of verbs
    if the span is.
    """
    similar = sentence.vectors @ span.vector
    form = _form(span.text, span.words)
    for number, (start, end) in enumerate(sentence.phrases):
        words = [word for word in sentence.words if start <= word.start < end]
        other = _form(sentence.text[start:end], words)
        agree = (form[0] != "" and form[0] == other[0]) + (form[1] == other[1])
        similar[number] += FORM * agree
    return sentence.phrases[int(similar.argmax())]


def _form(text: str, words: Sequence[PlacedWord]) -> tuple[str, bool]:
    """Return the small word that a phrase begins with, "" if none, and whether it is of verbs."""
    first = text.partition(" ")[0].lower()
    small = {"an": "a"}.get(first, first) if first in _SMALL else ""
    parts = {word.word.part for word in words}
    return small, "v" in parts and "n" not in parts


def _phrase_around(place: Offsets, sentence: ReadSentence, whole: bool) -> Offsets:
    """Return the phrase around a piece, if ``whole`` is set and there is one.

    Otherwise return the piece itself, with its closing bracket.
    """
    start, end = place
    if whole:
        for phrase in sentence.phrases:
            if phrase[0] <= start and end <= phrase[1]:
                return phrase
    opened = sentence.text.count("(", start, end) > sentence.text.count(")", start, end)
    return start, end + (opened and sentence.text[end : end + 1] == ")")


def _same_form(text: str, sentence: ReadSentence) -> Offsets | None:
    """Return the place of a form of the same auxiliary in the sentence, if the text is one."""
    for forms in _FORMS:
        if forms.search(text.lower()):
            match = forms.search(sentence.text, sentence.body)
            return match.span() if match else None
    return None


def _inside(word: PlacedWord, name: PlacedWord) -> bool:
    return name.start <= word.start < name.end
