"""A text as its sentences: which of them can be checked, and what each of them claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from spacy.tokens import Doc, Token

from retrieval.checkable.given_text import blocks_of
from retrieval.checkable.kind_model import KindModel, read_model
from retrieval.checkable.kind_rules import kind_by_rules
from retrieval.checkable.references import Reference, references_in
from retrieval.checkable.sentences import Replaced, TextClaim, TextSentence
from retrieval.errors import InvalidText
from retrieval.models.encoders.minilm_encoder import MiniLMEncoder
from retrieval.text.english import EnglishParser
from retrieval.text.sentence_splitter import shared_splitter
from retrieval.text.statement_cutter import statements

MOST_SENTENCES = 500

_SPACE = re.compile(r"\s+")
_QUOTING = re.compile(r"[\"“”]")
_SUBJECTS = {"nsubj", "nsubjpass"}


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
        said = [_SPACE.sub(" ", text[start:end]) for start, end in places]
        parsed = list(self._parser.parse_all(said))
        likely = self._model.probabilities(self._encoder.encode(said))
        kinds = [
            self._model.corrected(kind_by_rules(sentence), row)
            for sentence, row in zip(parsed, likely, strict=True)
        ]
        found = references_in(parsed)
        return tuple(
            TextSentence(start, end, kind, tuple(self._claims(number, sentence, references)))
            for number, ((start, end), kind, sentence, references) in enumerate(
                zip(places, kinds, parsed, found, strict=True)
            )
        )

    def _claims(
        self, number: int, sentence: Doc, references: Sequence[Reference]
    ) -> Iterator[TextClaim]:
        """Yield the statements of a sentence, with the words that its pronouns stand for."""
        apart = [one for one in references if _is_named_elsewhere(one, number, sentence)]
        cut = self._cut(_rewritten(sentence.text, apart))
        if len(cut) < 2:
            named_before = [one for one in apart if one.said_in and one.said_in[0] < number]
            whole = [one for one in references if one.meant is None or one in named_before]
            yield _claim(_rewritten(sentence.text, whole), whole)
            return
        unclear = [one for one in references if one.meant is None]
        for text in cut:
            yield _claim(text, [one for one in (*apart, *unclear) if _is_in(one, text)])

    def _cut(self, text: str) -> list[str]:
        """Return the statements of a sentence; words before its subject stay with the first."""
        if _QUOTING.search(text):
            return [text]
        parsed = self._parser.parse(text)
        leading = _leading(parsed)
        rest = self._parser.parse(text[leading:]) if leading else parsed
        cut = [one.text for one in statements(rest, self._parser)]
        if len(cut) < 2:
            return [text]
        return [text[:leading] + cut[0], *cut[1:]]


def _places(text: str) -> Iterator[tuple[int, int]]:
    blocks = list(blocks_of(text))
    split = shared_splitter().split(text[start:end] for start, end in blocks)
    for (first, _), sentences in zip(blocks, split, strict=True):
        for start, end in sentences:
            yield first + start, first + end


def _leading(sentence: Doc) -> int:
    """Return the length of words such as "Since 1990, " before the subject, 0 without any."""
    root = next(sentence.sents).root
    subject = next((t for t in root.children if t.dep_ in _SUBJECTS), None)
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


def _half(token: Token) -> Token:
    """Return the verb of the main clause, of those that "and" joins, that a word is in."""
    while token.head != token and not (token.dep_ == "conj" and token.head.dep_ == "ROOT"):
        token = token.head
    return token


def _rewritten(text: str, references: Sequence[Reference]) -> str:
    for one in sorted(references, key=lambda reference: -reference.start):
        if one.meant is None:
            continue
        meant = _owned(one.meant) if one.owns else one.meant
        if one.start == 0:
            meant = meant[:1].upper() + meant[1:]
        text = text[: one.start] + meant + text[one.end :]
    return text


def _owned(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def _claim(text: str, references: Sequence[Reference]) -> TextClaim:
    return TextClaim(
        text,
        tuple(Replaced(one.said, one.meant) for one in references if one.meant is not None),
        tuple(dict.fromkeys(one.said.lower() for one in references if one.meant is None)),
    )


def _is_in(reference: Reference, text: str) -> bool:
    """Return whether a statement has the words that a reference was replaced by, or left as."""
    words = reference.said if reference.meant is None else reference.meant
    return re.search(rf"\b{re.escape(words)}(?!\w)", text, re.IGNORECASE) is not None
