"""A text as its sentences: which of them can be checked, and what each of them claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from spacy.tokens import Doc, Token

from retrieval.checkable.given_text import (
    MOST_SENTENCES,
    Kind,
    Replaced,
    TextClaim,
    TextSentence,
    blocks_of,
)
from retrieval.checkable.kind_rules import KindModel, kind_by_rules, read_model
from retrieval.checkable.references import Reference, references_in
from retrieval.claim import as_sentence
from retrieval.errors import InvalidText
from retrieval.models.encoders import MiniLMEncoder
from retrieval.text.english import EnglishParser, subject_in
from retrieval.text.notices import is_english
from retrieval.text.sentence_splitter import shared_splitter
from retrieval.text.statement_cutter import clauses_of, statements, with_aside_apart

_LONGEST_SENTENCE = 1000  # characters; what is longer is cut, and no sentence

_SPACE = re.compile(r"\s+")
_JOINING = re.compile(r"\b(?:and|but)\b|;")
_ASIDE = re.compile(r", (?:which|who) ")
# A part of a sentence of another kind may be one: "I was born in Ulm, and I am proud of it."
_MAY_HAVE_A_FACT = frozenset({"fact", "opinion", "forecast", "vague"})
_QUOTING = re.compile(r"[\"“”]")


class TextReader:
    """Reads texts with the parser, MiniLM and the model of kinds, which are loaded when needed."""

    def __init__(self) -> None:
        """Load nothing yet."""
        self._parser = EnglishParser()
        self._encoder = MiniLMEncoder()

    @cached_property
    def _model(self) -> KindModel:
        return read_model()

    def statements_of(self, text: str) -> tuple[TextSentence, ...]:
        """Return the sentences of a text that ``read_text`` returned.

        Raises:
            InvalidText: it has more than ``MOST_SENTENCES``.
            ModelUnavailable: a model is missing or damaged.
        """
        places = list(_places(text))
        if len(places) > MOST_SENTENCES:
            raise InvalidText(
                "text_too_many_sentences",
                f"The text has {len(places)} sentences; at most {MOST_SENTENCES} are read.",
                "Paste a part of it.",
            )
        return tuple(self._sentences(text, places))

    def _sentences(self, text: str, places: Sequence[tuple[int, int]]) -> Iterator[TextSentence]:
        said = [_SPACE.sub(" ", text[start:end])[:_LONGEST_SENTENCE] for start, end in places]
        parsed = list(self._parser.parse_all(said))
        kinds = self._kinds(parsed)
        found = references_in(parsed)
        for number, ((start, end), kind, sentence, references) in enumerate(
            zip(places, kinds, parsed, found, strict=True)
        ):
            if len(sentence.text) == _LONGEST_SENTENCE:
                kind = "fragment"
            halves = self._halves(number, sentence, references) if kind in _MAY_HAVE_A_FACT else ()
            facts = tuple(one for one, of in halves if of == "fact" and not one.unclear)
            whole = (self._as_said(number, sentence, references),)
            # Of a sentence with a fact only an opinion is left out.
            left_out = kind != "fact" or any(of == "opinion" for _, of in halves)
            if kind != "fact" and not facts:
                yield TextSentence(start, end, kind, whole)
            elif facts and len(facts) < len(halves) and left_out:
                yield TextSentence(start, end, "fact", facts)
            else:
                cut = self._statements(number, sentence, references)
                # With a clear half, the other one alone is asked about.
                apart = facts and all(of == "fact" for _, of in halves)
                halved = tuple(one for one, _ in halves) if apart else ()
                yield TextSentence(start, end, "fact", cut or halved or whole)

    def kinds_of(self, sentences: Sequence[str]) -> tuple[Kind, ...]:
        """Return what each of these sentences is, read alone.

        Raises:
            ModelUnavailable: a model is missing or damaged.
        """
        return tuple(self._kinds(list(self._parser.parse_all(sentences))))

    def _kinds(self, parsed: Sequence[Doc]) -> list[Kind]:
        likely = self._model.probabilities(self._encoder.encode([one.text for one in parsed]))
        return [
            self._model.corrected(kind_by_rules(one), row) if is_english(one.text) else "foreign"
            for one, row in zip(parsed, likely, strict=True)
        ]

    def _halves(
        self, number: int, sentence: Doc, references: Sequence[Reference]
    ) -> tuple[tuple[TextClaim, Kind], ...]:
        """Return the two or more parts that a sentence has by its form, each with its kind.

        "She won, and she was proud of it" has one that can be checked. Each part has the words that
        its pronouns stand for, where the text says it.
        """
        rewritten = _of_cut(number, sentence, references)
        claims, said = [], []
        if _ASIDE.search(sentence.text):
            whole, placed = _rewritten(sentence.text, rewritten)
            for text in with_aside_apart(self._parser.parse(whole)) or ():
                named = (one for one, _ in placed if (one.words or one.said) in text)
                claims.append(_claim(text, list(named)))
                said.append(text)
        if not claims and _JOINING.search(sentence.text) and not _QUOTING.search(sentence.text):
            for start, end in clauses_of(sentence):
                own = [
                    replace(one, start=one.start - start, end=one.end - start)
                    for one in rewritten
                    if start <= one.start < end
                ]
                text, placed = _rewritten(sentence.text[start:end], own)
                claims.append(_claim(as_sentence(text), [one for one, _ in placed]))
                # With a name in its place, a feeling about it looks like a fact.
                said.append(as_sentence(sentence.text[start:end]))
        kinds = self.kinds_of(said) if said else ()
        return tuple(zip(claims, kinds, strict=True))

    def _as_said(self, number: int, sentence: Doc, references: Sequence[Reference]) -> TextClaim:
        """Return the whole sentence, with what is named before it in the place of pronouns."""
        known = [
            one
            for one in _of_cut(number, sentence, references)
            if one.meant is None or (one.said_in and one.said_in[0] < number)
        ]
        text, placed = _rewritten(sentence.text, known)
        return _claim(text, [one for one, _ in placed])

    def _statements(
        self, number: int, sentence: Doc, references: Sequence[Reference]
    ) -> tuple[TextClaim, ...]:
        """Return the statements that a sentence is cut into, with what its pronouns stand for."""
        whole, placed = _rewritten(sentence.text, _of_cut(number, sentence, references))
        cut = self._cut(whole)
        return tuple(
            _claim(text, [one for one, at in placed if start <= at < end])
            for text, start, end in cut
            if len(cut) > 1
        )

    def _cut(self, text: str) -> list[tuple[str, int, int]]:
        """Return the statements of a sentence, with the part of it that makes each.

        Words such as "Since 1990," stay with the first one. What is quoted is not cut.
        """
        whole = [(text, 0, len(text))]
        if _QUOTING.search(text) or not _JOINING.search(text):
            return whole
        parsed = self._parser.parse(text)
        leading = _leading(parsed)
        rest = self._parser.parse(text[leading:]) if leading else parsed
        cut = [
            (one.text, one.start + leading, one.end + leading)
            for one in statements(rest, self._parser)
        ]
        if len(cut) < 2:
            return whole
        first, _, end = cut[0]
        return [(text[:leading] + first, 0, end), *cut[1:]]


def _places(text: str) -> Iterator[tuple[int, int]]:
    blocks = list(blocks_of(text))
    split = shared_splitter().split(text[start:end] for start, end in blocks)
    for (first, _), sentences in zip(blocks, split, strict=True):
        for start, end in sentences:
            yield first + start, first + end


def _leading(sentence: Doc) -> int:
    """Return the length of words such as "Since 1990, " before the subject, 0 without any."""
    subject = subject_in(next(sentence.sents).root)
    if subject is None or subject.left_edge.i == 0:
        return 0
    before = sentence[: subject.left_edge.i]
    first, last = before[0], before[-1]
    of_time = first.dep_ == "prep" and any(token.ent_type_ == "DATE" for token in before)
    return subject.left_edge.idx if of_time and last.text == "," else 0


def _is_named_elsewhere(reference: Reference, number: int, sentence: Doc) -> bool:
    """Return whether a statement that is cut out of its sentence would lose what is meant."""
    if reference.meant is None or reference.said_in is None:
        return False
    named_in, place = reference.said_in
    if named_in != number:
        return True
    token = next(t for t in sentence if t.idx == reference.start)
    return _half(token) != _half(sentence[place])


def _of_cut(number: int, sentence: Doc, references: Sequence[Reference]) -> list[Reference]:
    """Return the references of a sentence that a part of it would not explain by itself."""
    return [
        one for one in references if one.meant is None or _is_named_elsewhere(one, number, sentence)
    ]


def _half(token: Token) -> Token:
    """Return the verb of the main clause, of those that "and" joins, that a word is in."""
    while token.head != token and not (token.dep_ == "conj" and token.head.dep_ == "ROOT"):
        token = token.head
    return token


def _rewritten(
    text: str, references: Sequence[Reference]
) -> tuple[str, list[tuple[Reference, int]]]:
    """Return the sentence with the words that its references stand for; unclear ones stay.

    With each reference comes where the words for it begin.
    """
    written, done, placed = "", 0, []
    for one in sorted(references, key=lambda reference: reference.start):
        written += text[done : one.start]
        placed.append((one, len(written)))
        written += one.words if one.meant is not None else text[one.start : one.end]
        done = one.end
    return written + text[done:], placed


def _claim(text: str, references: Sequence[Reference]) -> TextClaim:
    replaced = (Replaced(one.said, one.meant) for one in references if one.meant is not None)
    unclear = (one.said for one in references if one.meant is None)
    return TextClaim(
        text,
        tuple(dict.fromkeys(replaced)),
        tuple({words.casefold(): words for words in unclear}.values()),
    )
