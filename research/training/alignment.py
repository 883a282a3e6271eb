"""Finds where a sentence is closest to a span of a claim, by lexicon and by contextual vectors.

AdMIRaL (section 3.2) compares spans by the cosine of their mean-pooled contextual vectors, and
terms by lexicons. Both results are returned for every span; ``proofs`` decides with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import spacy
import torch
from numpy.typing import NDArray
from spacy.tokens import Doc, Token

from research.training.lexicon import EXCLUSIVE, PLACES, Lexicon, Relation, Word
from research.training.networks.minilm import packaged_body, pair_tokenizer
from retrieval.proof.claim_cutter import cut
from retrieval.text.english import english_folder
from retrieval.text.model_texts import evidence_text

# Parts of speech of content words, with their names in WordNet.
_TELLING = {
    "NOUN": "n",
    "PROPN": "n",
    "NUM": "n",
    "VERB": "v",
    "ADJ": "a",
    "ADV": "r",
    "X": "",
    "SYM": "",
}
_LIGHT = frozenset({"be", "have", "do", "-", "–", "/"})  # noqa: RUF001 - the dash of spans of time
NEGATIONS = frozenset(("not", "n't", "never", "no", "none", "nobody", "neither", "nor")) | {
    *("without", "only", "solely", "exclusively", "unable", "incapable", "zero", "yet"),
    *("fail", "refuse", "avoid", "lack"),
}
_SMALL = frozenset(("a", "an", "the", "by", "in", "on", "at", "of", "for", "from", "with", "to"))
FORM = 0.15  # added to a similarity if phrases begin alike, and if both or neither are of verbs
TITLE = 8  # characters that are added to the length of a place in the title
_SAYS = re.compile(r"\w|[%$£€]")
_BATCH = 32
_PARSED = 128
_MOST_TOKENS = 192
_LOOSE = 40  # characters by which the words of a span may be farther apart than in the claim
_FORMS = (
    re.compile(r"\b(?:is|was|are|were|be|been|being)\b"),
    re.compile(r"\b(?:has|have|had|having)\b"),
    re.compile(r"\b(?:does|do|did|done)\b"),
)


Offsets: TypeAlias = tuple[int, int]
"""The beginning and end of a piece of a text, in characters."""


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """A text's tokens: ``offsets`` (tokens, 2) in characters, ``vectors`` (tokens, dimension)."""

    offsets: NDArray[np.int64]
    vectors: NDArray[np.float16]

    def mean(self, start: int, end: int) -> NDArray[np.float32]:
        """Return the unit vector of a piece of the text; zeros if it contains no token."""
        within = (self.offsets[:, 0] < end) & (self.offsets[:, 1] > start)
        total: NDArray[np.float32] = self.vectors[within].sum(axis=0, dtype=np.float32)
        return total / max(float(np.linalg.norm(total)), 1e-9)


class TokenEncoder(Protocol):
    """Gives each token of a text a vector that depends on the others."""

    def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the tokens of each text, special ones left out."""
        ...


class MiniLMTokens:
    """The packaged MiniLM's last layer."""

    def __init__(self) -> None:
        """Load the weights.

        Raises:
            ModelUnavailable: they are missing or damaged.
        """
        self._tokenizer, self._model = pair_tokenizer(), packaged_body()
        self._model.train(False)

    def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return 384-dimensional vectors of the first 192 tokens."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found: dict[int, TokenVectors] = {}
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            inputs = self._tokenizer(
                [texts[i] for i in part],
                truncation=True,
                max_length=_MOST_TOKENS,
                padding=True,
                return_tensors="pt",
                return_token_type_ids=False,
                return_offsets_mapping=True,
            )
            offsets = inputs.pop("offset_mapping").numpy()
            with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
                states = self._model(**inputs).last_hidden_state.float().numpy()
            for row, i in enumerate(part):
                real = offsets[row, :, 1] > offsets[row, :, 0]
                found[i] = TokenVectors(offsets[row][real], states[row][real].astype(np.float16))
        return [found[i] for i in range(len(texts))]


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word of a text, or several that are one name.

    ``within`` is the name or the noun phrase around it, or itself if there is none.
    """

    word: Word
    start: int
    end: int
    within: Offsets


@dataclass(frozen=True, slots=True)
class ReadSpan:
    """A span of a claim: its content words, the names in it, and its vector.

    ``negated``: whether it contains a word like "never" or "only".
    """

    start: int
    end: int
    text: str
    words: tuple[PlacedWord, ...]
    names: tuple[PlacedWord, ...]
    vector: NDArray[np.float32]
    negated: bool


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence of the evidence with its title, as ``evidence_text`` writes them.

    ``body`` is the offset where the sentence itself begins, ``phrases`` are its parts, and
    ``vectors`` those of the phrases.
    """

    title: str
    text: str
    body: int
    words: tuple[PlacedWord, ...]
    names: tuple[PlacedWord, ...]
    phrases: Sequence[Offsets]
    tokens: TokenVectors
    vectors: NDArray[np.float32]
    negated: bool


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


class Reader:
    """Parses and encodes claims and sentences."""

    def __init__(self, encoder: TokenEncoder) -> None:
        """Store the encoder and load the parser.

        Raises:
            ModelUnavailable: it is not installed.
        """
        self._encoder = encoder
        self._language = spacy.load(english_folder())

    def claims(self, texts: Sequence[str]) -> list[tuple[ReadSpan, ...]]:
        """Return each claim's spans, in order."""
        read = []
        for doc, tokens in zip(self._parsed(texts), self._encoder.encode(texts), strict=True):
            words, names = _words(doc, 0), _names(doc, 0)
            spans = []
            for start, end in cut(doc):
                vector = tokens.mean(start, end)
                span_tokens = [token for token in doc if start <= token.idx < end]
                spans.append(
                    ReadSpan(
                        start=start,
                        end=end,
                        text=doc.text[start:end],
                        words=tuple(w for w in words if start <= w.start < end),
                        names=tuple(n for n in names if start < n.end and n.start < end),
                        vector=vector,
                        negated=any(_negates(token) for token in span_tokens),
                    )
                )
            read.append(tuple(spans))
        return read

    def sentences(self, pairs: Sequence[tuple[str, str]]) -> list[ReadSentence]:
        """Return the (title, sentence) pairs, parsed and encoded."""
        titles = list(dict.fromkeys(title for title, _ in pairs))
        named = dict(zip(titles, self._parsed(titles), strict=True))
        parsed = self._parsed([sentence for _, sentence in pairs])
        texts = [evidence_text(title, sentence) for title, sentence in pairs]
        return [
            self._sentence(title, text, named[title], doc, tokens)
            for (title, _), text, doc, tokens in zip(
                pairs, texts, parsed, self._encoder.encode(texts), strict=True
            )
        ]

    def _parsed(self, texts: Sequence[str]) -> Iterator[Doc]:
        docs: Iterator[Doc] = self._language.pipe(texts, batch_size=_PARSED)
        return docs

    @staticmethod
    def _sentence(
        title: str, text: str, named: Doc, doc: Doc, tokens: TokenVectors
    ) -> ReadSentence:
        sentence = doc.text
        body = len(text) - len(sentence)
        words = (*_words(named, 0), *_words(doc, body))
        phrases = [
            (start + body, end + body)
            for start, end in cut(doc)
            # A pronunciation in brackets is similar to any text.
            if "[" not in sentence[start:end]
            and any(start <= word.start - body < end for word in words)
        ] or [(body, len(text))]
        return ReadSentence(
            title=title,
            text=text,
            body=body,
            words=words,
            names=(*_names(named, 0), *_names(doc, body)),
            phrases=phrases,
            tokens=tokens,
            vectors=np.stack([tokens.mean(*phrase) for phrase in phrases]),
            negated=any(_negates(token) for token in doc),
        )


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


def _words(doc: Doc, shift: int) -> list[PlacedWord]:
    around = {token.i: chunk for chunk in doc.noun_chunks for token in chunk}
    around |= {token.i: entity for entity in doc.ents for token in entity}
    placed = []
    for token in doc:
        if token.pos_ not in _TELLING or (token.pos_ == "ADV" and token.is_stop):
            continue
        if token.lemma_.lower() in _LIGHT or not _SAYS.search(token.text):
            continue
        start, end = token.idx, token.idx + len(token)
        within = around.get(token.i)
        placed.append(
            PlacedWord(
                Word(token.text, token.lemma_.lower(), _TELLING[token.pos_], token.ent_type_),
                start + shift,
                end + shift,
                (within.start_char + shift, within.end_char + shift)
                if within
                else (start + shift, end + shift),
            )
        )
    return placed


def _names(doc: Doc, shift: int) -> list[PlacedWord]:
    return [
        PlacedWord(
            Word(entity.text, _plain(entity.text), "", entity.label_),
            entity.start_char + shift,
            entity.end_char + shift,
            (entity.start_char + shift, entity.end_char + shift),
        )
        for entity in doc.ents
        if entity.label_ in PLACES | EXCLUSIVE
    ]


def _plain(name: str) -> str:
    return name.lower().removeprefix("the ").removesuffix("'s")


def _inside(word: PlacedWord, name: PlacedWord) -> bool:
    return name.start <= word.start < name.end


def _negates(token: Token) -> bool:
    return token.lower_ in NEGATIONS or token.lemma_.lower() in NEGATIONS
