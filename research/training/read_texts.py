"""Claims as spans and sentences as phrases, parsed and encoded, to be aligned."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import spacy
import torch
from numpy.typing import NDArray
from spacy.tokens import Doc, Token

from research.training.lexicon import EXCLUSIVE, PLACES, Word
from research.training.loop import fast_products
from research.training.networks.encoders import by_length, packaged_body, pair_tokenizer
from retrieval.stages.decide.proof import cut
from retrieval.text.context import evidence_text
from retrieval.text.english import english_folder

_BATCH = 32
_MOST_TOKENS = 192


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
        found: dict[int, TokenVectors] = {}
        for part in by_length([len(text) for text in texts], _BATCH):
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
            with torch.inference_mode(), fast_products(torch.device("cpu")):
                states = self._model(**inputs).last_hidden_state.float().numpy()
            for row, i in enumerate(part):
                real = offsets[row, :, 1] > offsets[row, :, 0]
                found[i] = TokenVectors(offsets[row][real], states[row][real].astype(np.float16))
        return [found[i] for i in range(len(texts))]


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
_SAYS = re.compile(r"\w|[%$£€]")
_PARSED = 128

Offsets: TypeAlias = tuple[int, int]
"""The beginning and end of a piece of a text, in characters."""


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


def _negates(token: Token) -> bool:
    return token.lower_ in NEGATIONS or token.lemma_.lower() in NEGATIONS
