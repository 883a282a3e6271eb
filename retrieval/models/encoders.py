"""The encoders of texts, documents and paths, and their interfaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.models.arrays import unit
from retrieval.models.networks import Network, Row, Tokenizer, in_batches, open_network
from retrieval.models.packaged import MiniLM
from retrieval.models.trained_model import TrainedModel
from retrieval.text.context import evidence_set_text

_WINDOWS = 4  # of a batch: the states of more do not fit into the processor's caches
_TOKENS = 256  # that MiniLM reads at once, with special ones (``sentence_bert_config.json``)

Query: TypeAlias = tuple[str, Sequence[tuple[str, str]]]
"""A claim and the (title, sentence) pairs of a path, first step first; none for the claim alone."""


@dataclass(frozen=True, slots=True)
class EncodableDocument:
    """A document to encode; ``sentences`` are (start, end) offsets into ``text``, in order."""

    title: str
    text: str
    sentences: tuple[tuple[int, int], ...]


class TextEncoder(Protocol):
    """Turns texts into unit vectors whose dot product is their similarity."""

    name: str

    @property
    def dimension(self) -> int:
        """The numbers of a vector."""
        ...

    def warm_up(self) -> None:
        """Load the weights; cheap if they are loaded already."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return an array of shape ``(len(texts), dimension)`` of unit vectors."""
        ...


class DocumentEncoder(Protocol):
    """Turns documents into unit vectors; it must pickle.

    ``query_encoder`` names the text encoder whose vectors its own are compared with.
    """

    name: str
    query_encoder: str

    @property
    def dimension(self) -> int:
        """The numbers of a vector."""
        ...

    def encode_documents(
        self, documents: Sequence[EncodableDocument]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Return unit vectors of the documents and of the sentences of each.

        Shapes ``(len(documents), dimension)`` and, for each document,
        ``(len(document.sentences), dimension)``.

        Raises:
            ModelUnavailable: the weights are missing or damaged.
        """
        ...


@dataclass(frozen=True, slots=True)
class PlacedSentence:
    """Sentence ``number`` of its document; its tokens are ``first`` to before ``last``."""

    number: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Window:
    """Token ids that are read together, without special ones, and the sentences among them."""

    tokens: list[int]
    sentences: list[PlacedSentence]


def windows(
    tokens: Sequence[int],
    offsets: Sequence[tuple[int, int]],
    head: int,
    sentences: Sequence[tuple[int, int]],
    size: int,
) -> list[Window]:
    """Return windows of at most ``size`` tokens that contain every sentence once (late chunking).

    The encoder reads a window whole, and a sentence's vector is pooled from it. So it reflects what
    "she" or "the film" in the sentence means (Günther et al. 2024, "Late Chunking").

    ``offsets`` are the characters of the tokens; ``sentences`` are in the same text, in order, and
    its first ``head`` characters are the title. The first window is the beginning of the text. Each
    further one is the title, cut to half a window, and the text from the first sentence that is not
    whole in a window yet; the paper uses overlapping windows. A sentence that is longer than such a
    window is cut. A sentence without a token is in no window.
    """
    starts, ends = np.array(offsets, dtype=np.int64).reshape(-1, 2).T
    firsts = np.searchsorted(starts, [start for start, _ in sentences]).tolist()
    lasts = np.searchsorted(ends, [end for _, end in sentences], side="right").tolist()
    placed = [
        PlacedSentence(number, first, last)
        for number, (first, last) in enumerate(zip(firsts, lasts, strict=True))
        if first < last
    ]
    found = [Window(list(tokens[:size]), [s for s in placed if s.last <= size])]
    rest = [s for s in placed if s.last > size]
    title = list(tokens[: min(int(np.searchsorted(ends, head, side="right")), size // 2)])
    done = 0
    while done < len(rest):
        begin = rest[done].first
        end = begin + size - len(title)
        shift = len(title) - begin
        held: list[PlacedSentence] = []
        while done < len(rest) and (not held or rest[done].last <= end):
            sentence = rest[done]
            last = min(sentence.last, end) + shift
            held.append(PlacedSentence(sentence.number, sentence.first + shift, last))
            done += 1
        found.append(Window([*title, *tokens[begin:end]], held))
    return found


class MiniLMEncoder:
    """Sentence-transformers' 384-dimensional MiniLM, on the CPU."""

    name = "all-MiniLM-L6-v2"
    query_encoder = name
    dimension = 384

    def warm_up(self) -> None:
        """Load the weights.

        Raises:
            ModelUnavailable: the weights are missing or damaged.
        """
        _ = self._network, self._tokenizer

    @cached_property
    def _network(self) -> Network:
        base = MiniLM()
        return open_network("encoder", base, base.weights, "packaged", _TOKENS)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return Tokenizer(MiniLM().tokenizer_file(), _TOKENS)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(texts), 384)``; texts past 256 tokens are cut."""
        rows = self._tokenizer.texts(texts) if texts else []  # without texts nothing is loaded
        return unit(in_batches(rows, self.dimension, lambda some: self._network.states(some).mean))

    def encode_documents(
        self, documents: Sequence[EncodableDocument]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """See ``DocumentEncoder.encode_documents``.

        A document's vector is that of ``encode(["{title}. {text}"])``. Its first 256 tokens are
        read once, and the vector of a sentence is the mean of its tokens' last hidden states there;
        later sentences are read in further ones (``windows``). A sentence without any
        token gets its document's vector.
        """
        whole = np.zeros((len(documents), self.dimension), dtype=np.float32)
        parts = [
            np.zeros((len(document.sentences), self.dimension), dtype=np.float32)
            for document in documents
        ]
        if not documents:
            return whole, parts
        queue = [
            (number, nth == 0, window)
            for number, found in enumerate(self._windows(documents))
            for nth, window in enumerate(found)
        ]
        queue.sort(key=lambda item: -len(item[2].tokens))  # so that little of a batch is padding
        for start in range(0, len(queue), _WINDOWS):
            batch = queue[start : start + _WINDOWS]
            states = self._network.states([self._whole(window) for _, _, window in batch])
            for (number, beginning, window), mean, vectors in zip(
                batch, states.mean, states.vectors, strict=True
            ):
                if beginning:
                    whole[number] = mean
                for sentence in window.sentences:
                    # After [CLS], which is not part of a window.
                    own = vectors[1 + sentence.first : 1 + sentence.last]
                    parts[number][sentence.number] = own.mean(axis=0)
        whole = unit(whole)
        for document, sentences in zip(whole, parts, strict=True):
            sentences[~sentences.any(axis=1)] = document
        return whole, [unit(sentences) for sentences in parts]

    def _windows(self, documents: Sequence[EncodableDocument]) -> Iterator[list[Window]]:
        """Yield the windows of each document."""
        heads = [f"{document.title}. " for document in documents]
        read = self._tokenizer.placed(
            [head + document.text for head, document in zip(heads, documents, strict=True)]
        )
        size = _TOKENS - 2  # the special ones
        for head, document, (tokens, offsets) in zip(heads, documents, read, strict=True):
            sentences = [(len(head) + start, len(head) + end) for start, end in document.sentences]
            yield windows(tokens, offsets, len(head), sentences, size)

    def _whole(self, window: Window) -> list[int]:
        return [self._tokenizer.begin, *window.tokens, self._tokenizer.end]


class PathEncoder(Protocol):
    """Turns claims with their paths into unit vectors to search the sentence vectors with."""

    def warm_up(self) -> None:
        """Load the model.

        Raises:
            ModelUnavailable: it is missing or damaged.
        """
        ...

    def encode(self, queries: Sequence[Query]) -> NDArray[np.float32]:
        """Return unit vectors, one for each query, in their order."""
        ...


class QueryEncoder(TrainedModel):
    """M3's query encoder: a claim, and a path of sentences after it, as one vector (section 3.2).

    The paper trains an encoder for queries and one for sentences. Here only the query encoder is
    trained. The sentence vectors are those of the index that all recipes use, the means of packaged
    MiniLM's token vectors (``MiniLMEncoder``), so an index of five million pages need not be
    encoded again. A query's vector is also the mean of its tokens', while the paper takes the first
    token's.
    """

    dimension = 384

    def encode(self, queries: Sequence[Query]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(queries), 384)``, in the order of the queries.

        If claim and path are longer than the model's window, the end of the path is left out. The
        claim is cut only if it alone is too long.
        """
        rows = query_rows(self._tokenizer, queries, self._config["max_tokens"])
        return unit(in_batches(rows, self.dimension, lambda some: self._network.states(some).mean))


def query_rows(tokenizer: Tokenizer, queries: Sequence[Query], max_tokens: int) -> list[Row]:
    """Return the token ids of claims with paths.

    A claim, a separator, and the sentences of its path with their titles, first step first; cut
    after ``max_tokens``.
    """
    claims = tokenizer.texts([claim for claim, _ in queries])
    paths = tokenizer.placed([evidence_set_text(path) for _, path in queries])
    rows = []
    for claim, (path, _) in zip(claims, paths, strict=True):
        kept = path[: max(0, max_tokens - len(claim) - 1)]
        rows.append([*claim, *kept, tokenizer.end] if kept else claim)
    return rows
